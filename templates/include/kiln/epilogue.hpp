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

/// Operands that an expression may have besides C.
inline constexpr int kMostEpilogueOperands = 6;

namespace detail {
struct EpilogueEntry;
}

/// What becomes of an element of the product before it is stored in D, as an expression:
///
///     Epilogue("silu(acc * alpha + bias[n])")
///
/// Names: `acc`, the sum of products; `alpha` and `beta` of the launch; `c`, the element of C,
/// which is then always read. Any other name is an operand of the launch, given in the order in
/// which names first appear: `x[n]` has an element for each column of D, `x[m]` one for each row,
/// `x[m,n]` is a row-major matrix like D, `x[]` one number in device memory. Their elements have
/// D's type, f32 where that is a whole number, unless the name says which: `bias:f32[n]`.
///
/// Operators: + - * / and unary -, comparisons < > <= >= as the condition of `x < y ? a : b`.
/// Functions: relu gelu gelu_tanh silu sigmoid tanh exp log sqrt rsqrt abs min max, and
/// clamp(x, least, greatest). All is computed in f32, in f64 where the accumulator is f64; a D of
/// whole numbers gets the nearest one, limited to its range.
///
/// `amax(x, peak[])` is x, and records the largest |x| of all elements of D in the operand `peak`:
/// of f32 (f64 where that is computed in), in all `[]`, for each row `[m]` or each column `[n]`.
/// What memory has becomes the larger of itself and that, so it is 0 before the launch unless
/// several are to share it. NaN is larger than any number. Both sides of a choice are recorded.
/// Such an operand is named once, and only written.
///
/// A small value, copied and compared freely, from any thread: equal expressions are one. What an
/// expression says is kept until the process ends.
class KILN_API Epilogue {
 public:
  /// alpha * acc + beta * c.
  constexpr Epilogue() = default;
  /// Throws Error(usage) that points at the place in the text. An empty text is the default.
  explicit Epilogue(std::string_view expression);

  [[nodiscard]] constexpr bool is_default() const { return entry_ == nullptr; }
  /// The expression without superfluous spaces and parentheses; "" for the default.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool reads_c() const;
  /// How many operands a launch needs, and what they are called.
  [[nodiscard]] int operand_count() const;
  [[nodiscard]] std::string operand_name(int index) const;

  friend constexpr bool operator==(const Epilogue& left, const Epilogue& right) {
    return left.entry_ == right.entry_;
  }
  friend constexpr bool operator!=(const Epilogue& left, const Epilogue& right) {
    return !(left == right);
  }
  /// For the library: what the handle stands for; null for the default.
  [[nodiscard]] constexpr const detail::EpilogueEntry* entry() const { return entry_; }

 private:
  const detail::EpilogueEntry* entry_ = nullptr;
};

}  // namespace kiln
