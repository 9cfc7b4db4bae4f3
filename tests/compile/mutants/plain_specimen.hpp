// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/compile/bench.hpp"
#include "tests/compile/mutants/mutants.hpp"

namespace kiln::testing {

/// A kernel of its own text, an extern "C" function.
class PlainSpecimen : public Specimen {
 public:
  /// Fills buffers, launches, and compares: fills all of Observed but the reports.
  using Run = std::function<void(Bench&, Observed&)>;

  PlainSpecimen(std::string source, std::string kernel, Run run)
      : source_(std::move(source)), kernel_(std::move(kernel)), run_(std::move(run)) {}
  [[nodiscard]] const std::string& source() const override { return source_; }
  [[nodiscard]] Observed run(const std::string& source) override;

 private:
  std::string source_;
  std::string kernel_;
  Run run_;
};

/// Notes the first element of a matrix of `cols` columns that differs from the expected one.
template <class T, class Expected>
void compare(const std::vector<T>& values, int cols, const Expected& expected, Observed& observed) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int row = static_cast<int>(i) / cols;
    const int col = static_cast<int>(i) % cols;
    const auto wanted = static_cast<T>(expected(row, col));
    if (values[i] == wanted) continue;
    observed.row = row;
    observed.col = col;
    observed.wrong = "row " + std::to_string(row) + " column " + std::to_string(col) + ": " +
                     std::to_string(values[i]) + ", expected " + std::to_string(wanted);
    return;
  }
}

}  // namespace kiln::testing
