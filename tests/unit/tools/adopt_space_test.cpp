// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// `kiln adopt --space`: values, restrictions and arguments of a T1 file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/tools/adopted.hpp"
#include "tools/adopt/python.hpp"
#include "tools/adopt/space_file.hpp"
#include "tools/adopt/translate.hpp"

namespace kiln::tools {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string evaluated(const std::string& text) {
  return python_text(evaluate_python(parse_python(text, "here"), "here"));
}

TEST(AdoptPython, ListsAreEvaluatedAsPythonDoes) {
  for (const auto& [text, value] : Pairs{
           {"[16*i for i in range(1, 5)]", "[16, 32, 48, 64]"},
           {"[2**i for i in range(0, 11, 5)]", "[1, 32, 1024]"},
           {"list(range(8, 0, -3))", "[8, 5, 2]"},
           {"[1] + [i for i in range(10) if i % 3 == 0 and i]", "[1, 3, 6, 9]"},
           {"[x * y for x in (1, 2) for y in [10, 20] if x * y != 20]", "[10, 40]"},
           {"[[i, -i] for i in range(2)]", "[[0, 0], [1, -1]]"},
           {"1, 2", "[1, 2]"},
           {"(3)", "3"},
           {"[]", "[]"},
           {"[7 / 2, 7 // 2, -7 // 2, -7 % 3, 7 % -3, 2 ** -1, 1e3]",
            "[3.5, 3, -4, 2, -2, 0.5, 1000.0]"},
           {"-2 ** 2", "-4"},
           {"['a', \"b\" + 'c']", "['a', 'bc']"},
           {"[True, False, not 1, 0 or 5, 2 and 3]", "[True, False, False, 5, 3]"},
           {"1 < 2 < 3 != 4", "True"},
           {"3 not in [1, 2] and 2 in range(3)", "True"},
           {"[0x10, 0b11, 0o17, 1_000]", "[16, 3, 15, 1000]"},
           {"1 << 4 | 3 & 2 ^ 1", "19"},
           {"[a if a > 1 else 0 for a in [1, 2]]", "[0, 2]"},
           {"sorted([3, 1, 2])[-1] + max(1, 2) + min([4, 5]) + len([1]) + sum([1, 2])", "13"},
           {"int(3.9) + math.ceil(1.2) + round(2.5) + abs(-4)", "11"},
       }) {
    EXPECT_EQ(evaluated(text), value) << text;
  }
}

TEST(AdoptPython, MistakesAreNamedByTheirColumn) {
  for (const auto& [text, message] : Pairs{
           {"[1, 2", "here, column 6: a \"]\" is missing at the end"},
           {"[1 2]", "here, column 4: expected \"]\", but found \"2\""},
           {"[i for i in range(n)]", "here, column 19: unknown name \"n\""},
           {"open('x')",
            "here, column 1: adopt does not know the function \"open\" with 1 argument"},
           {"1 // 0", "here, column 3: division by zero"},
           {"2 ** 70", "here, column 3: the result does not fit in 64 bits"},
           {"'a' * 2", "here, column 5: \"*\" does not fit the types str and int"},
           {"range(10 ** 9)", "here, column 1: the list has more than 100000 elements"},
           {"[1, $]", "here, column 5: unexpected character \"$\""},
           {"lambda p: p", "here, column 1: adopt does not read lambda expressions"},
           {"{1: 2}", "here, column 1: unexpected character \"{\""},
           {"99999999999999999999", "here, column 1: 99999999999999999999 is not an integer"},
           {"[1, 2][5]", "here, column 1: the list has no such element"},
           {"", "here, column 1: the expression ends where a value is expected"},
       }) {
    EXPECT_THAT(error_text(ErrorKind::usage, [&, source = text] { (void)evaluated(source); }),
                StartsWith(message))
        << text;
  }
  const std::string deep = std::string(5000, '(') + "1" + std::string(5000, ')');
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)evaluated(deep); }),
              HasSubstr("nested too deeply"));
}

TranslatedNames names_of_test() {
  TranslatedNames names;
  for (const char* const name : {"a", "b", "c", "zero", "any", "mode"}) names.names[name] = name;
  names.names["T"] = "t";
  names.positive = {"a", "b", "c", "T"};
  names.not_negative = {"a", "b", "c", "T", "zero"};
  names.words["mode"] = {"fast", "slow"};
  names.words["part"] = {};
  return names;
}

Translation translation_of(const std::string& text) {
  return translated_condition(parse_python(text, "here"), "here", names_of_test());
}

TEST(AdoptTranslation, RestrictionsBecomeRequirements) {
  for (const auto& [text, condition] : Pairs{
           {"a * b <= 1024", "a * b <= 1024"},
           {"a > 1 or not (b == 2 and c)", "a > 1 || !(b == 2 && c)"},
           {"32 <= a * b <= 1024", "32 <= a * b && a * b <= 1024"},
           {"a in [1, 2]", "a == 1 || a == 2"},
           {"a not in (1, 2) and b > 1", "a != 1 && a != 2 && b > 1"},
           {"(a in [1, b]) and c > 1", "(a == 1 || a == b) && c > 1"},
           {"a in [2**i for i in range(3)]", "a == 1 || a == 2 || a == 4"},
           {"a // b * c == 4", "a / b * c == 4"},
           {"a % ((b * c) / T) == 0", "a * t % (b * c) == 0"},
           {"a / b > c / 2", "a * 2 > c * b"},
           {"a / b == int(a / b)", "a == a / b * b"},
           {"a >= 0.25 * b", "a * 4 >= b"},
           {"(a - b) % c == 0", "((a - b) % c + c) % c == 0"},
           {"a - (b - c) > 0", "a - (b - c) > 0"},
           {"a ** 2 < 64", "a * a < 64"},
           {"min(a, b) >= 2 and abs(any) < 3", "min(a, b) >= 2 && abs(any) < 3"},
           {"a > 1 if zero else b > 1", "zero ? a > 1 : b > 1"},
           {"math.ceil(a / b) <= 4", "ceil_div(a, b) <= 4"},
           {"mode == 'fast' or a == 1", "mode.fast || a == 1"},
           {"mode != \"slow\" and mode in ['fast', 'other']", "!mode.slow && (mode.fast || false)"},
           {"zero == True", "zero == 1"},
           {"(a > 1) & (b > 1)", "a > 1 && b > 1"},
           {"16 < 3 * 6", "true"},
       }) {
    EXPECT_EQ(translation_of(text).text, condition) << text;
  }
}

TEST(AdoptTranslation, WhatFrontMatterLacksIsNotTranslated) {
  for (const auto& [text, why] : Pairs{
           {"a % zero == 0", "the divisor zero may be 0 or negative"},
           {"a / any > 1", "the divisor any may be 0 or negative"},
           {"problem_size[0] > a", "front matter has no lists"},
           {"a << b < 8", "no bit shifts"},
           {"2 ** a < 8", "no powers"},
           {"width % a == 0", "width is not a tunable"},
           {"any // a == 1", "rounds quotients of negative numbers down"},
           {"mode > 1", "the values of mode are names"},
           {"part * 2 > 1", "the values of part are fractions"},
           {"part == 0.5", "the values of part are fractions"},
           {"round(a / b) == 1", "does not round to the nearest"},
           {"len(a) == 1", "no function len"},
       }) {
    EXPECT_EQ(translation_of(text).text, "") << text;
    EXPECT_THAT(translation_of(text).why, HasSubstr(why)) << text;
  }
}

TEST(AdoptTranslation, ValuesAreWrittenAsFrontMatterHasThem) {
  const auto printed = [](const std::string& text, const std::string& usual) {
    const auto list = evaluate_python(parse_python(text, ""), "");
    return printed_values(std::get<PythonList>(list.value),
                          evaluate_python(parse_python(usual, ""), ""));
  };
  EXPECT_EQ(printed("[1, 2, 4]", "2"), "1 2* 4");
  EXPECT_EQ(printed("[False, True]", "True"), "0 1*");
  EXPECT_EQ(printed("['aos', 'soa']", "'aos'"), "aos* soa");
  EXPECT_EQ(printed("['Not a name']", "'Not a name'"), "");
  EXPECT_EQ(printed("[0.5, 1.0]", "0.5"), "0.5* 1.0");
  EXPECT_EQ(printed("['a', 1]", "1"), "");
}

constexpr const char* kScaleSource = R"CU(
__global__ void scale(float* out, const float* in, int rows, int cols, float factor) {
  const int x = blockIdx.x * (block_size_x * tile_size) + threadIdx.x;
  const int y = blockIdx.y;
  for (int t = 0; t < tile_size; ++t) {
    const int at = x + t * block_size_x;
    if (at < cols && y < rows) {
#if order == 1
      out[y * cols + at] = factor * in[y * cols + at];
#else
      out[y * cols + at] = in[y * cols + at] * factor;
#endif
    }
  }
}
)CU";

constexpr const char* kScaleSpace = R"J({
  "ConfigurationSpace": {
    "TuningParameters": [
      {"Name": "block_size_x", "Type": "int", "Values": "[32 * i for i in range(1, 5)]",
       "Default": 64},
      {"Name": "tile_size", "Type": "uint", "Values": "[1, 2, 2.0, 4]"},
      {"Name": "order", "Type": "bool", "Values": "[False, True]", "Default": "True"},
      {"Name": "weight", "Type": "float", "Values": "[0.5, 1]"},
      {"Name": "layout", "Type": "string", "Values": "['aos', 'soa']"}],
    "Conditions": [
      {"Parameters": ["block_size_x", "tile_size"],
       "Expression": "block_size_x * tile_size <= 256 and tile_size in [1, 2, 4]"},
      {"Parameters": ["weight"], "Expression": "weight * 2 > block_size_x"}]},
  "KernelSpecification": {
    "Language": "CUDA", "KernelName": "scale", "KernelFile": "other.cu",
    "GlobalSize": {"X": "1024 // (block_size_x * tile_size)", "Y": "300"},
    "LocalSize": {"X": "block_size_x", "Y": "1", "Z": "1"},
    "SharedMemory": "4 * block_size_x",
    "CompilerOptions": ["-use_fast_math"],
    "Arguments": [
      {"Name": "output", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
       "Size": 307200, "FillType": "Constant", "FillValue": 0},
      {"Name": "input", "Type": "double", "MemoryType": "Vector", "AccessType": "ReadOnly",
       "Size": 307200, "FillType": "Random", "FillValue": 1.0},
      {"Name": "rows", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant",
       "FillValue": 300},
      {"Name": "cols", "Type": "int32", "MemoryType": "Scalar", "FillType": "Constant",
       "FillValue": 1024},
      {"Name": "factor", "Type": "float", "MemoryType": "Scalar", "FillType": "Constant",
       "FillValue": 2.5}],
    "ReferenceArguments": [
      {"TargetName": "out", "ValidationMethod": "AbsoluteDifference",
       "ValidationThreshold": 0.0001}]}
})J";

Adoption with_space(const std::string& source, const std::string& space) {
  AdoptOptions options;
  options.space_file = "space.json";
  options.space = space;
  return adopted(source, options);
}

TEST(AdoptSpace, ValuesAndRestrictionsComeFromTheFile) {
  const Adoption adoption = with_space(kScaleSource, kScaleSpace);
  EXPECT_THAT(
      adoption.adopted.text,
      AllOf(
          HasSubstr("//@ tune       block_size_x = 32 64* 96 128\n"),
          HasSubstr("//@ tune       tile_size = 1* 2 4\n"),
          HasSubstr("//@ tune       order = 0 1*\n"),
          HasSubstr("//@ tune       weight = 0.5* 1.0 "),
          HasSubstr("//@ tune       layout = aos* soa "),
          HasSubstr("//@ require    block_size_x * tile_size <= 256 && (tile_size == 1 || "
                    "tile_size == 2 || tile_size == 4)\n"),
          HasSubstr("//@ require    FILL_IN                        // space.json has \"weight * 2 "
                    "> block_size_x\":")));
  EXPECT_THAT(
      adoption.adopted.text,
      AllOf(HasSubstr("//@   grid     ceil_div(cols, block_size_x * tile_size), rows"),
            HasSubstr("space.json has GlobalSize"), HasSubstr("//@   block    block_size_x\n"),
            HasSubstr("//@   smem     4 * block_size_x\n")));
}

TEST(AdoptSpace, ArgumentsSayRolesExtentsDataAndTolerances) {
  const Adoption adoption = with_space(kScaleSource, kScaleSpace);
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("//@ size       rows 1..2147483647             // 300 in space.json\n"),
            HasSubstr("//@ scalar     factor f32 = 2.5\n"),
            HasSubstr("//@ operand    out out: rows, cols "),
            HasSubstr("//@ operand    in in: rows, cols; fill uniform "),
            HasSubstr("//@ right      out within 0 0.0001\n")));
  EXPECT_THAT(adoption.notes, Contains(HasSubstr("Arguments[1]: the type is double, but the "
                                                 "parameter in of scale is float")));
  EXPECT_THAT(adoption.notes, Contains(HasSubstr("compiler options -use_fast_math")));
  EXPECT_THAT(adoption.notes, Contains(HasSubstr("describes a kernel in other.cu")));
}

TEST(AdoptSpace, NumbersOfTheGridAreSizes) {
  const Adoption adoption = with_space(
      "__global__ void k(float* y, const float* x, int n, int m) {\n"
      "  y[blockIdx.x * BX + threadIdx.x] = x[m];\n}\n",
      R"({"ConfigurationSpace": {"TuningParameters": [
            {"Name": "BX", "Type": "int", "Values": [32, 64]}]},
          "KernelSpecification": {"KernelName": "k", "GlobalSizeType": "OpenCL",
            "GlobalSize": {"X": "math.ceil(5000 / BX) * BX"}, "LocalSize": {"X": "BX"},
            "Arguments": [{"Name": "y", "MemoryType": "Vector", "Size": 5000},
                          {"Name": "x", "MemoryType": "Vector", "Size": 35000},
                          {"Name": "n", "MemoryType": "Scalar", "FillValue": 5000},
                          {"Name": "m", "MemoryType": "Scalar", "FillValue": 7}]}})");
  EXPECT_THAT(adoption.adopted.text, AllOf(HasSubstr("//@   grid     ceil_div(n, BX) "),
                                           HasSubstr("//@   block    BX\n")));
  EXPECT_THAT(adoption.operation.text, HasSubstr("//@ operand    x in: n, m "));
}

TEST(AdoptSpace, TheSizeOfAnArrayOutweighsWhatItsIndexSuggests) {
  const Adoption adoption = with_space(
      "__global__ void k(float* y, const float* x, const float* w, int n) {\n"
      "  int i = blockIdx.x * BX + threadIdx.x;\n  if (i < n) y[i] = x[i] * w[i];\n}\n",
      R"({"ConfigurationSpace": {"TuningParameters": [
            {"Name": "BX", "Type": "int", "Values": [32, 64]}]},
          "KernelSpecification": {"KernelName": "k", "GlobalSizeType": "OpenCL",
            "GlobalSize": {"X": "math.ceil(5000 / BX) * BX"}, "LocalSize": {"X": "BX"},
            "Arguments": [{"Name": "y", "MemoryType": "Vector", "Size": 5000},
                          {"Name": "x", "MemoryType": "Vector", "Size": 5000},
                          {"Name": "w", "MemoryType": "Vector", "Size": 9},
                          {"Name": "n", "MemoryType": "Scalar", "FillValue": 5000}]}})");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("//@ operand    x in: n"), HasSubstr("//@ operand    w in: 9 "),
                    HasSubstr("CHECK: extents; 9 elements in")));
}

TEST(AdoptSpace, TemplateParametersGetTheirValues) {
  const Adoption adoption = with_space(
      "template <int kTile> __global__ void k(float* y, const float* x, int n) {\n"
      "  int i = (blockIdx.x * 64 + threadIdx.x) * kTile;\n  if (i < n) y[i] = x[i];\n}\n",
      R"({"ConfigurationSpace": {"TuningParameters": [
            {"Name": "kTile", "Type": "int", "Values": "[3, 5]"}],
            "Conditions": [{"Expression": "kTile != 4"}]},
          "KernelSpecification": {"KernelName": "k<kTile>"}})");
  EXPECT_THAT(
      adoption.adopted.text,
      AllOf(HasSubstr("//@ tune       tile = 3* 5\n"), HasSubstr("//@ launch     k<tile>\n"),
            HasSubstr("//@ require    tile != 4\n"), Not(HasSubstr("tune       kTile"))));
}

TEST(AdoptSpace, MistakesAreNamedByTheirPath) {
  const auto error_of = [](const std::string& space) {
    return error_text(ErrorKind::usage, [&] { (void)with_space(kScaleSource, space); });
  };
  const auto with_parameter = [](const std::string& parameter) {
    return R"({"ConfigurationSpace": {"TuningParameters": [)" + parameter +
           R"(]}, "KernelSpecification": {}})";
  };
  EXPECT_THAT(error_of("{\n  \"a\": [1,,]\n}"),
              StartsWith("space.json:2:11: this is not valid JSON"));
  EXPECT_EQ(error_of("[]"), "space.json: expected an object");
  EXPECT_EQ(error_of("{}"), "space.json: \"ConfigurationSpace\" is missing");
  EXPECT_EQ(error_of(R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a"}]}})"),
            "space.json: ConfigurationSpace.TuningParameters[0]: \"Values\" is missing");
  EXPECT_EQ(
      error_of(with_parameter(R"({"Name": "a b", "Values": "[1]"})")),
      "space.json: ConfigurationSpace.TuningParameters[0].Name: \"a b\" is not a name in C++");
  EXPECT_EQ(
      error_of(with_parameter(R"({"Name": "a", "Values": "[1 +]"})")),
      "space.json: ConfigurationSpace.TuningParameters[0].Values, column 5: expected a value, "
      "but found \"]\"");
  EXPECT_EQ(error_of(with_parameter(R"({"Name": "a", "Type": "int", "Values": "[0.5]"})")),
            "space.json: ConfigurationSpace.TuningParameters[0].Values: 0.5 is not an integer, but "
            "the type is \"int\"");
  EXPECT_EQ(error_of(with_parameter(R"({"Name": "a", "Values": "[1]", "Default": 2})")),
            "space.json: ConfigurationSpace.TuningParameters[0].Default: 2 is not among the values "
            "of a");
  EXPECT_EQ(error_of(with_parameter(R"({"Name": "a", "Type": "byte", "Values": "[1]"})")),
            "space.json: ConfigurationSpace.TuningParameters[0].Type: \"byte\" is not one of int, "
            "uint, float, bool, string");
  EXPECT_THAT(error_of(R"({"ConfigurationSpace": {"TuningParameters": []},
                           "KernelSpecification": {"Language": "OpenCL"}})"),
              StartsWith("space.json: KernelSpecification.Language: Kiln tunes CUDA kernels"));
  EXPECT_THAT(error_of(R"({"ConfigurationSpace": {"TuningParameters": []},
                           "KernelSpecification": {"KernelName": "scales"}})"),
              HasSubstr("no kernel \"scales\" is defined in this file"));
}

}  // namespace
}  // namespace kiln::tools
