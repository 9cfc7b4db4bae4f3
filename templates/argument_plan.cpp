// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/argument_plan.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace kiln {
namespace {

template <class Number>
void store_number(Number number, void* to) noexcept {
  std::memcpy(to, &number, sizeof(number));
}

/// The nearest number of the type, since C++ leaves open what a conversion of others gives.
template <class Integer>
Integer nearest_integer(double value) noexcept {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  // The largest number of 64 bits is rounded up to the first that is too large.
  if (value >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Integer>(value);
}

void store_scalar(double value, NumberType type, void* to) noexcept {
  switch (type) {
    case NumberType::s32:
      return store_number(nearest_integer<std::int32_t>(value), to);
    case NumberType::u32:
      return store_number(nearest_integer<std::uint32_t>(value), to);
    case NumberType::s64:
      return store_number(nearest_integer<std::int64_t>(value), to);
    case NumberType::u64:
      return store_number(nearest_integer<std::uint64_t>(value), to);
    case NumberType::f32:
      return store_number(static_cast<float>(value), to);
    case NumberType::f64:
      return store_number(value, to);
  }
}

}  // namespace

std::size_t size_bytes(NumberType type) {
  switch (type) {
    case NumberType::s32:
    case NumberType::u32:
    case NumberType::f32:
      return 4;
    case NumberType::s64:
    case NumberType::u64:
    case NumberType::f64:
      return 8;
  }
  return 0;
}

std::string_view to_string(NumberType type) {
  switch (type) {
    case NumberType::s32:
      return "s32";
    case NumberType::u32:
      return "u32";
    case NumberType::s64:
      return "s64";
    case NumberType::u64:
      return "u64";
    case NumberType::f32:
      return "f32";
    case NumberType::f64:
      return "f64";
  }
  return "";
}

void fill_argument(const ArgumentPlan& plan, const ArgumentValues& values, void* to) noexcept {
  if (plan.image.empty()) return;
  std::memcpy(to, plan.image.data(), plan.image.size());
  for (const ArgumentPatch& patch : plan.patches) {
    std::uint8_t* const at = static_cast<std::uint8_t*>(to) + patch.at;
    switch (patch.source) {
      case ArgumentPatch::Source::operand:
        store_number(std::uint64_t{values.operands[patch.index]}, at);
        break;
      case ArgumentPatch::Source::float64:
        store_number(std::uint64_t{values.float64[patch.index]}, at);
        break;
      case ArgumentPatch::Source::magnitude:
        store_number(std::uint64_t{values.magnitudes[patch.index]}, at);
        break;
      case ArgumentPatch::Source::before:
        store_number(std::uint64_t{values.before[patch.index]}, at);
        break;
      case ArgumentPatch::Source::verdict:
        store_number(values.verdict + patch.index * sizeof(std::uint64_t), at);
        break;
      case ArgumentPatch::Source::workspace:
        store_number(values.workspace == 0
                         ? std::uint64_t{0}
                         : values.workspace + static_cast<std::uint64_t>(patch.offset),
                     at);
        break;
      case ArgumentPatch::Source::scalar:
        store_scalar(values.scalars[patch.index], patch.type, at);
        break;
    }
  }
}

}  // namespace kiln
