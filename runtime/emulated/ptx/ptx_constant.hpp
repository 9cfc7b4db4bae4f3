// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/ptx/ptx_lexer.hpp"

namespace kiln::ptx {

/// Value of a constant expression: an integer of 64 bits, or the bits of a double.
struct Constant {
  bool real = false;
  bool is_unsigned = false;  ///< of integers: .u64 and not .s64
  std::uint64_t bits = 0;

  [[nodiscard]] std::int64_t as_signed() const { return static_cast<std::int64_t>(bits); }
};

/// True if a constant expression may begin with this token.
[[nodiscard]] bool starts_constant(const Token& token);

/// Reads a constant expression: the operators of C over integers, with the types that the PTX ISA
/// gives the results ("Constant Expression Evaluation"); + - * / and comparisons over reals.
/// Throws Error(device) for what is none, for a division by zero and for nesting beyond 64.
[[nodiscard]] Constant read_constant(Lexer& lexer);

/// The same for what must be an integer.
[[nodiscard]] std::int64_t read_integer_constant(Lexer& lexer);

}  // namespace kiln::ptx
