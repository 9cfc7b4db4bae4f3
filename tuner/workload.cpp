// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "templates/epilogue.hpp"

namespace kiln {
namespace {

/// An address that promises 16 bytes or more gets what allocators give; anything less is met
/// exactly, so that a kernel that relies on more is caught, and is timed as it will run.
int real_alignment(int promised, DType type) {
  const int least = std::max(promised, size_bytes(type));
  return least >= 16 ? std::max(least, 256) : least;
}

MatrixShape shape(std::int64_t rows, std::int64_t cols, std::int64_t ld, DType type, int promised) {
  return {rows, elements_of(cols, type), ld / packed_values(type), type,
          real_alignment(promised, type)};
}

/// Spreads related seeds over all 64 bits (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15ULL;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBULL;
  return seed ^ (seed >> 31);
}

/// Elements that an expression reads one by one may start anywhere, and do where D has an odd
/// number of columns, as in cases that are checked; libraries get what allocators give. Rows are
/// longer than D's, so that a kernel which takes one length for the other is caught.
MatrixShape shape_of(const EpilogueSlot& slot, const Gemm& gemm) {
  constexpr std::int64_t kMore = 8;
  const DType type = element_type(slot, gemm.d);
  const int alignment = gemm.n % 2 == 1 ? size_bytes(type) : real_alignment(16, type);
  switch (slot.extent) {
    case OperandExtent::one:
      return {1, 1, 1, type, alignment, slot.recorded};
    case OperandExtent::row:
      return {1, gemm.m, gemm.m, type, alignment, slot.recorded};
    case OperandExtent::column:
      return {1, gemm.n, gemm.n, type, alignment, slot.recorded};
    case OperandExtent::both:
      return {gemm.m, gemm.n, gemm.n + kMore, type, alignment};
  }
  return {};
}

std::int64_t matrix_footprint(const MatrixShape& shape) {
  return GuardedBuffer::footprint_bytes(shape.bytes(), shape.alignment);
}

void fill_matrix(SupportKernels& kernels, const Matrix& matrix, int slot,
                 const FillRecipe& recipe) {
  if (matrix.is_empty()) return;
  kernels.fill_random(fill_arguments(matrix.shape(), matrix.data(), slot, recipe));
}

}  // namespace

GemmShapes shapes_of(const Gemm& gemm) {
  const bool a_as_written = gemm.storage_a == Storage::n;
  const bool b_as_written = gemm.storage_b == Storage::n;
  GemmShapes shapes;
  shapes.a = shape(a_as_written ? gemm.m : gemm.k, a_as_written ? gemm.k : gemm.m, gemm.lda, gemm.a,
                   gemm.alignment_a);
  shapes.b = shape(b_as_written ? gemm.k : gemm.n, b_as_written ? gemm.n : gemm.k, gemm.ldb, gemm.b,
                   gemm.alignment_b);
  shapes.c = shape(gemm.m, gemm.n, gemm.ldc, gemm.c, gemm.alignment_c);
  shapes.d = shape(gemm.m, gemm.n, gemm.ldd, gemm.d, gemm.alignment_d);
  if (const auto* entry = gemm.epilogue.entry()) {
    for (const EpilogueSlot& slot : entry->expression.operands()) {
      shapes.epilogue.push_back(shape_of(slot, gemm));
    }
  }
  return shapes;
}

FillArgs fill_arguments(const MatrixShape& shape, DevicePtr data, int slot,
                        const FillRecipe& recipe) {
  const bool integers = recipe.kind == DataKind::integer;
  FillArgs args{};
  args.data = reinterpret_cast<void*>(data);
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.ld = shape.ld;
  // Slots beyond those of A, B and C begin anew, with seeds that no set has.
  constexpr std::uint64_t kFarSeeds = std::uint64_t{1} << 48;
  const auto round = static_cast<std::uint64_t>(slot / kFirstEpilogueSlot);
  const auto place = static_cast<std::uint64_t>(slot % kFirstEpilogueSlot);
  args.seed = mixed((recipe.seed + round * kFarSeeds) * 8 + place * 2 + (integers ? 1 : 0));
  args.dtype = static_cast<int>(shape.type);
  args.distribution = integers ? kFillInteger : kFillNormal;
  args.lo = -recipe.integer_range;
  args.hi = recipe.integer_range;
  return args;
}

OperandSet::OperandSet(MemoryLedger& ledger, const Gemm& gemm, const std::string& purpose)
    : gemm_(gemm) {
  const GemmShapes shapes = shapes_of(gemm);
  a = Matrix(ledger, shapes.a, "operand A of " + purpose);
  b = Matrix(ledger, shapes.b, "operand B of " + purpose);
  if (gemm.reads_c) c = Matrix(ledger, shapes.c, "operand C of " + purpose);
  d = Matrix(ledger, shapes.d, "operand D of " + purpose);
  for (std::size_t i = 0; i < shapes.epilogue.size(); ++i) {
    epilogue.emplace_back(
        ledger, shapes.epilogue[i],
        fmt::format("operand {} of {}", gemm.epilogue.operand_name(static_cast<int>(i)), purpose));
  }
}

std::int64_t OperandSet::footprint_bytes(const Gemm& gemm) {
  const GemmShapes shapes = shapes_of(gemm);
  std::int64_t bytes = matrix_footprint(shapes.a) + matrix_footprint(shapes.b) +
                       matrix_footprint(shapes.d) + (gemm.reads_c ? matrix_footprint(shapes.c) : 0);
  for (const MatrixShape& operand : shapes.epilogue) bytes += matrix_footprint(operand);
  return bytes;
}

std::int64_t OperandSet::touched_bytes(const Gemm& gemm) {
  const GemmShapes shapes = shapes_of(gemm);
  std::int64_t bytes = shapes.a.bytes() + shapes.b.bytes() + shapes.d.bytes() +
                       (gemm.reads_c ? shapes.c.bytes() : 0);
  for (const MatrixShape& operand : shapes.epilogue) bytes += operand.bytes();
  return bytes;
}

void OperandSet::fill_inputs(SupportKernels& kernels, const FillRecipe& recipe) {
  fill_matrix(kernels, a, 0, recipe);
  fill_matrix(kernels, b, 1, recipe);
  if (has_c()) fill_matrix(kernels, c, 2, recipe);
  for (std::size_t i = 0; i < epilogue.size(); ++i) {
    if (epilogue[i].shape().recorded) continue;
    fill_matrix(kernels, epilogue[i], kFirstEpilogueSlot + static_cast<int>(i), recipe);
  }
  reset_peaks();
}

void OperandSet::reset_peaks() {
  for (Matrix& operand : epilogue) {
    if (operand.shape().recorded) operand.buffer().clear();
  }
}

GemmArgs OperandSet::arguments(double alpha, double beta, DevicePtr workspace) const {
  GemmArgs args{};
  args.a = a.is_empty() ? nullptr : reinterpret_cast<const void*>(a.data());
  args.b = b.is_empty() ? nullptr : reinterpret_cast<const void*>(b.data());
  args.c = has_c() ? reinterpret_cast<const void*>(c.data()) : nullptr;
  args.d = reinterpret_cast<void*>(d.data());
  args.workspace = reinterpret_cast<void*>(workspace);
  args.lda = gemm_.lda;
  args.ldb = gemm_.ldb;
  args.ldc = gemm_.ldc;
  args.ldd = gemm_.ldd;
  args.alpha = alpha;
  args.beta = beta;
  for (std::size_t i = 0; i < epilogue.size(); ++i) {
    args.operand[i] = reinterpret_cast<const void*>(epilogue[i].data());
    args.operand_ld[i] = epilogue[i].shape().ld;
  }
  args.m = static_cast<int>(gemm_.m);
  args.n = static_cast<int>(gemm_.n);
  args.k = static_cast<int>(gemm_.k);
  return args;
}

RotatingSets::RotatingSets(MemoryLedger& ledger, SupportKernels& kernels, OperandSet& first,
                           std::int64_t footprint_bytes, std::uint64_t seed)
    : first_(first) {
  const std::int64_t each = OperandSet::touched_bytes(first.gemm());
  const std::int64_t wanted = std::min<std::int64_t>(footprint_bytes / each + 1, kMaxSets);
  const std::int64_t cost = OperandSet::footprint_bytes(first.gemm());
  // Half of what is left stays for workspaces.
  const std::int64_t floor_bytes = ledger.left_bytes() / 2;
  while (count() < wanted && ledger.left_bytes() - cost >= floor_bytes) {
    OperandSet set(ledger, first.gemm(), "a rotated set");
    FillRecipe recipe;
    recipe.seed = seed + static_cast<std::uint64_t>(count());
    set.fill_inputs(kernels, recipe);
    others_.push_back(std::move(set));
  }
}

const OperandSet& RotatingSets::set(int run) const {
  const int index = run % count();
  return index == 0 ? first_ : others_[static_cast<std::size_t>(index - 1)];
}

}  // namespace kiln
