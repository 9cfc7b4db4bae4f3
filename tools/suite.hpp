// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

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

}  // namespace kiln::tools
