// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/types.hpp"
#include "templates/kernels/common/gemm_args.cuh"
#include "tests/compile/bench.hpp"

/// \file
/// The building blocks of kernels/lib, each put to work by a kernel of a few lines and run on the
/// emulated GPU with every check on.

namespace kiln::testing {

/// A number other than 0 that tells elements of a matrix apart; an integer below 120.
[[nodiscard]] inline double number_at(int row, int col) {
  return (row * 37 + col * 11) % 113 + 1;
}

class BlockTest : public NvrtcTest {
 protected:
  /// Compiles `text`, which may include kernels/lib and kernels/common, with these kernels, named
  /// by expressions such as "copy<__half, 8>".
  void load(const std::string& text, const std::vector<std::string>& kernels);
  /// Runs one of them, and expects it to reach its end without a finding.
  void run(std::size_t kernel, const LaunchGeometry& geometry, const GemmArgs& args);
  [[nodiscard]] Bench& bench() { return *bench_; }

  /// rows x cols elements at number_at(row, col) * scale, in memory with `ld` elements a row (or a
  /// column, if transposed); what lies between the rows is unwritten.
  [[nodiscard]] const void* matrix(DType type, int rows, int cols, int ld, bool transposed = false,
                                   double scale = 1.0);
  /// Unwritten memory.
  [[nodiscard]] void* fresh(std::size_t bytes);
  /// Memory in which every byte is 0xcd.
  [[nodiscard]] void* poisoned(std::size_t bytes);
  [[nodiscard]] std::vector<double> values(DType type, const void* from, std::size_t count);

 private:
  std::unique_ptr<Bench> bench_;
};

}  // namespace kiln::testing
