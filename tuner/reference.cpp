// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kiln/error.hpp"

namespace kiln {
namespace {

void replace_by_absolute(SupportKernels& kernels, const Matrix& matrix) {
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
  return static_cast<const std::byte*>(pointer) + elements * size_bytes(type);
}

}  // namespace

std::vector<RowBlock> checked_rows(const Gemm& gemm, DataKind kind) {
  constexpr double kMultiplyAdds = 68719476736.0;  // 2^36: a tenth of a second on a large device
  constexpr std::int64_t kBlockRows = 16;
  constexpr std::int64_t kMostBlocks = 256;
  const double per_row = static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
  const double affordable = kMultiplyAdds / per_row;
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

ReferenceKernel::ReferenceKernel(Device& device, const CompiledUnit& unit) : device_(device) {
  DeviceStatus status;
  module_ = device.load(unit.cubin, unit.names, status);
  if (!module_ || module_->functions().empty()) {
    throw Error(ErrorKind::device,
                fmt::format("the reference kernel does not load: {}", status.message));
  }
}

void ReferenceKernel::run_blocks(const std::vector<RowBlock>& blocks,
                                 const LaunchGeometry& geometry, const OperandSet& operands,
                                 double alpha, double beta, DevicePtr out) {
  const Gemm& gemm = operands.gemm();
  std::int64_t row = 0;
  for (const RowBlock& block : blocks) {
    GemmArgs args = operands.arguments(alpha, beta, 0);
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
    DeviceStatus status = device_.launch(request, device_.own_stream());
    if (status.ok()) status = device_.synchronize();
    if (!status.ok()) {
      throw Error(ErrorKind::device,
                  fmt::format("the reference kernel does not run: {}", status.message));
    }
    row += block.rows;
  }
}

Reference ReferenceKernel::compute(MemoryLedger& ledger, SupportKernels& kernels,
                                   const LaunchGeometry& geometry, OperandSet& operands,
                                   DataKind kind, double alpha, double beta, bool with_absolute) {
  const Gemm& gemm = operands.gemm();
  Reference reference;
  reference.blocks = checked_rows(gemm, kind);
  const std::int64_t bytes =
      row_count(reference.blocks) * gemm.n * static_cast<std::int64_t>(sizeof(double));
  reference.value = DeviceBuffer(ledger, bytes, "the float64 reference");
  run_blocks(reference.blocks, geometry, operands, alpha, beta, reference.value.address());
  if (!with_absolute) return reference;

  replace_by_absolute(kernels, operands.a);
  replace_by_absolute(kernels, operands.b);
  if (operands.has_c()) replace_by_absolute(kernels, operands.c);
  reference.absolute = DeviceBuffer(ledger, bytes, "the error bounds");
  run_blocks(reference.blocks, geometry, operands, std::abs(alpha), std::abs(beta),
             reference.absolute.address());
  return reference;
}

}  // namespace kiln
