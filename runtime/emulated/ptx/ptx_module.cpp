// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_module.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace kiln::ptx {

namespace {

struct TypeFacts {
  std::string_view name;
  int bits;
};
// In the order of the enumeration.
constexpr std::array<TypeFacts, 22> kTypes{
    {{"none", 0},    {"pred", 1},  {"b8", 8},   {"b16", 16}, {"b32", 32},   {"b64", 64},
     {"b128", 128},  {"u8", 8},    {"u16", 16}, {"u32", 32}, {"u64", 64},   {"s8", 8},
     {"s16", 16},    {"s32", 32},  {"s64", 64}, {"f16", 16}, {"f16x2", 32}, {"bf16", 16},
     {"bf16x2", 32}, {"tf32", 32}, {"f32", 32}, {"f64", 64}}};
static_assert(kTypes[static_cast<std::size_t>(Type::f64)].name == "f64");
static_assert(kTypes[static_cast<std::size_t>(Type::f16x2)].name == "f16x2");

}  // namespace

int bits_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].bits;
}

std::string_view name_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].name;
}

Type type_of(std::string_view name) {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return Type::none;
}

std::string Instruction::opcode() const {
  return fmt::format("{}", fmt::join(parts, "."));
}

const Function* Module::find(std::string_view name) const {
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const Function& each) { return each.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace kiln::ptx
