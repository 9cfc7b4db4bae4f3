// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/argument_list.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = ArgumentSpec::Kind;
using Source = ArgumentPatch::Source;

constexpr const char* kRowScale = R"(
//@ operation  row_scale
//@ purpose    y = scale x
//@ size       rows
//@ size       cols
//@ type       x
//@ type       y
//@ operand    x in: rows, cols
//@ operand    y out: rows, cols
//@ flops      rows * cols
)";

Operation row_scale() {
  Operation operation = Operation::parse("row_scale.cu", kRowScale);
  operation.scalars = {{"scale", NumberType::f32, 1.0, ""}, {"shift", NumberType::s64, 0.0, ""}};
  return operation;
}

NameTable row_scale_names() {
  NameTable names;
  for (const auto* name : {"rows", "cols", "tile", "device.sm"}) names.intern(name);
  return names;
}

/// rows, cols, tile, device.sm
const std::vector<std::int64_t> kRowScaleValues{7, 1000, 64, 90};

std::vector<ArgumentSpec> parsed(const std::string& list, ArgumentsOf owner = ArgumentsOf::kernel) {
  const auto lines =
      read_front_matter("args.cu", "//@ args       " + list + "\n", {"args", "grid"});
  return parse_argument_list(lines.at(0), row_scale(), row_scale_names(), owner);
}

ArgumentPlan planned(const std::vector<ArgumentSpec>& list) {
  return plan_arguments(
      list, [](const Expression& e) { return e.evaluate(kRowScaleValues).value(); },
      [](const std::string& message) { throw Error(ErrorKind::usage, message); });
}

ArgumentPlan planned(const std::string& list) {
  return planned(parsed(list));
}

std::string list_complaint(const std::string& list, ArgumentsOf owner = ArgumentsOf::kernel) {
  return error_text(ErrorKind::template_, [&] { (void)parsed(list, owner); });
}

template <class Number>
Number image_number(const ArgumentPlan& plan, std::size_t at) {
  Number number{};
  EXPECT_LE(at + sizeof(number), plan.image.size());
  std::memcpy(&number, plan.image.data() + at, sizeof(number));
  return number;
}

TEST(ArgumentList, HasWhatItsItemsAre) {
  const auto list =
      parsed("y, x, scale, shift, rows, (float) cols * 2, workspace, workspace + 256");
  ASSERT_EQ(list.size(), 8U);
  EXPECT_EQ(list[0].kind, Kind::operand);
  EXPECT_EQ(list[0].index, 1);
  EXPECT_EQ(list[1].index, 0);
  EXPECT_EQ(list[2].kind, Kind::scalar);
  EXPECT_EQ(list[2].type, NumberType::f32);
  EXPECT_EQ(list[3].kind, Kind::scalar);
  EXPECT_EQ(list[3].index, 1);
  EXPECT_EQ(list[3].type, NumberType::s64);
  EXPECT_EQ(list[4].kind, Kind::number);
  EXPECT_EQ(list[4].type, NumberType::s32);
  EXPECT_EQ(list[4].value->text(), "rows");
  EXPECT_EQ(list[5].kind, Kind::number);
  EXPECT_EQ(list[5].type, NumberType::f32);
  EXPECT_EQ(list[5].value->text(), "cols * 2");
  EXPECT_EQ(list[6].kind, Kind::workspace);
  EXPECT_FALSE(list[6].value.has_value());
  EXPECT_EQ(list[7].value->evaluate(kRowScaleValues), 256);
}

TEST(ArgumentList, TypesAreWrittenAsInCpp) {
  const auto list = parsed(
      "(int) rows, (unsigned)rows, (unsigned int) rows, (long  long) rows, "
      "(unsigned long long) rows, (size_t) rows, (float) rows, ( double ) (rows + 1)");
  std::vector<NumberType> types;
  for (const auto& each : list) types.push_back(each.type);
  EXPECT_THAT(types,
              ElementsAre(NumberType::s32, NumberType::u32, NumberType::u32, NumberType::s64,
                          NumberType::u64, NumberType::u64, NumberType::f32, NumberType::f64));
}

TEST(ArgumentList, ShortTypesHaveSeveralSpellings) {
  const auto list = parsed(
      "(bool) 1, (char) rows, (unsigned char) rows, (short) rows, (unsigned short) rows, "
      "(half) rows, (__half) rows, (nv_bfloat16) rows, (__nv_bfloat16) rows, (int64_t) rows, "
      "(uint8_t) rows, (unsigned long) rows");
  std::vector<NumberType> types;
  for (const auto& each : list) types.push_back(each.type);
  EXPECT_THAT(types,
              ElementsAre(NumberType::boolean, NumberType::s8, NumberType::u8, NumberType::s16,
                          NumberType::u16, NumberType::f16, NumberType::f16, NumberType::bf16,
                          NumberType::bf16, NumberType::s64, NumberType::u8, NumberType::u64));
  const auto plan = planned("(char) rows, (half) rows, (bool) 1, rows");
  EXPECT_THAT(plan.parameters, ElementsAre(0, 2, 4, 8));
  EXPECT_EQ(image_number<std::int8_t>(plan, 0), 7);
  EXPECT_EQ(image_number<std::uint16_t>(plan, 2), 0x4700) << "7 as a half";
  EXPECT_EQ(image_number<std::uint8_t>(plan, 4), 1);
}

TEST(ArgumentList, AScalarMayBeGivenInAnotherType) {
  const auto list = parsed("(double) scale, scale, (half) shift");
  EXPECT_EQ(list[0].kind, Kind::scalar);
  EXPECT_EQ(list[0].type, NumberType::f64);
  EXPECT_EQ(list[0].declared, NumberType::f32) << "what it is rounded to before";
  EXPECT_EQ(list[2].index, 1);
  EXPECT_EQ(list[2].type, NumberType::f16);
  EXPECT_EQ(argument_text(list, row_scale()), "(double) scale, scale, (half) shift");
  const auto plan = planned(list);
  EXPECT_THAT(
      plan.patches,
      ElementsAre(ArgumentPatch{Source::scalar, NumberType::f64, 0, 0, 0, NumberType::f32},
                  ArgumentPatch{Source::scalar, NumberType::f32, 0, 8, 0},
                  ArgumentPatch{Source::scalar, NumberType::f16, 1, 12, 0, NumberType::s64}));
}

TEST(ArgumentList, AScalarInItsOwnTypeIsNotConverted) {
  const auto plan = planned("shift, (long long) shift");
  EXPECT_THAT(plan.patches, ElementsAre(ArgumentPatch{Source::scalar, NumberType::s64, 1, 0, 0},
                                        ArgumentPatch{Source::scalar, NumberType::s64, 1, 8, 0}));
  const std::vector<Scalar> scalars{1, 9007199254740993};
  ArgumentValues values;
  values.scalars = scalars;
  std::array<std::int64_t, 2> argument{};
  fill_argument(plan, values, argument.data());
  EXPECT_THAT(argument, ElementsAre(9007199254740993, 9007199254740993));
}

TEST(ArgumentList, ParenthesesMayBelongToAnExpression) {
  const auto plan = planned("(rows), (rows) * 2, (rows + 1) * (cols), min(rows, cols), -rows");
  EXPECT_EQ(image_number<int>(plan, 0), 7);
  EXPECT_EQ(image_number<int>(plan, 4), 14);
  EXPECT_EQ(image_number<int>(plan, 8), 8000);
  EXPECT_EQ(image_number<int>(plan, 12), 7);
  EXPECT_EQ(image_number<int>(plan, 16), -7);
}

TEST(ArgumentList, AReferenceTakesOperandsInFloat64) {
  const auto list = parsed("x.f64, y.f64, y.magnitude, x", ArgumentsOf::reference);
  EXPECT_EQ(list[0].kind, Kind::float64);
  EXPECT_EQ(list[0].index, 0);
  EXPECT_EQ(list[1].kind, Kind::float64);
  EXPECT_EQ(list[1].index, 1);
  EXPECT_EQ(list[2].kind, Kind::magnitude);
  EXPECT_EQ(list[2].index, 1);
  EXPECT_EQ(list[3].kind, Kind::operand);
}

TEST(ArgumentList, WithoutOneOperandsSizesAndScalarsAreGiven) {
  const auto list = default_argument_list(row_scale(), row_scale_names());
  const auto stated = parsed("x, y, rows, cols, scale, shift");
  EXPECT_EQ(planned(list), planned(stated));
  EXPECT_EQ(list.size(), 6U);
}

TEST(ArgumentList, ParametersLieAsCudaLaysThemOut) {
  const auto plan = planned("rows, x, rows, (double) cols, scale, y, (unsigned) cols");
  EXPECT_THAT(plan.parameters, ElementsAre(0, 8, 16, 24, 32, 40, 48));
  EXPECT_EQ(plan.image.size(), 52U);
  EXPECT_EQ(image_number<int>(plan, 0), 7);
  EXPECT_EQ(image_number<int>(plan, 4), 0) << "padding";
  EXPECT_EQ(image_number<double>(plan, 24), 1000.0);
  EXPECT_EQ(image_number<unsigned>(plan, 48), 1000U);
  EXPECT_THAT(plan.patches, ElementsAre(ArgumentPatch{Source::operand, NumberType::f64, 0, 8, 0},
                                        ArgumentPatch{Source::scalar, NumberType::f32, 0, 32, 0},
                                        ArgumentPatch{Source::operand, NumberType::f64, 1, 40, 0}));
}

TEST(ArgumentList, StructsLieAsInCpp) {
  struct Inner {
    int rows;
    double cols;
  };
  struct Args {
    int tile;
    Inner inner;
    void* x;
    float scale;
  };
  struct Small {
    int rows;
    float cols;
  };
  const auto plan = planned("rows, {tile, {rows, (double) cols}, x, scale}, {rows, (float)cols}");
  EXPECT_THAT(plan.parameters, ElementsAre(0, 8, 8 + sizeof(Args)));
  EXPECT_EQ(plan.image.size(), 8 + sizeof(Args) + sizeof(Small));
  EXPECT_EQ(image_number<int>(plan, 8), 64);
  EXPECT_EQ(image_number<int>(plan, 8 + offsetof(Args, inner)), 7);
  EXPECT_EQ(image_number<double>(plan, 8 + offsetof(Args, inner) + offsetof(Inner, cols)), 1000.0);
  ASSERT_EQ(plan.patches.size(), 2U);
  EXPECT_EQ(plan.patches[0].at, 8 + offsetof(Args, x));
  EXPECT_EQ(plan.patches[1].at, 8 + offsetof(Args, scale));
  EXPECT_EQ(image_number<float>(plan, 8 + sizeof(Args) + offsetof(Small, cols)), 1000.0F);
}

TEST(ArgumentList, PlacesInTheWorkspaceAreBytesBehindItsStart) {
  const auto plan = planned("workspace, workspace + rows * 4, {workspace+8, rows}");
  ASSERT_EQ(plan.patches.size(), 3U);
  EXPECT_EQ(plan.patches[0].offset, 0);
  EXPECT_EQ(plan.patches[1].offset, 28);
  EXPECT_EQ(plan.patches[2].offset, 8);
  EXPECT_EQ(plan.patches[2].at, 16);
}

TEST(ArgumentList, NumbersThatDoNotFitAreRefused) {
  const auto refused = [](const std::string& list) {
    return error_text(ErrorKind::usage, [&] { (void)planned(list); });
  };
  EXPECT_THAT(refused("cols * 3000000"),
              AllOf(HasSubstr("\"cols * 3000000\" is 3000000000, which does not fit an int"),
                    HasSubstr("(long long)")));
  EXPECT_THAT(refused("(unsigned) 0 - rows"), HasSubstr("an unsigned;"));
  EXPECT_THAT(refused("(size_t) 0 - rows"), HasSubstr("an unsigned long long"));
  EXPECT_THAT(refused("(bool) rows"), AllOf(HasSubstr("\"rows\" is 7"), HasSubstr("a bool"),
                                            HasSubstr("\"(bool) (rows != 0)\"")));
  EXPECT_THAT(refused("(char) cols"), HasSubstr("a char"));
  EXPECT_THAT(refused("workspace + (rows - 8)"), HasSubstr("before the workspace"));
  EXPECT_EQ(image_number<std::int64_t>(planned("(long long) cols * 3000000"), 0), 3000000000);
  EXPECT_EQ(image_number<unsigned>(planned("(unsigned) cols * 3000000"), 0), 3000000000U);
}

TEST(ArgumentList, TooManyBytesAreRefused) {
  std::string list = "x";
  for (int i = 1; i < 512; ++i) list += ", x";
  EXPECT_EQ(planned(list).image.size(), 4096U);
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)planned(list + ", rows"); }),
              HasSubstr("more than 4096 bytes"));
}

TEST(ArgumentList, ContinuesOnTheNextLine) {
  const auto lines = read_front_matter("args.cu", "//@ args       x, y,\n//@   rows, colls\n");
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] {
                           (void)parse_argument_list(lines.at(0), row_scale(), row_scale_names(),
                                                     ArgumentsOf::kernel);
                         }),
              AllOf(HasSubstr("args.cu:2:13: "), HasSubstr("\"cols\"?")));
}

TEST(ArgumentList, MistakesAreShownWhereTheyAre) {
  EXPECT_THAT(list_complaint("x, row"),
              AllOf(HasSubstr("args.cu:1:19: "), HasSubstr("\"row\""), HasSubstr("\"rows\"?")));
  EXPECT_THAT(list_complaint("x, scalle"), HasSubstr("\"scale\"?"));
  EXPECT_THAT(list_complaint("x, workspcae + 4"), HasSubstr("\"workspace\"?"));
  EXPECT_THAT(list_complaint("x,, y"), HasSubstr("args.cu:1:18: an argument is missing here"));
  EXPECT_THAT(list_complaint("x, y,"), HasSubstr("args.cu:1:21: an argument"));
  EXPECT_THAT(list_complaint("{x, }"), HasSubstr("args.cu:1:20: an argument"));
  EXPECT_THAT(list_complaint("x, {}"), HasSubstr("args.cu:1:19: a struct needs members"));
  EXPECT_THAT(list_complaint("{x, rows"), HasSubstr("args.cu:1:16: this '{' is not closed"));
  EXPECT_THAT(list_complaint("x, rows}"), HasSubstr("args.cu:1:23: this '}' closes nothing"));
  EXPECT_THAT(list_complaint("{x, (rows}, 1)"), HasSubstr("this '}'"));
  EXPECT_THAT(list_complaint("{x} + 1"), HasSubstr("args.cu:1:19: after a struct, only a comma"));
  EXPECT_THAT(list_complaint("{{{{{{{{{x}}}}}}}}}"), HasSubstr("nested too deeply"));
  EXPECT_THAT(list_complaint("(flloat) rows"),
              AllOf(HasSubstr("args.cu:1:17: \"flloat\" is not an argument type"),
                    HasSubstr("\"float\"?")));
  EXPECT_THAT(list_complaint("(float)"), HasSubstr("args.cu:1:23: an expression"));
  EXPECT_THAT(list_complaint("(float) scale * 2"), HasSubstr("\"scale\" is a scalar"));
  EXPECT_THAT(list_complaint("(unsigned char) shift"),
              AllOf(HasSubstr("declared type s64"), HasSubstr("\"scalar shift u8 = ...\"")));
  EXPECT_THAT(list_complaint("x + 4"), HasSubstr("\"x\" is an address"));
  EXPECT_THAT(list_complaint("y x, rows"), HasSubstr("\"y\" and \"x\""));
  EXPECT_THAT(list_complaint("rows + scale"), HasSubstr("args.cu:1:23: \"scale\""));
  EXPECT_THAT(list_complaint("rows + workspace"),
              HasSubstr("this expression cannot use the workspace"));
  EXPECT_THAT(list_complaint("workspace - 4"), HasSubstr("args.cu:1:26: write the workspace as"));
  EXPECT_THAT(list_complaint("workspace +"), HasSubstr("args.cu:1:27: an expression"));
  EXPECT_THAT(
      list_complaint("x.f64"),
      HasSubstr("only a reference, a checker or a fill kernel can use the suffix \".f64\""));
  EXPECT_THAT(list_complaint("x.f32", ArgumentsOf::reference),
              HasSubstr("operands have no suffix \".f32\""));
  EXPECT_THAT(list_complaint("y.magnitud", ArgumentsOf::reference), HasSubstr("\"magnitude\"?"));
  EXPECT_THAT(list_complaint("x.magnitude", ArgumentsOf::reference), HasSubstr("x is an input"));
  EXPECT_THAT(list_complaint("workspace", ArgumentsOf::reference),
              HasSubstr("a reference cannot use a workspace"));
  EXPECT_THAT(list_complaint("z.f64", ArgumentsOf::reference),
              AllOf(HasSubstr("args.cu:1:16: "), HasSubstr("\"z.f64\"")));
}

RC_GTEST_PROP(ArgumentListProperty, AnyTextIsReadOrRefused, ()) {
  const auto words = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "x", "y", "rows", "scale", "workspace", "{", "}", "(", ")", ",", "+", "(float)", "x.f64",
      "y.magnitude", " ", "4", "(rows", ".", "unknown", "?", ":"));
  std::string text = "x, ";
  for (const auto& word : words) text += word;
  try {
    const auto list = parsed(text, static_cast<ArgumentsOf>(*rc::gen::inRange(0, 3)));
    RC_ASSERT(!list.empty());
    // What is read is laid out; only what has no value or does not fit is refused.
    (void)planned(list);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::template_ || error.kind() == ErrorKind::usage);
  } catch (const std::bad_optional_access&) {
    // An expression without a value.
  }
}

RC_GTEST_PROP(ArgumentListProperty, ParametersAreAlignedAndApart, ()) {
  const auto items = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("x", "rows", "scale", "shift", "(double) cols", "{rows}",
                                    "{rows, x}", "{x, {rows, scale}, cols}", "{{scale}, shift}")));
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + item;
  const auto list = parsed(text);
  const auto plan = planned(list);
  RC_ASSERT(plan.parameters.size() == items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    // By itself it begins at 0, so its bytes there are what it takes anywhere.
    const auto alone = planned(items[i]);
    const std::size_t end = plan.parameters[i] + alone.image.size();
    RC_ASSERT(end <= (i + 1 < items.size() ? plan.parameters[i + 1] : plan.image.size()));
    const bool is_small = items[i] == "rows" || items[i] == "scale" || items[i] == "{rows}";
    RC_ASSERT(plan.parameters[i] % (is_small ? 4U : 8U) == 0U);
    std::vector<std::uint8_t> part(plan.image.begin() + plan.parameters[i],
                                   plan.image.begin() + static_cast<std::ptrdiff_t>(end));
    RC_ASSERT(part == alone.image);
  }
}

}  // namespace
}  // namespace kiln
