// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {
namespace {

/// Spreads related seeds over all 64 bits (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t seed) {
  seed += 0x9E3779B97F4A7C15ULL;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ULL;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBULL;
  return seed ^ (seed >> 31);
}

}  // namespace

std::uint64_t seed_of(const FillRecipe& recipe) {
  return mixed(mixed(recipe.seed) + (recipe.kind == DataKind::integer ? 1 : 0));
}

namespace {

std::int64_t matrix_footprint(const MatrixShape& shape) {
  const std::int64_t of_pointers =
      shape.pointers ? shape.rows * static_cast<std::int64_t>(sizeof(DevicePtr)) : 0;
  return GuardedBuffer::footprint_bytes(shape.bytes(), shape.alignment) + of_pointers;
}

std::vector<DevicePtr> row_addresses(const MatrixShape& shape, DevicePtr data) {
  std::vector<DevicePtr> addresses(static_cast<std::size_t>(shape.rows));
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    addresses[i] = data + i * static_cast<DevicePtr>(shape.pitch_bytes());
  }
  return addresses;
}

std::int64_t bytes_of(const std::vector<DevicePtr>& addresses) {
  return static_cast<std::int64_t>(addresses.size() * sizeof(DevicePtr));
}

}  // namespace

DeviceBuffer make_pointers(MemoryLedger& ledger, const MatrixShape& shape, DevicePtr data,
                           const std::string& purpose) {
  const std::vector<DevicePtr> addresses = row_addresses(shape, data);
  const std::string name = "the pointers of " + purpose;
  DeviceBuffer buffer = DeviceBuffer::exact(ledger, bytes_of(addresses), sizeof(DevicePtr), name);
  if (buffer.address() == 0) buffer = DeviceBuffer(ledger, bytes_of(addresses), name);
  ledger.device().copy_to_device(buffer.address(), addresses.data(), bytes_of(addresses));
  return buffer;
}

Matrix::Matrix(MemoryLedger& ledger, const MatrixShape& shape, const std::string& purpose,
               MemoryUse use)
    : shape_(shape), buffer_(ledger, shape.bytes(), shape.alignment, purpose, use) {
  if (!shape.pointers || is_empty()) return;
  ledger.device().guard_gaps(data(), shape.row_bytes(), shape.pitch_bytes());
  pointers_ = make_pointers(ledger, shape, data(), purpose);
}

bool Matrix::has_its_pointers() const {
  if (pointers_.address() == 0) return true;
  const std::vector<DevicePtr> expected = row_addresses(shape_, data());
  std::vector<DevicePtr> found(expected.size());
  pointers_.device().copy_to_host(found.data(), pointers_.address(), bytes_of(found));
  return found == expected;
}

void Matrix::write_pointers() {
  if (pointers_.address() == 0) return;
  const std::vector<DevicePtr> addresses = row_addresses(shape_, data());
  pointers_.device().copy_to_device(pointers_.address(), addresses.data(), bytes_of(addresses));
}

void Matrix::keep(MemoryLedger& ledger, SupportKernels& kernels, DataKind kind,
                  const std::string& purpose) {
  if (is_empty()) return;
  DeviceBuffer& copy = kept_[static_cast<std::size_t>(kind)];
  if (copy.address() == 0) copy = DeviceBuffer(ledger, shape_.bytes(), purpose);
  kernels.copy(copy.address(), data(), shape_.bytes());
}

void write_filled(SupportKernels& kernels, const OperandPlan& plan, const Matrix& of, DevicePtr to,
                  std::size_t index, const FillRecipe& recipe) {
  if (const DevicePtr kept = of.kept(recipe.kind); kept != 0) {
    kernels.copy(to, kept, plan.shape.bytes());
  } else {
    kernels.fill_random(fill_arguments(plan, to, index, recipe));
  }
}

FillArgs fill_arguments(const OperandPlan& plan, DevicePtr data, std::size_t index,
                        const FillRecipe& recipe) {
  using enum FillSpec::Kind;
  const bool whole = recipe.kind == DataKind::integer;
  FillArgs args{};
  args.data = reinterpret_cast<void*>(data);
  const MatrixShape shape = in_real_numbers(plan.shape);
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.ld = shape.ld;
  // Operands beyond the first ones begin anew, with seeds that no set has.
  constexpr std::uint64_t kFarSeeds = std::uint64_t{1} << 48;
  constexpr std::size_t kPlaces = 4;
  const std::uint64_t seed = recipe.seed + index / kPlaces * kFarSeeds;
  args.seed = mixed(seed * 8 + index % kPlaces * 2 + (whole ? 1 : 0));
  args.dtype = static_cast<int>(shape.type);
  switch (plan.fill.kind) {
    case integers:
    case sorted:  // numbers that mean something, whatever the kind of data
      args.distribution = plan.fill.kind == sorted ? kFillSorted : kFillInteger;
      args.lo = plan.fill.low;
      args.hi = plan.fill.high;
      return args;
    case normal:
      args.distribution = kFillNormal;
      break;
    case uniform:
      args.distribution = kFillUniform;
      break;
    case positive:
      args.distribution = kFillPositive;
      break;
    case kernel:  // 0 until the kernel has run
      args.distribution = kFillInteger;
      return args;
  }
  if (whole) args.distribution = kFillInteger;
  args.lo = plan.fill.kind == normal ? -recipe.integer_range : plan.fill.kind == positive ? 1 : 0;
  args.hi = recipe.integer_range;
  return args;
}

OperandSet::OperandSet(MemoryLedger& ledger, const ProblemCase& one, const std::string& purpose,
                       MemoryUse use)
    : case_(one) {
  for (const OperandPlan& operand : case_.operands) {
    if (!operand.present) {
      matrices_.emplace_back();
      continue;
    }
    matrices_.emplace_back(ledger, operand.shape,
                           fmt::format("operand {} of {}", operand.name, purpose), use);
  }
}

std::int64_t OperandSet::footprint_bytes(const ProblemCase& one) {
  std::int64_t bytes = 0;
  for (const OperandPlan& operand : one.operands) {
    if (operand.present) bytes += matrix_footprint(operand.shape);
  }
  return bytes;
}

double OperandSet::judged_bytes(const ProblemCase& one) {
  double bytes = 0.0;
  double largest_input = 0.0;  // a copy of it is compared with
  for (const OperandPlan& operand : one.operands) {
    if (!operand.present) continue;
    const auto own = static_cast<double>(matrix_footprint(operand.shape));
    const double wide = sizeof(double) * static_cast<double>(operand.shape.elements());
    const bool written = operand.role != OperandRole::in;
    // Copies, by kind of data.
    for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
      if (operand.role != OperandRole::out && is_made(operand, kind)) bytes += own;
    }
    // Of a result: two, what is expected, and its magnitude.
    bytes += written ? 2.0 * own + 2.0 * wide : own + wide;
    if (operand.role != OperandRole::out) largest_input = std::max(largest_input, own);
  }
  return bytes + largest_input;
}

std::int64_t OperandSet::touched_bytes(const ProblemCase& one) {
  std::int64_t bytes = 0;
  for (const OperandPlan& operand : one.operands) {
    if (operand.present) bytes += operand.shape.touched_bytes();
  }
  return bytes;
}

bool OperandSet::is_input(std::size_t index) const {
  const OperandPlan& operand = plan(index);
  return operand.present && operand.role != OperandRole::out && !operand.shape.recorded;
}

void OperandSet::fill_inputs(SupportKernels& kernels, const FillRecipe& recipe) {
  for (std::size_t i = 0; i < count(); ++i) {
    if (!is_input(i) || matrices_[i].is_empty()) continue;
    write_filled(kernels, plan(i), matrices_[i], matrices_[i].data(), i, recipe);
  }
  reset_peaks();
}

bool OperandSet::is_made_input(std::size_t index, DataKind kind) const {
  return is_input(index) && is_made(plan(index), kind) && !matrices_[index].is_empty();
}

bool OperandSet::has_made_inputs(DataKind kind) const {
  for (std::size_t i = 0; i < count(); ++i) {
    if (is_made_input(i, kind)) return true;
  }
  return false;
}

void OperandSet::make_inputs(SupportKernels& kernels, const FillRecipe& recipe, InputMaker& maker) {
  for (std::size_t i = 0; i < count(); ++i) {
    if (!is_input(i) || matrices_[i].is_empty()) continue;
    kernels.fill_random(fill_arguments(plan(i), matrices_[i].data(), i, recipe));
  }
  reset_peaks();
  if (has_made_inputs(recipe.kind)) maker.make(*this, recipe);
}

void OperandSet::keep_made_inputs(MemoryLedger& ledger, SupportKernels& kernels, DataKind kind) {
  for (std::size_t i = 0; i < count(); ++i) {
    if (!is_made_input(i, kind)) continue;
    matrices_[i].keep(ledger, kernels, kind,
                      fmt::format("the copy of operand {} of {}", plan(i).name, describe(case_)));
  }
}

void OperandSet::reset_peaks() {
  for (Matrix& operand : matrices_) {
    if (operand.shape().recorded) operand.buffer().clear();
  }
}

RunArguments OperandSet::arguments(std::vector<Scalar> scalars, DevicePtr workspace) const {
  RunArguments arguments{{}, std::move(scalars), workspace};
  for (const Matrix& operand : matrices_) {
    arguments.operands.push_back(operand.argument());
  }
  return arguments;
}

RotatingSets::RotatingSets(MemoryLedger& ledger, SupportKernels& kernels, OperandSet& first,
                           std::int64_t footprint_bytes, std::uint64_t seed, InputMaker* maker)
    : first_(first) {
  const std::int64_t each = std::max<std::int64_t>(OperandSet::touched_bytes(first.problem()), 1);
  const std::int64_t wanted = std::min<std::int64_t>(footprint_bytes / each + 1, kMaxSets);
  const std::int64_t cost = OperandSet::footprint_bytes(first.problem());
  // Half of what is left stays for workspaces.
  const std::int64_t floor_bytes = ledger.left_bytes() / 2;
  while (count() < wanted && ledger.left_bytes() - cost >= floor_bytes) {
    OperandSet set(ledger, first.problem(), "a rotated set");
    FillRecipe recipe;
    recipe.seed = seed + static_cast<std::uint64_t>(count());
    recipe.scalars = first.problem().scalars;
    InputMaker none;
    set.make_inputs(kernels, recipe, maker == nullptr ? none : *maker);
    others_.push_back(std::move(set));
  }
}

const OperandSet& RotatingSets::set(int run) const {
  const int index = run % count();
  return index == 0 ? first_ : others_[static_cast<std::size_t>(index - 1)];
}

}  // namespace kiln
