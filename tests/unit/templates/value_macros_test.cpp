// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/value_macros.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/kernel_template.hpp"
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
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<Tunable> layouts() {
  std::vector<std::int64_t> values;
  for (const char* name : {"aos", "soa", "blocked"}) values.push_back(*value_of_name(name));
  return {{"layout", values, values[0], ""}, {"block", {32, 64}, 32, ""}};
}

/// "soa=2 blocked=3".
std::string macros_of(std::string_view source, std::string_view header = "") {
  const std::vector<Tunable> tunables = layouts();
  const std::vector<std::string_view> sources{source, header};
  std::string text;
  for (const ValueMacro& each : value_macros(tunables, sources)) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", each.name, each.number);
  }
  return text;
}

TEST(ValueMacros, AreMadeForNamesThatAreOnlyCompared) {
  EXPECT_EQ(macros_of("#if layout == soa\nint x;\n#elif blocked != layout\n#endif\n"),
            "soa=2 blocked=3");
  EXPECT_EQ(macros_of("if constexpr (layout == soa) {}"), "soa=2");
  EXPECT_EQ(macros_of("#if block == 32 && (layout == soa || \\\n layout == aos)\n#endif"),
            "aos=1 soa=2");
  EXPECT_EQ(macros_of("// layout == soa, \"aos\"\nint x;"), "") << "not used: no macro";
}

TEST(ValueMacros, LeaveTheNamesOfTheSourceAlone) {
  EXPECT_EQ(macros_of("enum Layout { aos, soa }; if (layout == soa) {}"), "");
  EXPECT_EQ(macros_of("#define soa 7\n#if layout == soa\n#endif\n"), "");
  EXPECT_EQ(macros_of("layout data; struct aos {};"), "") << "a type";
  EXPECT_EQ(macros_of("if (layout == soa) p.blocked = 1;"), "soa=2");
  EXPECT_EQ(macros_of("#if layout == soa\n#endif", "int soa;"), "") << "of a header";
  EXPECT_EQ(macros_of("if (other == soa) {}"), "") << "of another variable";
}

std::string unknown_values(std::string_view source) {
  const std::vector<Tunable> tunables = layouts();
  const std::vector<std::string> macros{"layout", "block"};
  return error_text(ErrorKind::template_,
                    [&] { refuse_unknown_values("k.cu", source, tunables, macros); });
}

TEST(ValueMacros, OfEnumeratorsInDirectivesAreRefused) {
  EXPECT_THAT(unknown_values("enum { aos, soa };\nvoid f() {\n#if layout == soa\n"),
              AllOf(StartsWith("k.cu:3:15: "), HasSubstr("\"if constexpr\" instead of #if")));
  const std::vector<Tunable> tunables = layouts();
  const std::vector<std::string> macros{"layout", "block"};
  for (const char* fine : {"#define soa 1\n#if layout == soa\n#endif", "#if layout == soa\n#endif",
                           "enum { soa }; bool x = layout == soa;"}) {
    EXPECT_NO_THROW(refuse_unknown_values("k.cu", fine, tunables, macros)) << fine;
  }
}

/// The row template with more tunables and code.
RenderedKernel rendered_row(std::string_view tunes, std::string_view code,
                            std::string_view config) {
  const TemporaryFolder folder;
  folder.write("operation.cu", test::kRowOperation);
  std::string text(test::kRowTemplate);
  text.insert(text.find("//@ tune       shift"), tunes);
  text += code;
  folder.write("row.cu", text);
  const Catalog catalog = Catalog::with_directories({folder.path()});
  const OperationScope scope(catalog.operations());
  return render(catalog, catalog.at("row_plain"), Config::parse(config), test::row_problem(2, 3),
                limits_of_arch("90a").value());
}

TEST(ValueMacros, StandBesideTheTunableInTheRenderedText) {
  const auto rendered = rendered_row(
      "//@ tune       order = by_rows* by_cols\n//@ tune       fast = false true*\n"
      "//@ tune       ratio = 0.25 0.5*\n",
      "\n#if order == by_cols && fast\nconstexpr float kRatio = ratio;\n#endif\n",
      "block_size=64 fast=true order=by_cols ratio=0.25 shift=0");
  EXPECT_THAT(rendered.text, HasSubstr("#define order by_cols\n"));
  EXPECT_THAT(rendered.text, HasSubstr("#define by_cols 2\n"));
  EXPECT_THAT(rendered.text, Not(HasSubstr("#define by_rows")));
  EXPECT_THAT(rendered.text, HasSubstr("#define fast true\n"));
  EXPECT_THAT(rendered.text, HasSubstr("#define ratio 0.25\n"));
}

TEST(ValueMacros, ARedefinitionOfADecimalNumberIsLeftToTheCompiler) {
  const auto rendered = rendered_row("//@ tune       ratio = 0.25 0.5*\n",
                                     "\n#ifdef UNKNOWN\n#undef ratio\n#define ratio 0.75\n#endif\n",
                                     "block_size=64 ratio=0.25 shift=0");
  EXPECT_THAT(rendered.text, HasSubstr("static_assert((ratio) == (0.25), "));
}

}  // namespace
}  // namespace kiln
