// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kiln/gemm.hpp"
#include "runtime/device.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/gemm/peaks.hpp"
#include "tuner/measure/device_buffer.hpp"
#include "tuner/verify/support_kernels.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {

/// Consecutive rows of D.
struct RowBlock {
  std::int64_t first = 0;
  std::int64_t rows = 0;
};

/// Rows of D that are checked against the reference: all, unless the reference would take more than
/// about 2^36 multiply-adds. Then blocks of 16 rows, evenly spaced, so that every tile of a usual
/// height has checked rows; the two kinds of data check different rows.
[[nodiscard]] std::vector<RowBlock> checked_rows(const Gemm& gemm, DataKind kind);

/// Results in float64, on the device: row i of the buffers is the i-th checked row.
struct Reference {
  std::vector<RowBlock> blocks;
  DeviceBuffer value;     ///< alpha A B + beta C, or what the problem's expression says
  DeviceBuffer absolute;  ///< |alpha| |A||B| + |beta| |C|, empty unless requested; of an
                          ///< expression the bound on its error
  PeakRanges peaks;       ///< what amax() may record
};

/// The plain kernel with a float64 accumulator against which every candidate is judged.
class ReferenceKernel {
 public:
  /// Throws Error(device) if the device refuses the kernel.
  /// `epilogue` has no kernels unless the problem has an expression.
  ReferenceKernel(Device& device, const CompiledUnit& unit, const CompiledUnit& epilogue);

  /// `geometry` is the one for the whole problem, a gemm. With `with_absolute` A, B and C in
  /// `operands` may be replaced by their absolute values.
  [[nodiscard]] Reference compute(MemoryLedger& ledger, SupportKernels& kernels,
                                  const LaunchGeometry& geometry, OperandSet& operands,
                                  DataKind kind, double alpha, double beta, bool with_absolute);

 private:
  void run_blocks(const std::vector<RowBlock>& blocks, const LaunchGeometry& geometry,
                  const OperandSet& operands, double alpha, double beta, DevicePtr out);
  void apply_epilogue(MemoryLedger& ledger, Reference& reference, const OperandSet& operands,
                      double alpha, double beta, double c_factor, double least);
  void run(const LaunchRequest& request);
  Device& device_;
  std::unique_ptr<LoadedModule> module_;
  std::unique_ptr<LoadedModule> epilogue_;
};

}  // namespace kiln
