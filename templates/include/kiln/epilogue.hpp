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

/// The maximum number of operands in an expression. C is not one of these operands.
inline constexpr int kMostEpilogueOperands = 6;

namespace detail {
struct EpilogueEntry;
}

/// An expression that a kernel applies to each element of the product before it stores the element
/// in D:
///
///     Epilogue("silu(acc * alpha + bias[n])")
///
/// Names: `acc` is the element of the product op(A) * op(B). `c` is the element of C. If the
/// expression contains `c`, the kernel always reads C. `alpha` and `beta` are scalars that the
/// launch passes. Any other name is an operand of the launch. Pass operands in the order of their
/// first appearance in the expression.
///
/// Operands: `x[n]` has one element for each column of D. `x[m]` has one element for each row of D.
/// `x[m,n]` is a row-major matrix with the shape of D. `x[]` is one number in device memory. The
/// elements of an operand have the type of D, or f32 if D has integer elements. To give an operand
/// another type, write the type after the name: `bias:f32[n]`.
///
/// Operators: + - * / and unary -. The comparisons < > <= >= may appear only in the condition of a
/// conditional expression, such as `x < y ? a : b`. Functions: relu, gelu, gelu_tanh, silu,
/// sigmoid, tanh, exp, log, sqrt, rsqrt, abs, min, max and clamp(x, least, greatest). Kernels
/// compute in f32, or in f64 if the accumulator is f64. If D has integer elements, kernels round
/// the result to the nearest integer and clamp it to the range of D.
///
/// Maxima: `amax(x, peak[])` returns x. The kernel also computes the maximum of |x| over all
/// elements of D, and stores it in the operand `peak`. With `peak[m]`, the kernel stores one
/// maximum for each row of D. With `peak[n]`, it stores one maximum for each column of D. The
/// elements of `peak` have the type f32, or f64 if kernels compute in f64. A launch changes an
/// element of `peak` only if the new maximum is larger. Therefore set `peak` to 0 before the
/// launch. If several launches share `peak`, set it to 0 only before the first launch. NaN counts
/// as larger than any number.
///
/// Kernels evaluate both branches of `x < y ? a : b` for every element. Therefore an amax() in one
/// branch includes every element, even if the condition selects the other branch. An expression can
/// use `peak` only once, as the second argument of amax().
///
/// An Epilogue is cheap to copy. Any thread may copy and compare Epilogues. Equal expressions share
/// one parsed form, which stays in memory until the process ends.
class KILN_API Epilogue {
 public:
  /// The default epilogue: alpha * acc + beta * c.
  constexpr Epilogue() = default;
  /// Parses `expression`. An empty text gives the default epilogue. An invalid expression throws
  /// Error(usage) with a message that points at the mistake.
  explicit Epilogue(std::string_view expression);

  [[nodiscard]] constexpr bool is_default() const { return entry_ == nullptr; }
  /// The expression without superfluous spaces and parentheses, or "" for the default epilogue.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool reads_c() const;
  /// The number of operands that a launch needs.
  [[nodiscard]] int operand_count() const;
  /// The name of operand `index`. The first operand has index 0.
  [[nodiscard]] std::string operand_name(int index) const;

  friend constexpr bool operator==(const Epilogue& left, const Epilogue& right) {
    return left.entry_ == right.entry_;
  }
  friend constexpr bool operator!=(const Epilogue& left, const Epilogue& right) {
    return !(left == right);
  }
  /// Only for Kiln's own code: the parsed expression, or null for the default epilogue.
  [[nodiscard]] constexpr const detail::EpilogueEntry* entry() const { return entry_; }

 private:
  const detail::EpilogueEntry* entry_ = nullptr;
};

}  // namespace kiln
