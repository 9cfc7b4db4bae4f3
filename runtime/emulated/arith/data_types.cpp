// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/data_types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kiln::emulated {

using ptx::Type;

bool is_signed(Type type) {
  return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}

bool is_unsigned(Type type) {
  return type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64;
}

bool is_integer(Type type) {
  return is_signed(type) || is_unsigned(type);
}

bool is_float(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
    case Type::f32:
    case Type::f64:
      return true;
    default:
      return false;
  }
}

Type take_type_of(DecodeContext& context, std::initializer_list<Type> allowed) {
  const Type type = context.take_type();
  if (std::find(allowed.begin(), allowed.end(), type) == allowed.end()) {
    context.fail(fmt::format("does not support the type .{}", ptx::name_of(type)));
  }
  return type;
}

void take_operands(DecodeContext& context, Instr& out, int sources, Type type) {
  context.expect_operands(static_cast<std::size_t>(sources) + 1);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  if (sources > 1) out.b = context.source(2, type);
  if (sources > 2) out.c = context.source(3, type);
}

}  // namespace kiln::emulated
