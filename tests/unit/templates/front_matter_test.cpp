// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a template file may say, and how errors in it are reported.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/kernel_template.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kTinyTemplate);
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The error after one replacement in the tiny template.
std::string broken(std::string_view from, std::string_view to) {
  return error_text(ErrorKind::template_,
                    [&] { (void)KernelTemplate::parse("tiny.cu", replaced(from, to)); });
}

TEST(FrontMatter, ReadsEverything) {
  const auto tiny = KernelTemplate::parse("tiny.cu", std::string(kTinyTemplate));
  EXPECT_EQ(tiny.name(), "tiny");
  EXPECT_EQ(tiny.purpose(), "Adds nothing up; see https://example.org for more.");
  EXPECT_EQ(tiny.operation(), "gemm");
  EXPECT_EQ(tiny.config_struct().type, "TinyConfig");
  EXPECT_EQ(tiny.file(), "tiny.cu");
  EXPECT_EQ(tiny.source(), kTinyTemplate);
  EXPECT_EQ(tiny.arch_text(), "sm >= 75");
  ASSERT_EQ(tiny.space_spec().tunables.size(), 2U);
  EXPECT_EQ(tiny.space_spec().tunables[0].name, "tile_m");
  EXPECT_THAT(tiny.space_spec().tunables[0].values, ElementsAre(32, 64, 128));
  EXPECT_EQ(tiny.space_spec().tunables[0].default_value, 64);
  EXPECT_EQ(tiny.space_spec().tunables[0].comment, "rows of a block");
  EXPECT_EQ(tiny.space_spec().tunables[1].comment, "");
  ASSERT_EQ(tiny.space_spec().derived.size(), 2U);
  EXPECT_EQ(tiny.space_spec().derived[0].value.text(), "tile_m * tile_n / 16");
  EXPECT_EQ(tiny.space_spec().derived[0].comment, "a thread has 16 elements");
  ASSERT_EQ(tiny.space_spec().requirements.size(), 3U);
  EXPECT_EQ(tiny.space_spec().requirements[0].message, "of a block");
  ASSERT_EQ(tiny.type_rows().size(), 2U);
  const auto& d = tiny.type_rows()[0].slots[3];
  EXPECT_EQ(d.name, "d");
  EXPECT_THAT(d.allowed, ElementsAre(DType::f32));
  EXPECT_THAT(d.same_as, ElementsAre("a"));
  ASSERT_EQ(tiny.launches().size(), 1U);
  EXPECT_EQ(tiny.launches()[0].kernel, "tiny");
  EXPECT_EQ(tiny.launches()[0].grid.size(), 2U);
  EXPECT_EQ(tiny.launches()[0].line, 21);
  EXPECT_TRUE(tiny.launches()[0].smem);
}

TEST(FrontMatter, OptionalLines) {
  auto text = replaced("//@ arch       sm >= 75\n", "");
  const auto workspace = text.find("//@ workspace");
  text.erase(workspace, text.find('\n', workspace) - workspace + 1);
  const auto tiny = KernelTemplate::parse("tiny.cu", text);
  EXPECT_EQ(tiny.arch_text(), "any");
}

TEST(FrontMatter, WindowsLineEndsAndTabs) {
  std::string text;
  for (const char c : kTinyTemplate) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const auto tiny = KernelTemplate::parse("tiny.cu", text);
  EXPECT_EQ(tiny.name(), "tiny");
  EXPECT_EQ(tiny.space_spec().requirements[2].message, "loads are 4 bytes wide");
  EXPECT_NO_THROW((void)KernelTemplate::parse("tiny.cu", replaced("tune 32 64*", "tune\t32 64*")));
}

TEST(FrontMatter, SeveralLaunchesAndClusters) {
  const auto two = KernelTemplate::parse(
      "tiny.cu", replaced("//@ workspace",
                          "//@ launch kiln::tiny_reduce\n//@ block 32, 2, 1\n//@ cluster 2, 1\n"
                          "//@ grid m * 2\n//@ workspace"));
  ASSERT_EQ(two.launches().size(), 2U);
  EXPECT_EQ(two.launches()[1].kernel, "kiln::tiny_reduce");
  EXPECT_EQ(two.launches()[1].block.size(), 3U);
  EXPECT_EQ(two.launches()[1].cluster.size(), 2U);
  EXPECT_FALSE(two.launches()[1].smem);
}

TEST(FrontMatter, Costs) {
  const auto none = KernelTemplate::parse("tiny.cu", std::string(kTinyTemplate));
  EXPECT_TRUE(none.cost_lines().empty());
  const auto two = KernelTemplate::parse(
      "tiny.cu",
      replaced("//@ workspace",
               "//@ cost fp32 = threads * k   // products\n//@ cost waits=ceil_div(k, 8)\n"
               "//@ workspace"));
  ASSERT_EQ(two.cost_lines().size(), 2U);
  EXPECT_EQ(two.cost_lines()[0].name, "fp32");
  EXPECT_EQ(two.cost_lines()[0].value.text(), "threads * k");
  EXPECT_EQ(two.cost_lines()[0].comment, "products");
  EXPECT_EQ(two.cost_lines()[0].line, 25);
  EXPECT_EQ(two.cost_lines()[1].name, "waits");
  // They are not compiled in.
  EXPECT_EQ(two.space_spec().derived.size(), none.space_spec().derived.size());
}

TEST(FrontMatter, CostsMayNameValuesThatOnlyCostsMention) {
  const auto kernel = KernelTemplate::parse(
      "tiny.cu", replaced("//@ workspace",
                          "//@ cost let turns = ceil_div(k, 8)   // of a block\n"
                          "//@ cost let less = turns - 1000000\n"
                          "//@ cost fp32 = turns * 2\n//@ cost waits = max(3, less)\n"
                          "//@ workspace"));
  ASSERT_EQ(kernel.cost_lines().size(), 4U);
  const Problem problem = to_problem(Gemm::of(DType::f32, 64, 64, 60));
  const DeviceLimits limits = *limits_of_arch("sm_90");
  const auto config = kernel.space(problem, limits).default_config();
  ASSERT_TRUE(config);
  const auto costs = LaunchPlanner(kernel, problem, limits).costs(*config);
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].name, "fp32");
  EXPECT_EQ(costs[0].value, 16);
  EXPECT_EQ(costs[1].name, "waits");
  EXPECT_EQ(costs[1].value, 3) << "values may be negative, costs not";
}

TEST(FrontMatterError, Costs) {
  const auto with = [](const std::string& text) {
    return broken("//@ workspace  m * 4", "//@ cost fp32 = k\n//@ cost " + text);
  };
  EXPECT_THAT(with("isues = k"),
              AllOf(StartsWith("tiny.cu:26:10:"), HasSubstr("unknown cost"),
                    HasSubstr("\"issues\"?"), HasSubstr("the costs are: tensor wgmma fp32")));
  EXPECT_THAT(with("fp32 = m"), AllOf(StartsWith("tiny.cu:26:10:"),
                                      HasSubstr("the cost \"fp32\" appears in two lines")));
  EXPECT_THAT(with("waits = tile_q"), AllOf(StartsWith("tiny.cu:26:18:"), HasSubstr("\"tile_q\"")));
  for (const char* text : {"waits", "let turns"}) {
    EXPECT_THAT(with(text), HasSubstr("write the line as \"cost name = expression\"")) << text;
  }
  EXPECT_THAT(with("= 4"), HasSubstr("expected before '=': a name"));
  EXPECT_THAT(with("let tile_m = 4"), AllOf(StartsWith("tiny.cu:26:14:"), HasSubstr("\"tile_m\"")));
  EXPECT_THAT(with("let = 4"), StartsWith("tiny.cu:26:14:"));
  EXPECT_THAT(with("let turns = k\n//@ require turns > 1"), HasSubstr("unknown name \"turns\""))
      << "costs only";
  EXPECT_THAT(with("waits = turns\n//@ cost let turns = k"), HasSubstr("unknown name \"turns\""))
      << "above it";
}

TEST(FrontMatterError, PointsAtThePlace) {
  EXPECT_THAT(broken("ceil_div(m, tile_m)", "ceil_div(m, tile_q)"),
              AllOf(StartsWith("tiny.cu:22:49: "), HasSubstr("\"tile_q\""),
                    EndsWith("\"tile_m\"?\n"
                             "  //@   grid     ceil_div(n, tile_n), ceil_div(m, tile_q)\n"
                             "                                                  ^")));
}

TEST(FrontMatterError, WholeFile) {
  const auto text = [](const char* source) {
    return error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("x.cu", source); });
  };
  for (const char* source : {"", "int a;\n //@ template x\n"}) {
    EXPECT_THAT(text(source), AllOf(StartsWith("x.cu:1:1:"), HasSubstr("no front matter")))
        << source;
  }
  for (const auto* key : {"template", "purpose", "operation", "types", "launch"}) {
    std::string source(kTinyTemplate);
    const auto mark = fmt::format("//@ {} ", key);
    for (auto at = source.find(mark); at != std::string::npos; at = source.find(mark)) {
      source.erase(at, source.find('\n', at) - at + 1);
    }
    EXPECT_THAT(text(source.c_str()), HasSubstr(fmt::format("no \"//@ {}\" line", key)));
  }
}

TEST(FrontMatterError, ATemplateHasAConfigStruct) {
  std::string source(kTinyTemplate);
  const auto begin = source.find("struct TinyConfig");
  source.erase(begin, source.find("//@ require") - begin);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("x.cu", source); }),
      HasSubstr(
          "no config struct; mark the struct where you declare it: struct Name {  //@ config"));
}

TEST(FrontMatterError, Keys) {
  EXPECT_THAT(broken("//@ require    tile_m", "//@ requires   tile_m"),
              AllOf(StartsWith("tiny.cu:19:5:"), HasSubstr("\"require\"?")));
  EXPECT_THAT(broken("//@ workspace  m * 4", "//@ workspace  m\n//@ workspace 4"),
              AllOf(StartsWith("tiny.cu:26:5:"), HasSubstr("two \"workspace\"")));
  EXPECT_THAT(broken("//@ arch       sm >= 75", "//@ arch  // any"), HasSubstr("needs a value"));
  EXPECT_THAT(broken("//@ launch     tiny\n", ""), HasSubstr("no \"//@ launch\" line"));
  EXPECT_THAT(broken("//@ template   tiny", "//@ grid 1\n//@ template tiny"),
              AllOf(StartsWith("tiny.cu:2:5:"), HasSubstr("\"grid\"")));
  EXPECT_THAT(broken("//@   block    threads", "//@   smem 4"), HasSubstr("two \"smem\""));
  EXPECT_THAT(broken("//@   block    threads\n", ""), HasSubstr("no \"block\" line"));
  EXPECT_THAT(broken("//@   block    threads", "//@ block 1, 2, 3, 4"), HasSubstr("at most three"));
  EXPECT_THAT(broken("//@   block    threads", "//@ block 32,"), HasSubstr("is missing"));
  EXPECT_THAT(broken("//@   block    threads", "//@ grid 32"), HasSubstr("two \"grid\""));
}

TEST(FrontMatterError, Heads) {
  EXPECT_THAT(broken("template   tiny", "template   ti-ny"), HasSubstr("a template's name"));
  EXPECT_THAT(broken("operation  gemm", "operation  gem"),
              AllOf(StartsWith("tiny.cu:4:16: "), HasSubstr("\"gemm\"?")));
  EXPECT_THAT(broken("launch     tiny", "launch     ti-ny"), HasSubstr("name of a kernel"));
}

TEST(FrontMatterError, Tunables) {
  EXPECT_THAT(broken("tune 32 64* 128", "tune  // many"), HasSubstr("\"tune\" needs a value"));
  EXPECT_THAT(broken("tune 32 64* 128", "tune 32 32"), HasSubstr("listed twice"));
  EXPECT_THAT(
      broken("tune 32 64* 128", "tune 32* 64*"),
      AllOf(StartsWith("tiny.cu:12:33:"), HasSubstr("two values are marked as the default")));
  EXPECT_THAT(broken("tune 32 64* 128", "tune 32,64"), HasSubstr("\"32,64\""));
  EXPECT_THAT(broken("tune 32 64* 128", "tune 4294967296"), HasSubstr("32-bit"));
  EXPECT_THAT(broken("tune 32 64* 128", "tune tile_m = 32"),
              StartsWith("tiny.cu:12:29: tile_m is an int"));
  EXPECT_THAT(broken("int tile_n;", "int tile_m;"),
              AllOf(StartsWith("tiny.cu:13:7:"), HasSubstr("is already used")));
  EXPECT_THAT(broken("int tile_n;", "int trans_a;"),
              AllOf(StartsWith("tiny.cu:13:7:"), HasSubstr("\"trans_a\"")));
  EXPECT_THAT(broken("int tile_n;", "int m;"),
              AllOf(StartsWith("tiny.cu:13:7:"), HasSubstr("\"m\"")));
  EXPECT_THAT(broken("int tile_n;      //@ tune 32* 64", "bool tile_n;  //@ tune 32* 64"),
              HasSubstr("tile_n is a bool, so its values must be false and true, or 0 and 1"));
}

TEST(FrontMatterError, Lets) {
  EXPECT_THAT(broken("let tile_m * tile_n / 16", "let min(tile_m, m)"),
              AllOf(StartsWith("tiny.cu:14:40:"), HasSubstr("cannot use the size \"m\"")));
  EXPECT_THAT(broken("let tile_m * tile_n / 16", "let smem_byte"),
              AllOf(StartsWith("tiny.cu:14:28: "), HasSubstr("\"smem_byte\"")));
  EXPECT_THAT(broken("let tile_m * tile_n / 16", "let"),
              AllOf(StartsWith("tiny.cu:14:"), HasSubstr("\"let\"")));
  EXPECT_THAT(broken("int smem_bytes", "int threads"),
              AllOf(StartsWith("tiny.cu:15:7:"), HasSubstr("\"threads\"")));
  EXPECT_THAT(broken("sm >= 75", "tile_m >= 75"),
              AllOf(StartsWith("tiny.cu:5:"), HasSubstr("\"tile_m\"")));
}

TEST(FrontMatter, StatementsGoOnWithTheNextLine) {
  const auto made = KernelTemplate::parse(
      "tiny.cu", replaced("//@ require    tile_m >= tile_n",
                          "//@ require    tile_m >=   // at least\n"
                          "//@              tile_n    // as high as wide\n"
                          "//@ require    max(tile_m,\n//@                tile_n) < 512\n"
                          "//@ require    tile_m == 32\n//@              ? true : tile_n > 0\n"
                          "//@ types      a=s8 b=s8\n//@              c=s32 d=s32 acc=s32\n"));
  ASSERT_EQ(made.space_spec().requirements.size(), 5U);
  EXPECT_EQ(made.space_spec().requirements[1].condition.text(), "tile_m >= tile_n");
  EXPECT_EQ(made.space_spec().requirements[1].message, "at least as high as wide");
  EXPECT_EQ(made.space_spec().requirements[2].condition.text(), "max(tile_m, tile_n) < 512");
  EXPECT_EQ(made.space_spec().requirements[3].condition.text(), "tile_m == 32 ? true : tile_n > 0");
  ASSERT_EQ(made.type_rows().size(), 3U);
  EXPECT_EQ(made.type_rows()[2].slots.size(), 5U);
}

TEST(FrontMatter, FieldsGoOnWithTheNextLine) {
  const auto made = KernelTemplate::parse(
      "tiny.cu", replaced("tune 32 64* 128           // rows of a block",
                          "tune 32 64*\n                   //@      128 256   // rows of a block"));
  EXPECT_THAT(made.space_spec().tunables[0].values, ElementsAre(32, 64, 128, 256));
  EXPECT_EQ(made.space_spec().tunables[0].comment, "rows of a block");
  const auto let = KernelTemplate::parse(
      "tiny.cu", replaced("let tile_m * tile_n / 16", "let tile_m\n  //@   * tile_n / 16"));
  EXPECT_EQ(let.space_spec().derived[0].value.text(), "tile_m * tile_n / 16");
}

// A key that is also a tunable's name is distinguished by what follows it.
TEST(FrontMatter, ATunableMayBeNamedLikeAKey) {
  std::string text = replaced("int tile_n; ", "int grid;   ");
  for (auto at = text.find("tile_n"); at != std::string::npos; at = text.find("tile_n")) {
    text.replace(at, 6, "grid");
  }
  const std::string before = "//@ require    tile_m >= grid\n";
  text.replace(text.find(before), before.size(), "//@ require    tile_m >=\n//@   grid * 1\n");
  const auto made = KernelTemplate::parse("tiny.cu", text);
  EXPECT_EQ(made.space_spec().requirements[1].condition.text(), "tile_m >= grid * 1");
  EXPECT_EQ(made.launches()[0].grid.size(), 2U);
}

TEST(FrontMatterError, PlacesOfContinuedLines) {
  EXPECT_THAT(broken("//@ require    tile_m >= tile_n", "//@ require    tile_m >=\n//@    tile_q"),
              AllOf(StartsWith("tiny.cu:20:8: "), HasSubstr("\"tile_q\""),
                    EndsWith("\"tile_m\"?\n  //@    tile_q\n         ^")));
  EXPECT_THAT(broken("ceil_div(m, tile_m)", "ceil_div(m,\n//@   tile_q)"),
              AllOf(StartsWith("tiny.cu:23:7: "), HasSubstr("\"tile_q\"")));
  EXPECT_THAT(broken("//@ require    tile_m >= tile_n", "//@ require    (tile_m >= tile_n"),
              AllOf(StartsWith("tiny.cu:19:33:"), HasSubstr("')'")))
      << "the statement below is not taken for its end";
  EXPECT_THAT(broken("//@ require    tile_m >= tile_n", "//@ require    tile_m >="),
              StartsWith("tiny.cu:19:25: a value is missing at the end"));
}

TEST(FrontMatter, StructAtLaunch) {
  const auto made = KernelTemplate::parse(
      "tiny.cu", replaced("//@ require    threads",
                          "struct TinyLaunch {  //@ at launch\n"
                          "  int splits;   //@ tune 1* 2 4\n"
                          "  int tiles_m;  //@ let ceil_div(m, tile_m) * splits\n"
                          "};\n"
                          "//@ require    splits <= tiles_m\n//@ require    threads"));
  EXPECT_EQ(made.launch_struct().type, "TinyLaunch");
  EXPECT_TRUE(made.is_at_launch("splits"));
  EXPECT_EQ(made.compiled_part(Config{{"tile_m", 8}, {"splits", 2}}), (Config{{"tile_m", 8}}));
  EXPECT_TRUE(made.is_at_launch("tiles_m"));
  EXPECT_FALSE(made.is_at_launch("tile_m"));
  EXPECT_EQ(made.space_spec().tunables.size(), 3U);
}

TEST(FrontMatterError, StructAtLaunch) {
  const auto with = [](const std::string& fields, const std::string& mark = "at launch") {
    return broken("//@ require    threads", "struct TinyLaunch {  //@ " + mark + "\n" + fields +
                                                "};\n//@ require    threads");
  };
  EXPECT_THAT(with("  bool splits;   //@ tune 0 1\n"),
              AllOf(StartsWith("tiny.cu:19:8:"),
                    HasSubstr("fields of an \"at launch\" struct must have the type int")));
  EXPECT_THAT(with("  int tile_m;   //@ tune 0 1\n"),
              AllOf(StartsWith("tiny.cu:19:7:"), HasSubstr("\"tile_m\"")));
  EXPECT_THAT(with("  int splits;\n"), HasSubstr("\"splits\" of TinyLaunch"));
  EXPECT_THAT(with("", "config"), HasSubstr("two \"config\" lines"));
  std::string many;
  for (int i = 0; i < 25; ++i) many += fmt::format("  int v{};  //@ let {}\n", i, i);
  EXPECT_THAT(with(many),
              AllOf(StartsWith("tiny.cu:18:26:"), HasSubstr("too many fields; the limit is 24")));
  EXPECT_THAT(broken("struct TinyConfig {  //@ config",
                     "struct TinyLaunch {  //@ at launch\n  int splits;  //@ tune 1 2\n};\n"
                     "struct TinyConfig {  //@ config\n  int share;  //@ let 8 / splits"),
              AllOf(StartsWith("tiny.cu:15:27:"),
                    HasSubstr("cannot use \"splits\", which is known only at launch")));
}

TEST(FrontMatterError, Structs) {
  EXPECT_THAT(broken("struct TinyConfig {  //@ config", "struct TinyConfig {"),
              HasSubstr("the struct of \"tile_m\" is not marked as the config struct; write "
                        "\"struct Name {  //@ config\""));
  EXPECT_THAT(broken("  int tile_n; ", "  int tile_n, other; "),
              AllOf(StartsWith("tiny.cu:13:"), HasSubstr("declaration of one field: int name;")));
  EXPECT_THAT(broken("  int tile_n; ", "  long tile_n; "), HasSubstr("tile_n has the type long"));
  EXPECT_THAT(broken("  int smem_bytes; ", "  int more;\n  int smem_bytes; "),
              AllOf(StartsWith("tiny.cu:11:8:"),
                    HasSubstr("the field \"more\" of TinyConfig has no value; write \"//@ tune "
                              "...\" or \"//@ let ...\" after \"int more;\"")));
  EXPECT_THAT(broken("tune 32* 64", "config"),
              HasSubstr("\"config\" belongs to a struct, not to a field"));
  EXPECT_NO_THROW((void)KernelTemplate::parse(
      "tiny.cu",
      replaced("  int tile_n; ", "  static constexpr int kLanes = 32;\n  int tile_n; ")));
}

// The old form, from before fields carried their own values, is shown in the new form.
TEST(FrontMatterError, TheOldFormIsShownAsTheNew) {
  EXPECT_EQ(broken("//@ arch       sm >= 75", "//@ tune       tile_k = 8 16*   // depth"),
            "tiny.cu:5:5: \"tune\" belongs in the line that declares the field of the config "
            "struct; write "
            "\"int tile_k;  //@ tune 8 16*\" there, and remove this line\n"
            "  //@ tune       tile_k = 8 16*   // depth\n"
            "      ^");
  EXPECT_THAT(broken("//@ arch       sm >= 75", "//@ config     TinyConfig"),
              HasSubstr("write \"struct TinyConfig {  //@ config\" there, and remove this line"));
  EXPECT_THAT(broken("//@ arch       sm >= 75", "//@ tune 8 16"),
              HasSubstr("after the declaration of one field: int name;  //@ tune 8 16"));
}

TEST(FrontMatter, PreferencesAndPriority) {
  const auto none = KernelTemplate::parse("tiny.cu", std::string(kTinyTemplate));
  EXPECT_EQ(none.priority_text(), "0");
  EXPECT_TRUE(none.space_spec().preferences.empty());
  const auto made = KernelTemplate::parse(
      "tiny.cu", replaced("//@ workspace",
                          "//@ prefer m < 64 || tile_m >= 64   // enough reuse\n"
                          "//@ priority m >= 64 ? 100 : 1 / (k - 64)\n"
                          "//@ workspace"));
  ASSERT_EQ(made.space_spec().preferences.size(), 1U);
  EXPECT_EQ(made.space_spec().preferences[0].condition.text(), "m < 64 || tile_m >= 64");
  EXPECT_EQ(made.space_spec().preferences[0].message, "enough reuse");
  const auto limits = limits_of_arch("90a").value();
  const auto priority = [&](std::int64_t m) {
    return made.priority(to_problem(Gemm::of(DType::f16, m, 64, 64)), limits);
  };
  EXPECT_EQ(priority(64), 100);
  EXPECT_EQ(priority(32), 0) << "undefined";
  EXPECT_THAT(broken("//@ workspace", "//@ priority tile_m\n//@ workspace"),
              AllOf(StartsWith("tiny.cu:25:14: "), HasSubstr("\"tile_m\"")));
  EXPECT_THAT(broken("//@ workspace", "//@ priority 1\n//@ priority 2\n//@ workspace"),
              HasSubstr("two \"priority\" lines"));
}

TEST(FrontMatterError, Types) {
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16|b16 b=a"),
              AllOf(StartsWith("tiny.cu:6:22:"), HasSubstr("\"b16\"")));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16| b=a"), HasSubstr("\"\" is neither"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16 bb=a"), HasSubstr("no type slot \"bb\""));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16 a=f16"), HasSubstr("given twice"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16"), HasSubstr("the type of \"b\" is missing"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=b b=a"), HasSubstr("refer only to each other"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a b=a"), HasSubstr("slot=type"));
}

TEST(FrontMatterLines, WhatWasToBeCheckedIsNoDescription) {
  const auto lines = read_front_matter("k.cu",
                                       "//@ require a  // CHECK: extents; inout\n"
                                       "//@ require b  // of a row; CHECK: CHECKED\n"
                                       "//@ require c\n//@     // CHECK: more\n"
                                       "//@     // of this\n//@ require d  // checked\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].comment, "");
  EXPECT_EQ(lines[1].comment, "of a row;");
  EXPECT_EQ(lines[2].comment, "");
  EXPECT_EQ(lines[3].comment, "checked");
}

}  // namespace
}  // namespace kiln
