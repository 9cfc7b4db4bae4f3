// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tuner/problem_case.hpp"

namespace kiln::tools {

/// One line of a suite: a named problem.
struct SuiteLine {
  std::string name;
  ProblemCase tuned;
  int line = 0;
};

/// Lines `name dtype M N K layout`, the short form, are products of matrices; '#' opens a comment,
/// blank lines are skipped. A header `softmax: name rows cols dtype` names an operation and columns
/// for the lines below it: its flags without dashes, of which a line leaves one out by `-`. Throws
/// Error(usage) with file:line for a malformed line, a repeated name or a suite without lines.
[[nodiscard]] std::vector<SuiteLine> read_suite(std::istream& in, const std::string& file);
/// The same from a file.
[[nodiscard]] std::vector<SuiteLine> read_suite(const std::string& file);

/// The problem of a line in the short form: `words` has all of it, six at least. The one typed
/// operation that has such a form defines it. Throws Error(usage) without the place.
[[nodiscard]] ProblemCase short_line_case(const std::vector<std::string>& words);

/// Does `act` for each line until a stop is requested. One line that can't be had (too large for
/// the memory, say) is no reason to lose the others: `failed` gets its Error.
void for_each_line(const std::vector<SuiteLine>& lines,
                   const std::function<void(const SuiteLine&)>& act,
                   const std::function<void(const SuiteLine&, const Error&)>& failed);

}  // namespace kiln::tools
