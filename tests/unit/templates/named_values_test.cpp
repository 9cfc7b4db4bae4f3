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
  for (const std::string_view text : {"", "Upper", "two words", "1a", "thirteen_char", "a-b"}) {
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

TEST(NamedValues, OfAConfiguration) {
  const Config config = Config::parse("copy=tma stages=2");
  EXPECT_EQ(config.at("copy"), value_named("tma"));
  EXPECT_EQ(config.canonical(), "copy=tma stages=2");
  EXPECT_THAT(error_text(ErrorKind::usage, [] { (void)Config::parse("copy=TMA"); }),
              HasSubstr("\"copy=TMA\""));
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
  EXPECT_THAT(broken_names("registers cp_async* tma", "Registers"),
              HasSubstr("\"Registers\" is neither a 32-bit integer nor a name"));
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
