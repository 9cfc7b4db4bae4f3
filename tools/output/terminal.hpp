// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln::tools {

/// How much is said on standard error.
enum class Talk { quiet, normal, verbose };

/// What standard error can show: whether it is a terminal that understands cursor movement
/// (not TERM=dumb), its width, and whether colour is wanted.
struct Terminal {
  bool interactive = false;
  bool colour = false;
  int width = 80;

  /// `colour_flag` is auto, always or never; auto obeys NO_COLOR and TERM.
  [[nodiscard]] static Terminal of_stderr(std::string_view colour_flag);
};

enum class Colour { red, green, yellow, bold };
/// `text` in that colour, or as it is.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour, bool enabled);

/// Writes all of `text`; the file descriptor is 1 or 2.
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);

}  // namespace kiln::tools
