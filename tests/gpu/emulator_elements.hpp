// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/gpu/emulator_pair.hpp"

namespace kiln::testing {

/// What the bits of an operand mean; its size, and which values are worth trying.
enum class Kind : std::uint8_t { i16, i32, i64, f16, bf16, f32, f64, f16x2, bf16x2, small };

/// One instruction that each thread executes on values of its own: "%0" is the result, "%1" to "%3"
/// are the operands. Identical results are expected, signs of zeros included, unless a bound is
/// given; NaNs count as equal.
struct ElementOp {
  std::string text;
  double relative = 0.0;  ///< of the emulated result
  double absolute = 0.0;
};

struct ElementKernel {
  Kind result;
  std::vector<Kind> operands;  ///< one to three
  std::vector<ElementOp> ops;
};

/// "add.{}.f32 %0, %1, %2;" for each of `parts`, which may be empty: "add.f32".
[[nodiscard]] std::vector<ElementOp> each(const std::string& pattern,
                                          const std::vector<std::string>& parts,
                                          double relative = 0.0, double absolute = 0.0);

[[nodiscard]] std::vector<ElementOp> joined(const std::vector<std::vector<ElementOp>>& parts);

/// A test of one kernel of such instructions, over special and random values.
class ElementTest : public EmulatorPair {
 protected:
  void compare(const ElementKernel& kernel);
};

}  // namespace kiln::testing
