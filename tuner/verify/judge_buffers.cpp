// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/judge_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kiln {

JudgeBuffers::JudgeBuffers(MemoryLedger& ledger, SupportKernels& kernels, const JudgedPart& part,
                           JudgeRole role)
    : ledger_(ledger), kernels_(kernels), part_(part), role_(role) {
  const std::size_t count = part.problem.operands.size();
  for (auto* const buffers : {&own_, &float64_, &magnitudes_, &before_}) buffers->resize(count);
  for (auto* const at : {&own_data_, &own_at_, &float64_at_, &magnitudes_at_, &before_at_})
    at->resize(count);
}

void JudgeBuffers::provide(const ArgumentPlan& argument) {
  using Source = ArgumentPatch::Source;
  for (const ArgumentPatch& patch : argument.patches) {
    const bool is_operand = patch.source == Source::operand || patch.source == Source::float64 ||
                            patch.source == Source::before;
    if (is_operand && !is_there(patch.index)) continue;
    switch (patch.source) {
      case Source::operand:
        provide_own(patch.index);
        break;
      case Source::float64:
        provide_float64(patch.index);
        break;
      case Source::magnitude:
        magnitudes_[patch.index] = zeros(patch.index, sizeof(double));
        magnitudes_at_[patch.index] = magnitudes_[patch.index].address();
        break;
      case Source::before:
        provide_before(patch.index);
        break;
      case Source::verdict:
        provide_verdict();
        break;
      case Source::workspace:
      case Source::scalar:
      case Source::seed:
        break;
    }
  }
}

void JudgeBuffers::provide(const std::vector<ConstantFill>& constants) {
  for (const ConstantFill& constant : constants) provide_own(constant.operand);
}

ArgumentValues JudgeBuffers::values(const std::vector<Scalar>& scalars) const {
  ArgumentValues values{own_at_, float64_at_, magnitudes_at_, scalars};
  values.before = before_at_;
  values.verdict = verdict_.address();
  values.seed = seed_of(part_.recipe);
  return values;
}

Expected JudgeBuffers::take(std::size_t output) {
  Expected expected;
  const DType type = part_.problem.operands[output].shape.type;
  const bool is_wide = type == DType::s64 || type == DType::u64;
  if (is_wide && float64_at_[output] == 0) {
    expected.own = std::move(own_[output]);
    expected.own_at = own_data_[output];
  } else if (float64_at_[output] == 0) {
    float64_[output] = zeros(output, float64_bytes(output));
    convert(part_of(output).shape, own_data_[output], float64_[output].address());
  }
  expected.value = std::move(float64_[output]);
  expected.magnitude = std::move(magnitudes_[output]);
  return expected;
}

CountResult JudgeBuffers::verdict() const {
  CountResult found;
  ledger_.device().copy_to_host(&found, verdict_.address(), sizeof(found));
  return found;
}

bool JudgeBuffers::is_there(std::size_t index) const {
  const OperandPlan& plan = part_.problem.operands[index];
  return plan.present && plan.shape.elements() > 0;
}

OperandPart JudgeBuffers::part_of(std::size_t index) const {
  return operand_part(part_.parts, index, part_.problem.operands[index].shape, part_.start);
}

/// What is not to be written is the operand itself; else it is a copy, or begins as 0.
void JudgeBuffers::provide_own(std::size_t index) {
  const OperandRole role = part_.problem.operands[index].role;
  const auto offset = static_cast<DevicePtr>(part_of(index).offset);
  if (is_overwritten(index)) {
    own_[index] = filled(index);
    own_data_[index] = own_[index].address() + offset;
  } else if (role_ != JudgeRole::reference || role == OperandRole::in) {
    own_data_[index] = part_.run[index]->data() + offset;
  } else if (role == OperandRole::inout) {
    own_[index] = filled(index);
    own_data_[index] = own_[index].address() + offset;
  } else {
    own_[index] = zeros(index, size_bytes(part_.problem.operands[index].shape.type));
    own_data_[index] = own_[index].address();
  }
  own_at_[index] = passed(index, own_data_[index]);
}

DevicePtr JudgeBuffers::passed(std::size_t index, DevicePtr data) {
  const MatrixShape shape = part_of(index).shape;
  if (!shape.pointers) return data;
  pointers_.push_back(make_pointers(ledger_, shape, data, purpose(index)));
  return pointers_.back().address();
}

void JudgeBuffers::provide_before(std::size_t index) {
  before_[index] = filled(index);
  before_at_[index] =
      passed(index, before_[index].address() + static_cast<DevicePtr>(part_of(index).offset));
}

void JudgeBuffers::provide_float64(std::size_t index) {
  float64_[index] = zeros(index, float64_bytes(index));
  float64_at_[index] = float64_[index].address();
  if (role_ == JudgeRole::reference && part_.problem.operands[index].role == OperandRole::out)
    return;
  const OperandPart part = part_of(index);
  DeviceBuffer before;
  if (is_overwritten(index)) before = filled(index);
  const DevicePtr from = before.address() != 0 ? before.address() : part_.run[index]->data();
  convert(part.shape, from + static_cast<DevicePtr>(part.offset), float64_at_[index]);
}

/// An input that a candidate, or this kernel, may have changed.
bool JudgeBuffers::is_overwritten(std::size_t index) const {
  return role_ != JudgeRole::fill && part_.problem.operands[index].scratch;
}

void JudgeBuffers::provide_verdict() {
  if (verdict_.address() != 0) return;
  const CountResult nothing;
  verdict_ = DeviceBuffer(ledger_, sizeof(nothing), "the checker's verdict");
  ledger_.device().copy_to_device(verdict_.address(), &nothing, sizeof(nothing));
}

std::string JudgeBuffers::purpose(std::size_t index) const {
  return fmt::format("operand {} of the {}", part_.problem.operands[index].name,
                     role_ == JudgeRole::reference ? "reference"
                     : role_ == JudgeRole::checker ? "checker"
                                                   : "fill kernel");
}

/// All of the operand as it was before any run.
DeviceBuffer JudgeBuffers::filled(std::size_t index) {
  const OperandPlan& plan = part_.problem.operands[index];
  DeviceBuffer buffer(ledger_, plan.shape.bytes(), purpose(index));
  write_filled(kernels_, plan, *part_.filled[index], buffer.address(), index, part_.recipe);
  return buffer;
}

/// Of one element in float64.
std::int64_t JudgeBuffers::float64_bytes(std::size_t index) const {
  const bool has_parts = is_complex(part_.problem.operands[index].shape.type);
  return static_cast<std::int64_t>(sizeof(double)) * (has_parts ? 2 : 1);
}

DeviceBuffer JudgeBuffers::zeros(std::size_t index, std::int64_t element_bytes) {
  const std::int64_t bytes =
      std::max<std::int64_t>(part_of(index).shape.elements(), 1) * element_bytes;
  DeviceBuffer buffer(ledger_, bytes, purpose(index));
  ledger_.device().fill(buffer.address(), 0, bytes);
  return buffer;
}

void JudgeBuffers::convert(const MatrixShape& whole, DevicePtr from, DevicePtr to) {
  const MatrixShape shape = in_real_numbers(whole);
  ConvertArgs args{};
  args.from = reinterpret_cast<const void*>(from);
  args.to = reinterpret_cast<double*>(to);
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.ld_from = shape.ld;
  args.ld_to = shape.cols;
  args.dtype = static_cast<int>(shape.type);
  kernels_.convert(args);
}

}  // namespace kiln
