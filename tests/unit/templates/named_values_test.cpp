// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Tunables whose values have names, `tune registers cp_async* tma`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "templates/catalog.hpp"
#include "templates/kernel_template.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kNamed = R"(//@ template   named
//@ purpose    Has a tunable whose values have names.
//@ operation  gemm
//@ types      a=f16 b=f16 c=f16 d=f16 acc=f32

enum class Copy { registers, cp_async, tma };

struct NamedConfig {  //@ config
  Copy copy;          //@ tune registers cp_async* tma   // on the way in
  int stages;         //@ tune 1 2*
  int threads;        //@ let copy.tma ? 128 : 64
};
//@ require    copy.registers ? stages == 1 : stages > 1
//@ usual      copy=registers|tma
//@ launch     named
//@   grid     1
//@   block    threads

template <NamedConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void named(const kiln::GemmArgs args) {}
)";

KernelTemplate parse_named(std::string_view from = "", std::string_view to = "") {
  std::string text(kNamed);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return KernelTemplate::parse("named.cu", text.replace(at, from.size(), to));
}
std::string broken_names(std::string_view from, std::string_view to) {
  return error_text(ErrorKind::template_, [&] { (void)parse_named(from, to); });
}

std::int64_t value_named(std::string_view name) {
  return value_of_name(name).value();
}
ParamSpace space_of_named(const KernelTemplate& kernel_template) {
  return kernel_template.space(to_problem(Gemm::of(DType::f16, 64, 64, 64)),
                               limits_of_arch("90a").value());
}

TEST(TunableValue, NamesAreNumbersAndBack) {
  for (const std::string_view name : {"a", "tma", "cp_async", "cooperative", "x9_", "zzzzzzzzzzzz",
                                      "____________", "a99999999999"}) {
    const auto value = value_of_name(name);
    ASSERT_TRUE(value) << name;
    EXPECT_TRUE(is_named_value(*value)) << name;
    EXPECT_EQ(value_text(*value), name);
    EXPECT_EQ(parse_value(name), value);
  }
  EXPECT_NE(value_of_name("a"), value_of_name("aa"));
  const std::string too_long(65, 'a');
  for (const std::string_view text :
       {std::string_view(), std::string_view("two words"), std::string_view("1a"),
        std::string_view("a-b"), std::string_view(too_long)}) {
    EXPECT_FALSE(value_of_name(text)) << text;
    EXPECT_FALSE(parse_value(text)) << text;
  }
}

TEST(TunableValue, NumbersStayNumbers) {
  for (const std::int64_t number : {-2147483648L, -1L, 0L, 64L, 2147483647L}) {
    EXPECT_FALSE(is_named_value(number));
    EXPECT_EQ(parse_value(value_text(number)), number);
  }
  EXPECT_FALSE(parse_value("4294967297")) << "it would turn into a name";
  EXPECT_EQ(values_text(std::vector<std::int64_t>{8, *value_of_name("tma")}, "|"), "8|tma");
}

TEST(TunableValue, LongAndMixedCaseNamesKeepTheirText) {
  for (const std::string_view name : {"RowMajor", "thirteen_char", "AOS", "Float4", "_Z"}) {
    const auto value = value_of_name(name);
    ASSERT_TRUE(value) << name;
    EXPECT_TRUE(is_named_value(*value)) << name;
    EXPECT_FALSE(is_real_value(*value)) << name;
    EXPECT_EQ(value_text(*value), name);
    EXPECT_EQ(value_of_name(name), value);
  }
  EXPECT_NE(value_of_name("RowMajor"), value_of_name("rowmajor"));
}

TEST(TunableValue, DecimalNumbersAreEqualIfTheirTextsMeanTheSame) {
  const auto text = [](std::string_view of) {
    const auto value = parse_value(of);
    return value ? value_text(*value) : "none";
  };
  EXPECT_EQ(text("0.25"), "0.25");
  EXPECT_EQ(text(".250"), "0.25");
  EXPECT_EQ(text("25e-2"), "0.25");
  EXPECT_EQ(text("-1."), "-1.0");
  EXPECT_EQ(text("1e3"), "1000.0");
  EXPECT_EQ(text("-0.0"), "0.0");
  EXPECT_EQ(text("0.00001"), "0.00001");
  EXPECT_EQ(text("0.0000012"), "1.2e-6");
  EXPECT_EQ(text("1e300"), "1e300");
  EXPECT_EQ(text("0.5f"), "0.5f");
  EXPECT_EQ(text("123456789012345.0"), "123456789012345.0");
  for (const char* none :
       {"1e400", "0.1234567890123456", "1e-400", ".", "1e", "1.5x", "--1.5", "1e+-5", "0x1.8"}) {
    EXPECT_EQ(text(none), "none") << none;
  }
  const std::int64_t quarter = *parse_value("0.25");
  EXPECT_TRUE(is_real_value(quarter));
  EXPECT_FALSE(is_named_value(quarter));
  EXPECT_EQ(number_of(quarter), 0.25);
  EXPECT_EQ(number_of(*parse_value("-1.5e-30")), -1.5e-30);
  EXPECT_EQ(number_of(7), 7.0);
  for (const double number : {0.1, 1.0 / 1024, 123456.75, -2.5e-9, 1e22}) {
    const auto value = value_of_double(number);
    ASSERT_TRUE(value) << number;
    EXPECT_EQ(number_of(*value), number);
    EXPECT_EQ(parse_value(value_text(*value)), value);
  }
  EXPECT_FALSE(value_of_double(1.0 / 3)) << "has too many digits";
}

TEST(NamedValues, OfAConfiguration) {
  const Config config = Config::parse("copy=tma stages=2");
  EXPECT_EQ(config.at("copy"), value_named("tma"));
  EXPECT_EQ(config.canonical(), "copy=tma stages=2");
}

TEST(NamedValues, AreAskedForByName) {
  const KernelTemplate made = parse_named();
  EXPECT_EQ(made.space_spec().tunables[0].default_value, value_named("cp_async"));
  const ParamSpace space = space_of_named(made);
  EXPECT_EQ(space.count(), 3U);
  EXPECT_TRUE(space.contains({{"copy", value_named("registers")}, {"stages", 1}}));
  EXPECT_FALSE(space.contains({{"copy", value_named("registers")}, {"stages", 2}}));
  EXPECT_THAT(space.why_invalid({{"copy", value_named("bulk")}, {"stages", 2}}).value(),
              AllOf(StartsWith("copy "), HasSubstr(" bulk;"), HasSubstr("registers cp_async tma")));
  EXPECT_THAT(space.why_invalid({{"copy", 1}, {"stages", 2}}).value(),
              AllOf(StartsWith("copy "), HasSubstr(" 1;")));
  ASSERT_EQ(made.space_spec().usual.size(), 2U);
  EXPECT_EQ(made.space_spec().usual[1].canonical(), "copy=tma stages=2");
}

TEST(NamedValues, AreEnumeratorsInTheKernel) {
  const TemporaryFolder folder;
  folder.write("named.cu", kNamed);
  const Catalog catalog = Catalog::with_directories({folder.path()});
  const auto rendered =
      render(catalog, catalog.at("named"), Config::parse("copy=tma stages=2"),
             to_problem(Gemm::of(DType::f16, 64, 64, 64)), limits_of_arch("90a").value());
  EXPECT_THAT(rendered.name_expressions.at(0),
              StartsWith("named<NamedConfig{.copy = Copy::tma, .stages = 2, .threads = 128}, "));
}

// A kernel whose tunables are macros finds the name itself: a type, an enumerator, a function.
TEST(NamedValues, AreTextInMacros) {
  const TemporaryFolder folder;
  folder.write("operation.cu", test::kRowOperation);
  std::string text(test::kRowTemplate);
  text.insert(text.find("//@ tune       shift"), "//@ tune       order = by_rows* by_cols\n");
  folder.write("row.cu", text);
  const Catalog catalog = Catalog::with_directories({folder.path()});
  const OperationScope scope(catalog.operations());
  const auto rendered =
      render(catalog, catalog.at("row_plain"), Config::parse("block_size=64 order=by_cols shift=0"),
             test::row_problem(2, 3), limits_of_arch("90a").value());
  EXPECT_THAT(rendered.text, HasSubstr("#define order by_cols\n"));
}

TEST(NamedValueErrors, SayWhatToWrite) {
  EXPECT_THAT(broken_names("Copy copy;", "int copy;"),
              AllOf(StartsWith("named.cu:9:"), HasSubstr("enum class Kind { registers, ... }")));
  EXPECT_THAT(broken_names("registers cp_async* tma", "registers 1"),
              HasSubstr("the values of copy mix names and numbers"));
  EXPECT_THAT(broken_names("registers cp_async* tma", "0 1"), HasSubstr("must be names"));
  EXPECT_THAT(broken_names("registers cp_async* tma", "cp-async"),
              HasSubstr("\"cp-async\" is neither a 32-bit integer, a decimal number of at most 15 "
                        "digits, nor a name"));
  EXPECT_THAT(broken_names("registers cp_async* tma", "false true"),
              HasSubstr("change the field to bool copy;"));
  EXPECT_THAT(
      broken_names("int threads;        //@ let copy.tma", "Copy threads; //@ let copy.tma"),
      HasSubstr("\"let\" can compute only an int or a bool"));
  EXPECT_THAT(broken_names("let copy.tma ?", "let copy.tmb ?"),
              AllOf(HasSubstr("\"copy.tmb\""), HasSubstr("copy.tma")));
  EXPECT_THAT(broken_names("usual      copy=registers|tma", "usual      copy=bulk"),
              HasSubstr("registers cp_async tma"));
}

}  // namespace
}  // namespace kiln
