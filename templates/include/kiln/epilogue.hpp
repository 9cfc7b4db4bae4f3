// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// The most operands that an expression may have besides C.
inline constexpr int kMostEpilogueOperands = 6;

namespace detail {
struct EpilogueEntry;
}

/// An expression that is applied to each element of the product before it is stored in D:
///
///     Epilogue("silu(acc * alpha + bias[n])")
///
/// Names: `acc` is the sum of products, `alpha` and `beta` are the factors of the launch, and `c`
/// is the element of C, which is then always read. Any other name is an operand of the launch.
/// Pass operands in the order in which their names first appear. `x[n]` has an element for each
/// column of D, `x[m]` one for each row; `x[m,n]` is a row-major matrix like D; `x[]` is one number
/// in device memory. Elements have D's type, or f32 where D has integers, unless the name states a
/// type: `bias:f32[n]`.
///
/// Operators: + - * / and unary -, comparisons < > <= >= as the condition of `x < y ? a : b`.
/// Functions: relu gelu gelu_tanh silu sigmoid tanh exp log sqrt rsqrt abs min max, and
/// clamp(x, least, greatest). Kernels compute in f32, or in f64 where the accumulator is f64. If D
/// has integers, they round to the nearest and limit it to D's range.
///
/// The value of `amax(x, peak[])` is x. It also records the largest |x| in the operand `peak`: of
/// all elements of D `[]`, of each row `[m]` or of each column `[n]`. A peak is f32, or f64 where
/// kernels compute in f64. A launch replaces the value in memory by the maximum of it and the
/// largest |x|. Set it to 0 before the launch, or before the first of several launches that share
/// it. NaN is larger than any number. Both sides of a choice are recorded. An expression names a
/// peak once and does not read it.
///
/// An Epilogue is a small value. Any thread may copy and compare it. Equal expressions share one
/// parsed form, which stays in memory until the process ends.
class KILN_API Epilogue {
 public:
  /// alpha * acc + beta * c.
  constexpr Epilogue() = default;
  /// Throws Error(usage) whose text points at the mistake. An empty text is the default.
  explicit Epilogue(std::string_view expression);

  [[nodiscard]] constexpr bool is_default() const { return entry_ == nullptr; }
  /// The expression without superfluous spaces and parentheses; "" for the default.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool reads_c() const;
  /// The number of operands that a launch needs, and their names.
  [[nodiscard]] int operand_count() const;
  [[nodiscard]] std::string operand_name(int index) const;

  friend constexpr bool operator==(const Epilogue& left, const Epilogue& right) {
    return left.entry_ == right.entry_;
  }
  friend constexpr bool operator!=(const Epilogue& left, const Epilogue& right) {
    return !(left == right);
  }
  /// For the library: the parsed expression; null for the default.
  [[nodiscard]] constexpr const detail::EpilogueEntry* entry() const { return entry_; }

 private:
  const detail::EpilogueEntry* entry_ = nullptr;
};

}  // namespace kiln
