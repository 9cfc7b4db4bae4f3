// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// One error of a compiler's log: "kernel.cu(12): error: expected an identifier", the line of the
/// source, and a caret below it. All are views into the log.
struct LoggedError {
  std::string_view file;
  std::string_view line;  ///< its number
  std::string_view message;
  std::string_view shown;  ///< the source's line from the caret on; "" if there is none
};

/// The word above the caret; "" if there is none.
[[nodiscard]] std::string_view marked_word(const LoggedError& error);

[[nodiscard]] std::vector<LoggedError> errors_of(std::string_view log);

/// The log with its errors before its warnings: summaries quote the first line.
[[nodiscard]] std::string errors_first(std::string_view log);

}  // namespace kiln
