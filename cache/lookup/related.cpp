// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/related.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "templates/operation/operation.hpp"

namespace kiln {
namespace {

// Distances of differences, in octaves, fitted with `choice_accuracy DATABASE` (tests/bench). They
// decide which results are read and which of them weigh most; only their order matters much.
constexpr double kOtherDevice = 1.0;   ///< other rates beside the same instructions
constexpr double kOtherLayout = 0.5;   ///< or alignment of a factor: other copies
constexpr double kOtherType = 0.125;   ///< the same instructions on other numbers
constexpr double kOtherClass = 2.0;    ///< other instructions for numbers of the same width
constexpr double kOtherResult = 0.25;  ///< what is written, or read in some problems only

double bytes_of(DType type) {
  return static_cast<double>(size_bytes(type)) / packed_values(type);
}

/// Whether kernels of the operation always read an array of the slot's elements: a factor.
bool is_factor(const Operation* operation, std::string_view slot) {
  const OperandSpec* const operand = operation == nullptr ? nullptr : operation->operand(slot);
  return operand != nullptr && operand->role == OperandRole::in && !operand->when;
}

/// Types that the same kernels multiply at the same rate.
bool are_twins(DType left, DType right) {
  constexpr std::array<std::array<DType, 2>, 8> kTwins{{{DType::f16, DType::bf16},
                                                        {DType::s8, DType::u8},
                                                        {DType::e4m3, DType::e5m2},
                                                        {DType::s4, DType::u4},
                                                        {DType::b1, DType::b1_xor},
                                                        {DType::s16, DType::u16},
                                                        {DType::s32, DType::u32},
                                                        {DType::s64, DType::u64}}};
  return std::any_of(kTwins.begin(), kTwins.end(), [&](const auto& twins) {
    return (left == twins[0] && right == twins[1]) || (left == twins[1] && right == twins[0]);
  });
}

/// Nothing for factors of different widths.
std::optional<double> type_distance(const Operation* operation, const Problem& wanted,
                                    const Problem& other) {
  double distance = 0.0;
  for (const NamedType& own : wanted.types) {
    const auto theirs = other.type(own.slot);
    if (!theirs) return std::nullopt;
    if (*theirs == own.type) continue;
    if (!is_factor(operation, own.slot)) {
      distance += are_twins(own.type, *theirs) ? 0.0 : kOtherResult;
    } else if (bytes_of(own.type) != bytes_of(*theirs)) {
      return std::nullopt;
    } else {
      distance += are_twins(own.type, *theirs) ? kOtherType : kOtherClass;
    }
  }
  return distance;
}

/// A trait whose name ends in an operand's, as trans_a does, says how that one lies in memory.
double trait_distance(const Operation* operation, std::string_view trait) {
  const std::size_t at = trait.rfind('_');
  const bool of_factor = at != std::string_view::npos && is_factor(operation, trait.substr(at + 1));
  return of_factor ? kOtherLayout : kOtherResult;
}

double octaves(std::int64_t left, std::int64_t right) {
  return std::abs(std::log2(static_cast<double>(left) / static_cast<double>(right)));
}

}  // namespace

std::optional<double> kind_distance(const Problem& wanted, const DeviceClass& device,
                                    const Problem& other, const DeviceClass& other_device) {
  if (wanted.operation != other.operation || device.arch != other_device.arch) return std::nullopt;
  const Operation* const operation = find_operation(wanted.operation);
  // Of a declaration that had others.
  if (wanted.types.size() != other.types.size() || wanted.traits.size() != other.traits.size()) {
    return std::nullopt;
  }
  const auto types = type_distance(operation, wanted, other);
  if (!types) return std::nullopt;
  double distance = *types + (device == other_device ? 0.0 : kOtherDevice);
  for (const NamedValue& own : wanted.traits) {
    const auto theirs = other.trait(own.name);
    if (!theirs) return std::nullopt;
    if (*theirs != own.value) distance += trait_distance(operation, own.name);
  }
  if (wanted.epilogue != other.epilogue) distance += kOtherResult;
  return distance;
}

bool is_near(const Problem& wanted, const Problem& other) {
  if (wanted.operation != other.operation || wanted.types != other.types ||
      wanted.traits != other.traits ||
      (wanted.epilogue != other.epilogue && !other.epilogue.empty())) {
    return false;
  }
  // Logarithms are off by a few units in the last place.
  constexpr double kRounding = 1e-9;
  double sum = 0.0;
  for (const NamedValue& size : wanted.sizes) {
    const std::int64_t theirs = other.size(size.name).value_or(0);
    if (size.value < 1 || theirs < 1) return false;
    const double apart = octaves(size.value, theirs);
    if (apart > kNear.octaves_per_size + kRounding) return false;
    sum += apart;
  }
  return sum <= kNear.octaves + kRounding;
}

}  // namespace kiln
