// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a template file may say, and how errors in it are reported.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/kernel_template.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

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
  EXPECT_EQ(tiny.config_type(), "TinyConfig");
  EXPECT_EQ(tiny.file(), "tiny.cu");
  EXPECT_EQ(tiny.source(), kTinyTemplate);
  EXPECT_EQ(tiny.arch_text(), "sm >= 75");
  ASSERT_EQ(tiny.tunables().size(), 2U);
  EXPECT_EQ(tiny.tunables()[0].name, "tile_m");
  EXPECT_THAT(tiny.tunables()[0].values, ElementsAre(32, 64, 128));
  EXPECT_EQ(tiny.tunables()[0].default_value, 64);
  EXPECT_EQ(tiny.tunables()[0].comment, "rows of a block");
  EXPECT_EQ(tiny.tunables()[1].comment, "");
  ASSERT_EQ(tiny.derived().size(), 2U);
  EXPECT_EQ(tiny.derived()[0].value.text(), "tile_m * tile_n / 16");
  EXPECT_EQ(tiny.derived()[0].comment, "a thread has 16 elements");
  ASSERT_EQ(tiny.requirements().size(), 3U);
  EXPECT_EQ(tiny.requirements()[0].message, "of a block");
  ASSERT_EQ(tiny.type_rows().size(), 2U);
  const auto& d = tiny.type_rows()[0].slots[3];
  EXPECT_EQ(d.name, "d");
  EXPECT_THAT(d.allowed, ElementsAre(DType::f32));
  EXPECT_THAT(d.same_as, ElementsAre("a"));
  ASSERT_EQ(tiny.launches().size(), 1U);
  EXPECT_EQ(tiny.launches()[0].kernel, "tiny");
  EXPECT_EQ(tiny.launches()[0].grid.size(), 2U);
  EXPECT_EQ(tiny.launches()[0].line, 16);
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
  EXPECT_EQ(tiny.requirements()[2].message, "loads are 4 bytes wide");
  EXPECT_NO_THROW((void)KernelTemplate::parse("tiny.cu", replaced("tune       ", "tune\t")));
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
  EXPECT_EQ(two.cost_lines()[0].line, 20);
  EXPECT_EQ(two.cost_lines()[1].name, "waits");
  // They are no part of what is compiled in.
  EXPECT_EQ(two.derived().size(), none.derived().size());
}

TEST(FrontMatterError, Costs) {
  const auto with = [](const std::string& text) {
    return broken("//@ workspace  m * 4", "//@ cost fp32 = k\n//@ cost " + text);
  };
  EXPECT_THAT(with("isues = k"),
              AllOf(StartsWith("tiny.cu:21:10:"), HasSubstr("unknown cost"),
                    HasSubstr("did you mean \"issues\"?"), HasSubstr("there are: tensor fp32")));
  EXPECT_THAT(with("fp32 = m"),
              AllOf(StartsWith("tiny.cu:21:10:"), HasSubstr("a second cost \"fp32\"")));
  EXPECT_THAT(with("waits = tile_q"),
              AllOf(StartsWith("tiny.cu:21:18:"), HasSubstr("unknown name \"tile_q\"")));
  EXPECT_THAT(with("waits"), HasSubstr("a cost is written \"name = expression\""));
  EXPECT_THAT(with("= 4"), HasSubstr("a name is expected"));
}

TEST(FrontMatterError, PointsAtThePlace) {
  EXPECT_EQ(broken("ceil_div(m, tile_m)", "ceil_div(m, tile_q)"),
            "tiny.cu:17:49: unknown name \"tile_q\"; did you mean \"tile_m\"?\n"
            "  //@   grid     ceil_div(n, tile_n), ceil_div(m, tile_q)\n"
            "                                                  ^");
}

TEST(FrontMatterError, WholeFile) {
  const auto text = [](const char* source) {
    return error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("x.cu", source); });
  };
  EXPECT_THAT(text(""), AllOf(StartsWith("x.cu:1:1:"), HasSubstr("no front matter")));
  EXPECT_THAT(text("int a;\n //@ template x\n"), HasSubstr("no front matter"));
  for (const auto* key : {"template", "purpose", "operation", "config", "types", "launch"}) {
    std::string source(kTinyTemplate);
    const auto mark = fmt::format("//@ {} ", key);
    for (auto at = source.find(mark); at != std::string::npos; at = source.find(mark)) {
      source.erase(at, source.find('\n', at) - at + 1);
    }
    EXPECT_THAT(text(source.c_str()), HasSubstr(fmt::format("no \"//@ {}\" line", key)));
  }
}

TEST(FrontMatterError, Keys) {
  EXPECT_THAT(broken("//@ require    tile_m", "//@ requires   tile_m"),
              AllOf(StartsWith("tiny.cu:14:5:"), HasSubstr("did you mean \"require\"?")));
  EXPECT_THAT(broken("//@ workspace  m * 4", "//@ workspace  m\n//@ workspace 4"),
              AllOf(StartsWith("tiny.cu:21:5:"), HasSubstr("a second \"workspace\"")));
  EXPECT_THAT(broken("//@ arch       sm >= 75", "//@ arch  // any"), HasSubstr("needs a value"));
  EXPECT_THAT(broken("//@ launch     tiny\n", ""), HasSubstr("no \"//@ launch\" line"));
  EXPECT_THAT(broken("//@ template   tiny", "//@ grid 1\n//@ template tiny"),
              AllOf(StartsWith("tiny.cu:2:5:"), HasSubstr("below a \"launch\"")));
  EXPECT_THAT(broken("//@   block    threads", "//@   smem 4"), HasSubstr("a second \"smem\""));
  EXPECT_THAT(broken("//@   block    threads\n", ""), HasSubstr("no \"block\" line"));
  EXPECT_THAT(broken("//@   block    threads", "//@ block 1, 2, 3, 4"), HasSubstr("at most three"));
  EXPECT_THAT(broken("//@   block    threads", "//@ block 32,"), HasSubstr("is missing"));
  EXPECT_THAT(broken("//@   block    threads", "//@ grid 32"), HasSubstr("a second \"grid\""));
}

TEST(FrontMatterError, Heads) {
  EXPECT_THAT(broken("template   tiny", "template   ti-ny"), HasSubstr("a template's name"));
  EXPECT_THAT(broken("operation  gemm", "operation  gem"), HasSubstr("did you mean \"gemm\"?"));
  EXPECT_THAT(broken("TinyConfig", "kiln::TinyConfig"), HasSubstr("global scope"));
  EXPECT_THAT(broken("launch     tiny", "launch     tiny<1>"), HasSubstr("name of a kernel"));
}

TEST(FrontMatterError, Tunables) {
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m 32"), HasSubstr("name = value"));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m = "), HasSubstr("at least one value"));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m = 32 32"), HasSubstr("listed twice"));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m = 32* 64*"),
              AllOf(StartsWith("tiny.cu:9:29:"), HasSubstr("a second default")));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m = 32,64"), HasSubstr("\"32,64\""));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "tile_m = 4294967296"), HasSubstr("32-bit"));
  EXPECT_THAT(broken("tile_m = 32 64* 128", "= 32"), HasSubstr("a name is expected"));
  EXPECT_THAT(broken("tile_n = 32* 64", "tile_m = 1"), HasSubstr("already means something"));
  EXPECT_THAT(broken("tile_n = 32* 64", "trans_a = 1"), HasSubstr("already means something"));
  EXPECT_THAT(broken("tile_n = 32* 64", "m = 1"), HasSubstr("already means something"));
}

TEST(FrontMatterError, Lets) {
  EXPECT_THAT(broken("threads = tile_m * tile_n / 16", "threads = min(tile_m, m)"),
              AllOf(StartsWith("tiny.cu:11:38:"), HasSubstr("cannot depend on the size \"m\"")));
  EXPECT_THAT(broken("threads = tile_m * tile_n / 16", "threads = smem_bytes"),
              HasSubstr("unknown name \"smem_bytes\""));
  EXPECT_THAT(broken("threads = tile_m * tile_n / 16", "threads"), HasSubstr("name = expression"));
  EXPECT_THAT(broken("threads = tile_m * tile_n / 16", "threads ="), HasSubstr("is missing"));
  EXPECT_THAT(broken("let        smem_bytes", "let        threads"),
              HasSubstr("already means something"));
  EXPECT_THAT(broken("sm >= 75", "tile_m >= 75"), HasSubstr("unknown name \"tile_m\""));
}

TEST(FrontMatterError, Types) {
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16|b16 b=a"),
              AllOf(StartsWith("tiny.cu:7:22:"), HasSubstr("\"b16\" is neither")));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16| b=a"), HasSubstr("\"\" is neither"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16 bb=a"), HasSubstr("no type slot \"bb\""));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16 a=f16"), HasSubstr("given twice"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=f16"), HasSubstr("the type of \"b\" is missing"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a=b b=a"), HasSubstr("only refer back"));
  EXPECT_THAT(broken("a=f16|bf16 b=a", "a b=a"), HasSubstr("slot=type"));
}

}  // namespace
}  // namespace kiln
