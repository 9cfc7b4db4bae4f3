// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/argument_plan.hpp"

#include <cstring>

namespace kiln {
namespace {

template <class Number>
void put_bytes(Number number, void* to) noexcept {
  std::memcpy(to, &number, sizeof(number));
}

}  // namespace

void fill_argument(const ArgumentPlan& plan, const ArgumentValues& values, void* to) noexcept {
  if (plan.image.empty()) return;
  std::memcpy(to, plan.image.data(), plan.image.size());
  for (const ArgumentPatch& patch : plan.patches) {
    std::uint8_t* const at = static_cast<std::uint8_t*>(to) + patch.at;
    switch (patch.source) {
      case ArgumentPatch::Source::operand:
        put_bytes(std::uint64_t{values.operands[patch.index]}, at);
        break;
      case ArgumentPatch::Source::float64:
        put_bytes(std::uint64_t{values.float64[patch.index]}, at);
        break;
      case ArgumentPatch::Source::magnitude:
        put_bytes(std::uint64_t{values.magnitudes[patch.index]}, at);
        break;
      case ArgumentPatch::Source::before:
        put_bytes(std::uint64_t{values.before[patch.index]}, at);
        break;
      case ArgumentPatch::Source::verdict:
        put_bytes(values.verdict + patch.index * sizeof(std::uint64_t), at);
        break;
      case ArgumentPatch::Source::workspace:
        if (patch.index > 0 && !values.scratch.empty()) {
          put_bytes(std::uint64_t{values.scratch[patch.index - 1U]}, at);
          break;
        }
        put_bytes(values.workspace == 0
                      ? std::uint64_t{0}
                      : values.workspace + static_cast<std::uint64_t>(patch.offset),
                  at);
        break;
      case ArgumentPatch::Source::seed:
        put_bytes(values.seed, at);
        break;
      case ArgumentPatch::Source::scalar: {
        const Scalar value = values.scalars[patch.index];
        store_number(patch.type, patch.declared ? rounded_to(*patch.declared, value) : value, at);
        break;
      }
    }
  }
}

}  // namespace kiln
