// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/unit/emulated/ptx_samples.hpp"

namespace kiln::test {
namespace {

using ptx::Space;
using ptx::Variable;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Variable read_one(std::string_view text) {
  const auto module = read_declarations(text);
  return module.variables.empty() ? Variable{} : module.variables.back();
}

template <class T>
std::vector<T> values_of(const Variable& variable) {
  std::vector<T> values(variable.initial.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), variable.initial.data(), variable.initial.size());
  return values;
}

TEST(PtxVariables, SpaceSizeAndAlignment) {
  const auto module = read_declarations(
      ".global .u32 a; .visible .const .align 16 .b8 b[5]; .weak .shared .f64 c[2][3];\n"
      ".common .global .b16 d; .extern .shared .align 128 .b8 e[]; .local .v4 .f32 f;\n"
      ".visible .global .attribute(.managed) .align 4 .u32 g; .global .b128 h; .global .u8 i, "
      "j[3];");
  const auto& all = module.variables;
  ASSERT_EQ(all.size(), 10U);
  const auto facts = [&](std::size_t i) {
    return std::tuple(all[i].name, all[i].space, all[i].bytes, all[i].alignment, all[i].external);
  };
  EXPECT_EQ(facts(0), std::tuple("a", Space::global, 4, 4, false));
  EXPECT_EQ(facts(1), std::tuple("b", Space::constant, 5, 16, false));
  EXPECT_EQ(facts(2), std::tuple("c", Space::shared, 48, 8, false));
  EXPECT_EQ(facts(3), std::tuple("d", Space::global, 2, 2, false));
  EXPECT_EQ(facts(4), std::tuple("e", Space::shared, 0, 128, true));
  EXPECT_EQ(facts(5), std::tuple("f", Space::local, 16, 16, false));
  EXPECT_EQ(facts(6), std::tuple("g", Space::global, 4, 4, false));
  EXPECT_EQ(facts(7), std::tuple("h", Space::global, 16, 16, false));
  EXPECT_EQ(facts(8), std::tuple("i", Space::global, 1, 1, false));
  EXPECT_EQ(facts(9), std::tuple("j", Space::global, 3, 1, false));
  EXPECT_EQ(all[0].module_index, -1);
}

TEST(PtxVariables, NumbersInitialise) {
  EXPECT_THAT(values_of<std::int32_t>(read_one(".global .s32 x = -5;")), ElementsAre(-5));
  EXPECT_THAT(values_of<std::uint16_t>(read_one(".const .b16 x[2] = {0x1234, 65535};")),
              ElementsAre(0x1234, 65535));
  EXPECT_THAT(values_of<float>(read_one(".global .f32 x[3] = {0f3F800000, 2.5, -3};")),
              ElementsAre(1.0F, 2.5F, -3.0F));
  EXPECT_THAT(values_of<double>(read_one(".global .f64 x[2] = {0d3FB999999999999A, 0f3F000000};")),
              ElementsAre(0.1, 0.5));
  EXPECT_THAT(values_of<std::uint32_t>(read_one(".global .f32 x = 0f7F800001;")),
              ElementsAre(0x7f800001U));
  EXPECT_THAT(values_of<std::int64_t>(read_one(".global .s64 x = (1 + 2) * 4;")), ElementsAre(12));
  EXPECT_THAT(values_of<int>(read_one(".global .s32 x = {WARP_SZ};")), ElementsAre(32));
}

TEST(PtxVariables, ShortListsLeaveZeros) {
  const auto table = read_one(".global .s32 x[3][2] = {{1}, {2, 3}};");
  EXPECT_EQ(table.bytes, 24);
  EXPECT_THAT(values_of<int>(table), ElementsAre(1, 0, 2, 3));
  const auto flat = read_one(".global .s32 x[2][2] = {1, 2, {3}};");
  EXPECT_THAT(values_of<int>(flat), ElementsAre(1, 2, 3));
  const auto vectors = read_one(".global .v2 .s32 x[2] = {{1, 2}, {3, 4},};");
  EXPECT_THAT(values_of<int>(vectors), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(vectors.alignment, 8);
}

TEST(PtxVariables, AListSizesAnOpenArray) {
  EXPECT_EQ(read_one(".global .b8 x[] = {1, 2, 3};").bytes, 3);
  EXPECT_EQ(read_one(".global .s32 x[][3] = {{1}, {2}};").bytes, 24);
  EXPECT_EQ(read_one(".global .s32 x[][3] = {1, 2, 3, 4};").bytes, 24);
}

TEST(PtxVariables, AddressesInitialise) {
  const auto table = read_one(
      ".global .u32 a; .func f() { ret; } .global .u64 x[5] = {a, a+4, generic(a), generic(a)+8, "
      "f};");
  ASSERT_EQ(table.relocations.size(), 5U);
  EXPECT_EQ(table.initial, std::vector<std::byte>(40));
  const auto facts = [&](std::size_t i) {
    const auto& one = table.relocations[i];
    return std::tuple(one.offset, one.bytes, one.symbol, one.addend, one.generic);
  };
  EXPECT_EQ(facts(0), std::tuple(0U, 8, "a", 0, false));
  EXPECT_EQ(facts(1), std::tuple(8U, 8, "a", 4, false));
  EXPECT_EQ(facts(2), std::tuple(16U, 8, "a", 0, true));
  EXPECT_EQ(facts(3), std::tuple(24U, 8, "a", 8, true));
  EXPECT_EQ(facts(4), std::tuple(32U, 8, "f", 0, false));
}

TEST(PtxVariables, MaskedBytesBecomeOneAddress) {
  const auto packed = read_one(
      ".global .u32 a; .global .u8 x[12] = {7, 0XFF(generic(a)), 0xFF00(generic(a)), "
      "0xFF0000(generic(a)), 0xFF000000(generic(a)), 9, 0xFF(a+4), 0xFF00(a+4)};");
  ASSERT_EQ(packed.relocations.size(), 2U);
  EXPECT_EQ(packed.relocations[0].offset, 1U);
  EXPECT_EQ(packed.relocations[0].bytes, 4);
  EXPECT_TRUE(packed.relocations[0].generic);
  EXPECT_EQ(packed.relocations[1].offset, 6U);
  EXPECT_EQ(packed.relocations[1].bytes, 2);
  EXPECT_EQ(packed.relocations[1].addend, 4);
  EXPECT_EQ(values_of<std::uint8_t>(packed)[5], 9);
}

TEST(PtxVariables, ADefinitionReplacesItsDeclaration) {
  const auto module = read_declarations(
      ".extern .global .u32 a; .visible .global .u32 a = 3; .extern .global .u32 a;");
  ASSERT_EQ(module.variables.size(), 1U);
  EXPECT_FALSE(module.variables[0].external);
  EXPECT_THAT(values_of<int>(module.variables[0]), ElementsAre(3));
}

TEST(PtxVariables, AFunctionListsThoseOfTheModuleThatItNames) {
  const auto module = read_declarations(
      ".global .u32 a = 1; .global .u32 b = 2; .func f(.param .b32 p) { .local .b8 depot[8];\n"
      ".reg .b64 r; mov.u64 r, b; mov.u64 r, depot; mov.u64 r, b+4; ret; }");
  const auto& variables = module.find("f")->variables;
  ASSERT_EQ(variables.size(), 3U);
  EXPECT_EQ(variables[0].name, "p");
  EXPECT_EQ(variables[1].name, "depot");
  EXPECT_EQ(variables[1].module_index, -1);
  EXPECT_EQ(variables[2].name, "b");
  EXPECT_EQ(variables[2].module_index, 1);
  EXPECT_TRUE(variables[2].initial.empty());
}

TEST(PtxVariables, StaticsOfAFunctionBelongToTheModule) {
  const auto module = read_declarations(
      ".global .u32 x = 1; .func f() { .reg .b64 r; .global .u32 x = 2; mov.u64 r, x;\n"
      "{ .const .u32 x[2] = {3, 4}; mov.u64 r, x; } mov.u64 r, x; } .func g() { .reg .b64 r;\n"
      "mov.u64 r, x; }");
  ASSERT_EQ(module.variables.size(), 3U);
  EXPECT_EQ(module.variables[1].name, "x@f@1");
  EXPECT_THAT(values_of<int>(module.variables[1]), ElementsAre(2));
  EXPECT_EQ(module.variables[2].space, Space::constant);
  const auto named = [&](const char* function, std::size_t instruction) {
    const auto& in = module.find(function)->body.at(instruction);
    const auto index = static_cast<std::size_t>(in.operands.at(1).index);
    return module.find(function)->variables.at(index).module_index;
  };
  EXPECT_EQ(named("f", 0), 1);
  EXPECT_EQ(named("f", 1), 2);
  EXPECT_EQ(named("f", 2), 1);
  EXPECT_EQ(named("g", 0), 0);
}

TEST(PtxVariables, WhatCannotBeIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {".global .u32 a; .global .u32 a;", "PTX:2:30: 'a' is declared twice"},
      {".global .pred a;", "cannot be a predicate"},
      {".global .u32 a[];", "this array needs a size"},
      {".global .u32 a[2][];", "only the first dimension"},
      {".global .u32 a[-1];", "this array size is negative or too large"},
      {".global .u32 a[0x7FFFFFFFFFFFFFFF];", "too large"},
      {".global .u32 a[1048576][1048576];", "larger than 2^40 bytes"},
      {".global .u32 a[0][1099511627776][1099511627776] = {1};", "2^40"},
      {".global .u32 a[1.5];", "this constant must be an integer"},
      {".global .align 3 .u32 a;", "a power of two"},
      {".global .align 1073741824 .u32 a;", "at most 65536 bytes"},
      {".global .texref a;", "'.texref' is not supported in the declaration"},
      {".global a;", "expected a type"},
      {".global .u32 a[2] = {1, 2, 3};", "too many initial values"},
      {".global .u32 a[2] = 1;", "expected '{'"},
      {".global .u32 a[][0] = {{}};", "this array needs its first size"},
      {".global .u32 a = 1.5;",
       "a floating-point number cannot initialise an element of type .u32"},
      {".global .u32 a = b;", "no variable or function 'b' is declared"},
      {".shared .u32 a = 1;", "only global and constant variables"},
      {".global .u32 b; .global .u8 a = b;", "for a single byte"},
      {".global .u32 b; .global .u8 a[2] = {0xFF00(b)};", "lowest byte first"},
      {".global .u32 b; .global .u8 a[2] = {0xF(b)};", "a mask must select exactly one byte"},
      {".global .u8 a[400000000] = {{}};.global .u8 b[2][300000000] = {{},{1}};",
       "at most 64 MiB of skipped elements"},
      {".func f; .global .u32 f;", "'f' is a function"},
      {".global .u32 y; .extern .global .u64 x = y;", "external"},
      {".extern .global .u32 x = 5;", "an external variable cannot have an initial value"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(declaration_refusal(text), HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace kiln::test
