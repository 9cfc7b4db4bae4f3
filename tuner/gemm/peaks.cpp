// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/peaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "common/epilogue_math.cuh"
#include "templates/epilogue/epilogue.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln {

RecordedPeaks::RecordedPeaks(Device& device, const OperandSet& operands) {
  const Gemm gemm = gemm_of(operands.problem());
  const auto* const entry = gemm.epilogue.entry();
  if (entry == nullptr) return;
  for (std::size_t i = kFirstEpilogueOperand; i < operands.count(); ++i) {
    const EpilogueSlot& slot = entry->expression.operands()[i - kFirstEpilogueOperand];
    Operand& added = operands_.emplace_back();
    if (!slot.recorded) continue;
    const Matrix& memory = operands[i];
    added.name = slot.name;
    if (slot.extent == OperandExtent::row) added.direction = "row";
    if (slot.extent == OperandExtent::column) added.direction = "column";
    added.type = memory.shape().type;
    added.bytes.resize(static_cast<std::size_t>(memory.shape().bytes()));
    device.copy_to_host(added.bytes.data(), memory.data(), memory.shape().bytes());
  }
}

std::optional<std::string> RecordedPeaks::outside(const PeakRanges& ranges) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    for (std::size_t at = 0; at < operand.count(); ++at) {
      const double value = operand.at(at);
      if (may_be_recorded(ranges[i][at], value, operand.type)) continue;
      return fmt::format("{}: {}", operand.place(at), peak_text(ranges[i][at], value));
    }
  }
  return std::nullopt;
}

std::optional<std::string> RecordedPeaks::different(const RecordedPeaks& other) const {
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const Operand& first = operands_[i];
    const Operand& second = other.operands_[i];
    const auto [at, end] =
        std::mismatch(first.bytes.begin(), first.bytes.end(), second.bytes.begin());
    if (at == first.bytes.end()) continue;
    const std::size_t index = static_cast<std::size_t>(at - first.bytes.begin()) /
                              static_cast<std::size_t>(size_bytes(first.type));
    return fmt::format("{}: amax recorded {:g} in one run, but {:g} in another run",
                       first.place(index), first.at(index), second.at(index));
  }
  return std::nullopt;
}

std::size_t RecordedPeaks::Operand::count() const {
  return bytes.size() / static_cast<std::size_t>(size_bytes(type));
}

double RecordedPeaks::Operand::at(std::size_t index) const {
  if (type == DType::f64) {
    double value = 0.0;
    std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
    return value;
  }
  float value = 0.0F;
  std::memcpy(&value, bytes.data() + index * sizeof(value), sizeof(value));
  return static_cast<double>(value);
}

std::string RecordedPeaks::Operand::place(std::size_t index) const {
  return direction.empty() ? name : fmt::format("{}, {} {}", name, direction, index);
}

bool may_be_recorded(const epilogue::PeakRange& range, double recorded, DType type) {
  const double largest = type == DType::f64
                             ? std::numeric_limits<double>::max()
                             : static_cast<double>(std::numeric_limits<float>::max());
  return epilogue::contains(range, recorded, largest);
}

std::string peak_text(const epilogue::PeakRange& range, double recorded) {
  const std::string had = recorded == 0.0 ? "nothing" : fmt::format("{:.9g}", recorded);
  return fmt::format("amax recorded {}, expected a value from {:.9g} to {:.9g}", had, range.least,
                     range.most);
}

}  // namespace kiln
