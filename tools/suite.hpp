// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/gemm.hpp"

namespace kiln::tools {

/// One line of a suite: a named gemm.
struct SuiteLine {
  std::string name;
  Gemm gemm;
  int line = 0;
};

/// Lines `name dtype M N K layout`; '#' opens a comment, blank lines are skipped. Throws
/// Error(usage) with file:line for a malformed line, a repeated name or a suite without lines.
[[nodiscard]] std::vector<SuiteLine> read_suite(std::istream& in, const std::string& file);
/// The same from a file.
[[nodiscard]] std::vector<SuiteLine> read_suite(const std::string& file);

/// Does `act` for each line until a stop is requested. One line that can't be had (too large for
/// the memory, say) is no reason to lose the others: `failed` gets its Error.
void for_each_line(const std::vector<SuiteLine>& lines,
                   const std::function<void(const SuiteLine&)>& act,
                   const std::function<void(const SuiteLine&, const Error&)>& failed);

}  // namespace kiln::tools
