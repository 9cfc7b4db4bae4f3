// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "templates/kernels/common/epilogue_args.cuh"
#include "tuner/gemm/case.hpp"
#include "tuner/gemm/error_bound.hpp"

namespace kiln {
namespace {

void replace_by_absolute(SupportKernels& kernels, const Matrix& matrix) {
  if (matrix.is_empty()) return;
  const MatrixShape& shape = matrix.shape();
  AbsoluteArgs args{};
  args.from = reinterpret_cast<const void*>(matrix.data());
  args.to = reinterpret_cast<void*>(matrix.data());
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.ld_from = shape.ld;
  args.ld_to = shape.ld;
  args.dtype = static_cast<int>(shape.type);
  kernels.absolute(args);
}

std::int64_t row_count(const std::vector<RowBlock>& blocks) {
  std::int64_t rows = 0;
  for (const RowBlock& block : blocks) rows += block.rows;
  return rows;
}

const void* advanced(const void* pointer, std::int64_t elements, DType type) {
  if (pointer == nullptr) return nullptr;
  return static_cast<const std::byte*>(pointer) + elements / packed_values(type) * size_bytes(type);
}

/// Memory for what the reference's amax() records in each operand.
std::vector<DeviceBuffer> make_ranges(MemoryLedger& ledger, const OperandSet& operands) {
  std::vector<DeviceBuffer> ranges(operands.count() - kFirstEpilogueOperand);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const MatrixShape& shape = operands[kFirstEpilogueOperand + i].shape();
    if (!shape.recorded) continue;
    const std::int64_t bytes =
        shape.elements() * static_cast<std::int64_t>(sizeof(epilogue::PeakRange));
    ranges[i] = DeviceBuffer(ledger, bytes, "the buffer for expected results of amax()");
    ledger.device().fill(ranges[i].address(), 0, bytes);
  }
  return ranges;
}

/// Rows that are not checked may have larger elements.
void widen_unchecked(const std::vector<RowBlock>& blocks, const Gemm& gemm, PeakRanges& ranges) {
  if (row_count(blocks) == gemm.m) return;
  const auto& slots = gemm.epilogue.entry()->expression.operands();
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool by_row = slots[i].extent == OperandExtent::row;
    for (std::size_t at = 0; at < ranges[i].size(); ++at) {
      const auto row = static_cast<std::int64_t>(at);
      const bool checked = by_row && std::any_of(blocks.begin(), blocks.end(), [&](RowBlock block) {
                             return block.first <= row && row < block.first + block.rows;
                           });
      if (!checked) ranges[i][at].most = std::numeric_limits<double>::infinity();
    }
  }
}

}  // namespace

std::vector<RowBlock> checked_rows(const Gemm& gemm, DataKind kind) {
  constexpr double kMultiplyAdds = 68719476736.0;  // 2^36: a tenth of a second on a large device
  constexpr std::int64_t kBlockRows = 16;
  constexpr std::int64_t kMostBlocks = 256;
  const auto terms = static_cast<double>(std::max<std::int64_t>(gemm.k, 1));
  const double per_row = static_cast<double>(gemm.n) * terms;
  const double affordable = kMultiplyAdds / per_row;
  // A row of packed values that are stored in columns may begin within a byte.
  if (gemm.storage_a == Storage::t && packed_values(gemm.a) > 1) return {{0, gemm.m}};
  if (affordable >= static_cast<double>(gemm.m) || gemm.m <= 2 * kBlockRows) return {{0, gemm.m}};

  const auto blocks =
      std::clamp<std::int64_t>(static_cast<std::int64_t>(affordable) / kBlockRows, 2, kMostBlocks);
  const std::int64_t stride = gemm.m / blocks;
  if (stride <= kBlockRows) return {{0, gemm.m}};
  // Integers check the start of each stretch, normal numbers its end, where the last rows are.
  const std::int64_t offset = kind == DataKind::integer ? 0 : stride - kBlockRows;
  std::vector<RowBlock> result;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const bool last = i + 1 == blocks;
    const std::int64_t first =
        last && kind == DataKind::normal ? gemm.m - kBlockRows : i * stride + offset;
    result.push_back({first, kBlockRows});
  }
  return result;
}

ReferenceKernel::ReferenceKernel(Device& device, const CompiledUnit& unit,
                                 const CompiledUnit& epilogue)
    : device_(device) {
  const auto load = [&](const CompiledUnit& one) {
    DeviceStatus status;
    auto module = device.load(one.cubin, one.names, status);
    if (!module || module->functions().empty()) {
      throw Error(ErrorKind::device,
                  fmt::format("the device cannot load the reference kernel: {}", status.message));
    }
    return module;
  };
  module_ = load(unit);
  if (!epilogue.names.empty()) epilogue_ = load(epilogue);
}

void ReferenceKernel::run(const LaunchRequest& request) {
  DeviceStatus status = device_.launch(request, device_.own_stream());
  if (status.ok()) status = device_.synchronize();
  if (!status.ok()) {
    throw Error(ErrorKind::device,
                fmt::format("the reference kernel failed on the device: {}", status.message));
  }
}

void ReferenceKernel::run_blocks(const std::vector<RowBlock>& blocks,
                                 const LaunchGeometry& geometry, const OperandSet& operands,
                                 double alpha, double beta, DevicePtr out) {
  const Gemm gemm = gemm_of(operands.problem());
  const GemmArgs whole = gemm_argument(operands.problem(), operands.arguments({alpha, beta}, 0));
  std::int64_t row = 0;
  for (const RowBlock& block : blocks) {
    GemmArgs args = whole;
    const std::int64_t a_step = gemm.storage_a == Storage::n ? gemm.lda : 1;
    args.a = advanced(args.a, block.first * a_step, gemm.a);
    args.c = advanced(args.c, block.first * gemm.ldc, gemm.c);
    args.d = reinterpret_cast<double*>(out) + row * gemm.n;
    args.ldd = gemm.n;
    args.m = static_cast<int>(block.rows);
    LaunchRequest request;
    request.function = module_->functions()[0];
    request.geometry = geometry;
    request.arguments = &args;
    request.argument_bytes = sizeof(args);
    request.checked = false;
    run(request);
    row += block.rows;
  }
}

/// The product and its absolute terms become the result and its bound, in place.
void ReferenceKernel::apply_epilogue(MemoryLedger& ledger, Reference& reference,
                                     const OperandSet& operands, double alpha, double beta,
                                     double c_factor, double least) {
  constexpr std::int64_t kBlock = 256;
  constexpr std::int64_t kMostBlocks = 4096;
  const Gemm gemm = gemm_of(operands.problem());
  const GemmArgs whole = gemm_argument(operands.problem(), operands.arguments({alpha, beta}, 0));
  const std::vector<DeviceBuffer> ranges = make_ranges(ledger, operands);
  std::int64_t row = 0;
  for (const RowBlock& block : reference.blocks) {
    ApplyEpilogueArgs args{};
    args.gemm = whole;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i].bytes() == 0) continue;
      args.gemm.operand[i] = reinterpret_cast<const void*>(ranges[i].address());
    }
    args.value = reinterpret_cast<double*>(reference.value.address()) + row * gemm.n;
    args.bound = reinterpret_cast<double*>(reference.absolute.address()) + row * gemm.n;
    args.c_factor = c_factor;
    args.least = least;
    args.first_row = static_cast<int>(block.first);
    args.rows = static_cast<int>(block.rows);
    LaunchRequest request;
    request.function = epilogue_->functions()[0];
    request.geometry.grid[0] = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>((block.rows * gemm.n + kBlock - 1) / kBlock, 1, kMostBlocks));
    request.geometry.block[0] = static_cast<std::uint32_t>(kBlock);
    request.arguments = &args;
    request.argument_bytes = sizeof(args);
    request.checked = false;
    run(request);
    row += block.rows;
  }
  reference.peaks.resize(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(ranges[i].bytes());
    reference.peaks[i].resize(bytes / sizeof(epilogue::PeakRange));
    if (bytes == 0) continue;
    device_.copy_to_host(reference.peaks[i].data(), ranges[i].address(), ranges[i].bytes());
  }
  widen_unchecked(reference.blocks, gemm, reference.peaks);
}

Reference ReferenceKernel::compute(MemoryLedger& ledger, SupportKernels& kernels,
                                   const LaunchGeometry& geometry, OperandSet& operands,
                                   DataKind kind, double alpha, double beta, bool with_absolute) {
  const Gemm gemm = gemm_of(operands.problem());
  Reference reference;
  reference.blocks = checked_rows(gemm, kind);
  const std::int64_t bytes =
      row_count(reference.blocks) * gemm.n * static_cast<std::int64_t>(sizeof(double));
  reference.value = DeviceBuffer(ledger, bytes, "the float64 reference");
  if (epilogue_) {
    reference.absolute = DeviceBuffer(ledger, bytes, "the error bounds");
    run_blocks(reference.blocks, geometry, operands, 1.0, 0.0, reference.value.address());
    // The sums of small integers are exact, and those of whole numbers always.
    const ErrorBound bound = error_bound(gemm);
    const double c_factor = kind == DataKind::integer ? 0.0 : bound.c_product;
    if (c_factor > 0.0) {
      replace_by_absolute(kernels, operands[kOperandA]);
      replace_by_absolute(kernels, operands[kOperandB]);
      run_blocks(reference.blocks, geometry, operands, 1.0, 0.0, reference.absolute.address());
    }
    apply_epilogue(ledger, reference, operands, alpha, beta, c_factor, bound.least);
    return reference;
  }
  run_blocks(reference.blocks, geometry, operands, alpha, beta, reference.value.address());
  if (!with_absolute) return reference;

  replace_by_absolute(kernels, operands[kOperandA]);
  replace_by_absolute(kernels, operands[kOperandB]);
  if (gemm.reads_c) replace_by_absolute(kernels, operands[kOperandC]);
  reference.absolute = DeviceBuffer(ledger, bytes, "the error bounds");
  run_blocks(reference.blocks, geometry, operands, std::abs(alpha), std::abs(beta),
             reference.absolute.address());
  return reference;
}

}  // namespace kiln
