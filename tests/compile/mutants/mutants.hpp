// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/emulated/decode/report.hpp"
#include "tests/compile/mutants/change.hpp"

/// \file
/// Kernels with one mistake each, made by changing a piece of a right kernel's text, which the
/// emulated GPU has to find.

namespace kiln::testing {

using emulated::Finding;

/// Elements of a result: rows and columns from `first` up to, without, `end`.
struct Region {
  int first_row = 0;
  int end_row = 1 << 30;
  int first_col = 0;
  int end_col = 1 << 30;
};

/// The result of running a kernel.
struct Observed {
  std::vector<emulated::Report> reports;
  std::string wrong;  ///< the first wrong element in words; "" when right, or nothing was compared
  int row = -1;       ///< of that element
  int col = -1;
};

/// A right kernel, and how to run it or a mutant of it.
class Specimen {
 public:
  virtual ~Specimen() = default;
  [[nodiscard]] virtual const std::string& source() const = 0;
  /// Compiles and runs a text in place of source(), small and with all checks on. A text that
  /// does not compile is a failure of the test, but not a fatal one.
  [[nodiscard]] virtual Observed run(const std::string& source) = 0;
};

struct Mutant {
  std::string name;
  Change change;  ///< to the specimen's source
  /// A report of this kind must come; none: no report is asked for, but a wrong result.
  std::optional<Finding> kind;
  /// The report's line in the mutated source contains this, and no other line does.
  std::string line;
  /// Where the first wrong element is.
  Region region;
};

[[nodiscard]] inline Mutant reported(std::string name, Change change, Finding kind,
                                     std::string line) {
  return {std::move(name), std::move(change), kind, std::move(line), {}};
}
[[nodiscard]] inline Mutant miscounts(std::string name, Change change, Region region) {
  return {std::move(name), std::move(change), {}, {}, region};
}
/// The same for kernels without anchors: `from` occurs once in the source.
[[nodiscard]] inline Mutant reported(std::string name, std::string from, std::string to,
                                     Finding kind, std::string line) {
  return reported(std::move(name), Change{"", std::move(from), std::move(to)}, kind,
                  std::move(line));
}
[[nodiscard]] inline Mutant miscounts(std::string name, std::string from, std::string to,
                                      Region region) {
  return miscounts(std::move(name), Change{"", std::move(from), std::move(to)}, region);
}

/// Expects a right result and no report from the specimen, and from each mutant what it states.
void examine(Specimen& specimen, const std::vector<Mutant>& mutants);

}  // namespace kiln::testing
