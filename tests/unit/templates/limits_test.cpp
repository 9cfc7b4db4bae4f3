// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Files and spaces that no one writes by hand: refused with their place, and soon.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <filesystem>
#include <limits>
#include <random>
#include <string>

#include "templates/catalog.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/render/header_inliner.hpp"
#include "templates/space/space_diagram.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"
#include "tests/unit/templates/space_builder.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::range;
using test::SpaceBuilder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Of processor time. Each case here took minutes or for ever.
constexpr double kSoonSeconds = 30.0;

class Limits : public ::testing::Test {
 protected:
  void TearDown() override {
    EXPECT_LT(static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC, kSoonSeconds);
  }

 private:
  std::clock_t start_ = std::clock();
};

/// The tiny template with `lines` as the first of its config struct.
std::string tiny_with(const std::string& lines) {
  std::string text(test::kTinyTemplate);
  return text.insert(text.find("  int tile_m;"), lines);
}

std::string refusal(const std::string& lines) {
  return error_text(ErrorKind::template_,
                    [&] { (void)KernelTemplate::parse("tiny.cu", tiny_with(lines)); });
}

TEST_F(Limits, ValuesOfATunable) {
  std::string line = "  int many;  //@ tune";
  for (int value = 0; value < 300'000; ++value) line += fmt::format(" {}", value);
  const auto text = refusal(line + "\n");
  EXPECT_THAT(text, StartsWith("tiny.cu:12:"));
  EXPECT_THAT(text, HasSubstr("more than 4096 values"));
  EXPECT_LT(text.size(), 600U) << "shows only the part of the line around the place";
}

TEST_F(Limits, TunablesAndLines) {
  std::string tunables;
  for (int i = 0; i < 500; ++i) tunables += fmt::format("  int t{};  //@ tune 1 2\n", i);
  EXPECT_THAT(refusal(tunables),
              AllOf(StartsWith("tiny.cu:76:"), HasSubstr("too many tunables; the limit is 64")));
  std::string lets;
  for (int i = 0; i < 300'000; ++i) lets += fmt::format("  int v{};  //@ let {}\n", i, i);
  EXPECT_THAT(refusal(lets), AllOf(StartsWith("tiny.cu:1029:"), HasSubstr("more than 1024 lines")));
}

TEST_F(Limits, LengthOfAnExpression) {
  std::string sum = "tile_m";
  for (int i = 0; i < 10'000; ++i) sum += " + tile_n";
  EXPECT_THAT(refusal("//@ require    " + sum + " > 0\n"),
              AllOf(StartsWith("tiny.cu:12:16:"), HasSubstr("more than 65536 characters")));
}

/// What is said of the softmax with lines added, of which `line(i)` is one.
template <class Line>
std::string softmax_refusal(int count, const Line& line) {
  std::string text = test::kSoftmaxOperation;
  std::string added;
  for (int i = 0; i < count; ++i) added += line(i) + "\n";
  text.insert(text.find("//@ scalar     scale"), added);
  return error_text(ErrorKind::template_, [&] { (void)Operation::parse("soft.cu", text); });
}

TEST_F(Limits, ValuesOfATrait) {
  std::string line = "//@ trait  many";
  for (int value = 0; value < 100'000; ++value) line += fmt::format(" {}", value);
  const auto text = softmax_refusal(1, [&](int) { return line; });
  EXPECT_THAT(text,
              AllOf(StartsWith("soft.cu:12:"), HasSubstr("the trait has more than 4096 values")));
  EXPECT_LT(text.size(), 600U);
}

TEST_F(Limits, NamesOfAnOperation) {
  EXPECT_THAT(
      softmax_refusal(40, [](int i) { return fmt::format("//@ size s{}", i); }),
      AllOf(StartsWith("soft.cu:42:5: "), HasSubstr("too many \"size\" lines; the limit is 32")));
  EXPECT_THAT(softmax_refusal(40, [](int i) { return fmt::format("//@ trait t{} 0 1", i); }),
              HasSubstr("\"trait\" lines"));
  EXPECT_THAT(softmax_refusal(40, [](int i) { return fmt::format("//@ type t{} f32", i); }),
              HasSubstr("\"type\" lines"));
  EXPECT_THAT(softmax_refusal(40, [](int i) { return fmt::format("//@ scalar c{} f32 = 1", i); }),
              AllOf(StartsWith("soft.cu:44:5: "), HasSubstr("\"scalar\" lines")));
}

TEST_F(Limits, OperandsAreAtMostWhatALibraryLaunches) {
  std::string text("//@ operation  wide\n//@ purpose  Too much\n//@ size n\n//@ flops n\n");
  for (int i = 0; i < 32; ++i) text += fmt::format("//@ type x{} f32\n", i);
  for (int i = 0; i < 32; ++i) text += fmt::format("//@ operand x{} in: n\n", i);
  EXPECT_EQ(Operation::parse("wide.cu", text).operands.size(), kMostOperands);
  text += "//@ operand x0 in: n\n";
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)Operation::parse("wide.cu", text); }),
              AllOf(StartsWith("wide.cu:69:5: "), HasSubstr("\"operand\" lines")));
}

TEST_F(Limits, LengthOfAName) {
  const std::string name(100'000, 'n');
  for (const std::string& line :
       {"//@ size " + name, "//@ trait " + name + " 0 1", "//@ let " + name + " = 1",
        "//@ scalar " + name + " f32 = 1", "//@ type " + name + " f32"}) {
    const auto text = softmax_refusal(1, [&](int) { return line; });
    EXPECT_THAT(text, AllOf(StartsWith("soft.cu:12:"), HasSubstr("more than 128 characters")));
    EXPECT_LT(text.size(), 600U);
  }
  EXPECT_THAT(refusal("  int " + name + ";  //@ tune 1 2\n"),
              AllOf(StartsWith("tiny.cu:12:7: "), HasSubstr("128")));
  const std::string named = test::replaced(std::string(test::kTinyTemplate), "  tiny", "  " + name);
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)KernelTemplate::parse("t.cu", named); }),
              AllOf(StartsWith("t.cu:"), HasSubstr("128")));
}

TEST_F(Limits, NulCharacters) {
  const std::string nul(1, '\0');
  const std::string text = test::replaced(test::kSoftmaxOperation, "template <class X", nul + " <");
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)Operation::parse("soft.cu", text); }),
              AllOf(StartsWith("soft.cu:33:1: "), HasSubstr("NUL character")));
  EXPECT_THAT(refusal("  // " + nul + "\n"), StartsWith("tiny.cu:12:6: "));
  const test::TemporaryFolder folder;
  folder.write("tiny.cu", test::kTinyTemplate);
  folder.write("helper.cuh", "int a;\n" + nul);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)Catalog::with_directories({folder.path()}); }),
      StartsWith("helper.cuh:2:1: "));
}

TEST_F(Limits, SizeOfAFile) {
  const test::TemporaryFolder folder;
  folder.write("tiny.cu", test::kTinyTemplate);
  std::filesystem::resize_file(folder.path() + "/tiny.cu", std::uintmax_t{1} << 30);  // sparse
  const auto load = [&] { (void)Catalog::with_directories({folder.path()}); };
  EXPECT_THAT(error_text(ErrorKind::template_, load), HasSubstr("tiny.cu:1:1: the file is larger"));
  folder.write("tiny.cu", test::kTinyTemplate);
  folder.write("helper.cuh", std::string(kMostFileBytes + 1, '\n'));
  EXPECT_THAT(error_text(ErrorKind::template_, load), HasSubstr("helper.cuh:1:1: the file"));
  folder.write("helper.cuh", std::string(kMostFileBytes, '\n'));
  EXPECT_NO_THROW(load());
}

TEST_F(Limits, SizeOfADirectory) {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 17; ++i) {
    folder.write(fmt::format("h{}.cu", i), std::string(kMostFileBytes, '\n'));
  }
  EXPECT_THAT(
      error_text(ErrorKind::usage, [&] { (void)Catalog::with_directories({folder.path()}); }),
      HasSubstr("too many kernel files; the limits are 4096 files and 64 MiB"));
}

std::string inlined_text(const FileSet& headers, std::string_view source) {
  HeaderInliner inliner(headers, HeaderInliner::Mode::rendered);
  inliner.add("kernel.cu", source);
  return inliner.text();
}

TEST_F(Limits, ConditionalsAreReadInOnePass) {
  std::string text = "#if !defined(KILN_RENDERED)\n";
  for (int i = 0; i < 300'000; ++i) text += "#if 1\n";
  for (int i = 0; i < 300'000; ++i) text += "#endif\n";
  text += "gone\n#else\nkept\n#endif\n";
  const auto result = inlined_text({}, text);
  EXPECT_THAT(result, HasSubstr("\nkept\n"));
  EXPECT_EQ(result.find("gone"), std::string::npos);
  EXPECT_EQ(result.find("#if"), std::string::npos);
}

TEST_F(Limits, SystemIncludesAreReadInOnePass) {
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += fmt::format("#include <cub/header_{}>\n", i);
  HeaderInliner inliner({}, HeaderInliner::Mode::rendered);
  inliner.add("kernel.cu", text);
  EXPECT_EQ(inliner.system_includes().size(), 200'000U);
}

TEST_F(Limits, DepthOfIncludes) {
  FileSet headers;
  for (int i = 0; i < 100'000; ++i) {
    headers.emplace(fmt::format("h{}.cuh", i), fmt::format("#include \"h{}.cuh\"\n", i + 1));
  }
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)inlined_text(headers, "#include \"h0.cuh\"\n"); }),
              AllOf(StartsWith("h198.cuh:1:"), HasSubstr("nested more than 200 levels deep")));
}

/// Sixteen tunables of forty values, which no order of binding separates.
ParamSpace coupled(const std::string& requirement) {
  SpaceBuilder builder;
  for (int i = 0; i < 16; ++i) builder.tune(fmt::format("t{}", i), range(1, 40));
  return builder.require(requirement).build();
}

TEST_F(Limits, TimeToCountASpace) {
  std::string product = "t0";
  for (int i = 1; i < 16; ++i) product += fmt::format(" * {} + t{}", i, i);
  for (const auto& requirement : {"(" + product + ") % 7 == 3", "(" + product + ") % 2 == 9"}) {
    const auto space = coupled(requirement);
    EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)space.count(); }),
                HasSubstr("counting the configurations would take too long"));
  }
}

// The first requirement by itself is beyond the limit; after the second nothing is left to count.
TEST_F(Limits, AnEmptySpaceIsExplainedAllTheSame) {
  SpaceBuilder builder;
  std::string product = "t0";
  for (int i = 0; i < 16; ++i) {
    builder.tune(fmt::format("t{}", i), range(1, 40));
    if (i > 0) product += fmt::format(" * {} + t{}", i, i);
  }
  const auto space = builder.require("(" + product + ") % 7 == 3").require("t0 > 40").build();
  EXPECT_EQ(space.count(), 0U);
  EXPECT_THAT(space.why_empty().value(), HasSubstr("t0 = "));
}

TEST_F(Limits, ValidDefaultsNeedNoCount) {
  std::string sum = "t0";
  for (int i = 1; i < 16; ++i) sum += fmt::format(" + t{}", i);
  const auto space = coupled(sum + " >= 16");
  EXPECT_EQ(space.default_config().value().at("t15"), 1);
  const auto one = space.narrowed({{"t0", {2}},
                                   {"t1", {3}},
                                   {"t2", {1}},
                                   {"t3", {1}},
                                   {"t4", {1}},
                                   {"t5", {1}},
                                   {"t6", {1}},
                                   {"t7", {1}},
                                   {"t8", {1}},
                                   {"t9", {1}},
                                   {"t10", {1}},
                                   {"t11", {1}},
                                   {"t12", {1}},
                                   {"t13", {1}}});
  EXPECT_EQ(one.count(), 1600U);
}

TEST_F(Limits, FreeTunablesAreNoTrouble) {
  SpaceBuilder builder;
  for (int i = 0; i < 64; ++i) builder.tune(fmt::format("t{}", i), range(1, 1024));
  const auto space = builder.build();
  EXPECT_EQ(space.count(), std::numeric_limits<std::uint64_t>::max());
  std::mt19937_64 random(1);
  EXPECT_TRUE(space.sample(random).has_value());
}

}  // namespace
}  // namespace kiln
