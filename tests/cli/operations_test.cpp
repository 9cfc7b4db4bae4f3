// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The list of operations, and what one of them consists of.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/golden.hpp"
#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

TEST(Operations, AreListed) {
  const Sandbox sandbox;
  expect_golden("operations", sandbox, sandbox.run({"operations"}));
}

TEST(Operations, OneIsExplained) {
  const Sandbox sandbox;
  expect_golden("operations_gemm", sandbox, sandbox.run({"operations", "gemm"}));
}

TEST(Operations, TheDocumentHasTheSame) {
  const Sandbox sandbox;
  const auto all = nlohmann::json::parse(sandbox.run({"operations", "--json"}).out);
  const auto gemm = nlohmann::json::parse(sandbox.run({"operations", "gemm", "--json"}).out);
  EXPECT_EQ(all["kiln"], "operations");
  EXPECT_EQ(gemm["kiln"], "operation");
  ASSERT_EQ(all["operations"].size(), 1U);
  EXPECT_EQ(all["operations"][0]["operands"], gemm["operands"]);
  EXPECT_EQ(gemm["sizes"][0]["name"], "m");
  EXPECT_EQ(gemm["operands"][2]["when"], "reads_c");
  EXPECT_GT(gemm["templates"].size(), 5U);
}

/// The text of a file of the source tree.
std::string source_text(const std::string& file) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/" + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// What docs/reference/operations.md has as its example.
std::string softmax_of_the_documentation() {
  const std::string page = source_text("docs/reference/operations.md");
  const auto begin = page.find("//@ operation  softmax");
  return page.substr(begin, page.find("```", begin) - begin);
}

TEST(Operations, WhatCannotBeReadOfTheTemplatePathIsNamedOnce) {
  const Sandbox sandbox;
  sandbox.write("softmax.cu", softmax_of_the_documentation());
  std::filesystem::create_symlink("loop.cu", sandbox.folder() / "loop.cu");
  const auto run = sandbox.run({"operations", "softmax", "--template-path", "."});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const auto at = run.err.find(
      "Kiln ignores the file or folder ./loop.cu, because Kiln cannot read it: Too many levels");
  ASSERT_NE(at, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("loop.cu", at + 50), std::string::npos) << run.err;
}

TEST(Operations, OneOfAUserIsExplained) {
  const Sandbox sandbox;
  sandbox.write("softmax.cu", softmax_of_the_documentation());
  const Words path{"--template-path", "."};
  expect_golden("operations_softmax", sandbox, sandbox.run(with({"operations", "softmax"}, path)));
  const auto listed = sandbox.run(with({"operations"}, path));
  EXPECT_NE(listed.out.find("softmax"), std::string::npos) << listed.out << listed.err;
  const auto json =
      nlohmann::json::parse(sandbox.run(with({"operations", "softmax", "--json"}, path)).out);
  EXPECT_EQ(json["file"], "./softmax.cu");
  EXPECT_EQ(json["types"][0]["types"], nlohmann::json({"f32", "f16", "bf16"}));
  EXPECT_EQ(json["scalars"][0]["value"], 1.0);
  EXPECT_EQ(json["operands"][0]["fill"], "normal");
  EXPECT_EQ(json["reference"]["right"]["y"], "bound 64 + cols / 1024 of f32");
  EXPECT_EQ(json["reference"]["ragged"][1]["cols"], 33);
  EXPECT_EQ(json["reference"]["args"], "x.f64, y.f64, rows, cols, scale");
}

TEST(Operations, RowsThatLieApartAreExplained) {
  const Sandbox sandbox;
  sandbox.write("transpose.cu", source_text("examples/operations/transpose/transpose.cu"));
  const Words path{"--template-path", "."};
  expect_golden("operations_transpose", sandbox,
                sandbox.run(with({"operations", "transpose"}, path)));
  const auto json =
      nlohmann::json::parse(sandbox.run(with({"operations", "transpose", "--json"}, path)).out);
  EXPECT_FALSE(json["sizes"][0].contains("default"));
  EXPECT_EQ(json["sizes"][2]["default"], "cols");
  EXPECT_EQ(json["operands"][0]["ld"], "ldx");
  EXPECT_EQ(json["operands"][0]["align"], "align_x");
  EXPECT_FALSE(json["reference"].contains("checker"));
}

TEST(Operations, CheckersAndPartsAreExplained) {
  const Sandbox sandbox;
  sandbox.write("greatest.cu", source_text("tests/compile/operations/greatest/greatest.cu"));
  const Words path{"--template-path", "."};
  expect_golden("operations_greatest", sandbox,
                sandbox.run(with({"operations", "greatest"}, path)));
  const auto json =
      nlohmann::json::parse(sandbox.run(with({"operations", "greatest", "--json"}, path)).out);
  const auto& reference = json["reference"];
  EXPECT_FALSE(reference.contains("kernel")) << "a checker judges all results";
  EXPECT_EQ(reference["checker"]["kernel"], "greatest_checker<x>");
  EXPECT_EQ(reference["checker"]["args"], "x, place, rows, cols, ldx, wrong, first_wrong");
  EXPECT_EQ(reference["independent"], "rows");
  EXPECT_EQ(reference["right"]["place"], "checker");
}

TEST(Operations, ScriptsGetNamesAndFlags) {
  const Sandbox sandbox;
  sandbox.write("softmax.cu", softmax_of_the_documentation());
  const Words path{"--template-path", "."};
  EXPECT_EQ(sandbox.run({"operations", "--names"}).out, "gemm\n");
  EXPECT_EQ(sandbox.run(with({"operations", "--names"}, path)).out, "gemm\nsoftmax\n");
  const auto flags = sandbox.run(with({"operations", "softmax", "--flags"}, path));
  EXPECT_EQ(flags.exit_code, 0) << flags.err;
  for (const char* line : {"--rows\t", "--cols\t", "--dtype\t", "--x\t", "--scale\t"}) {
    EXPECT_NE(flags.out.find(line), std::string::npos) << flags.out;
  }
  EXPECT_NE(flags.out.find("--x\tType of x (default f32)\tf16 bf16 "), std::string::npos)
      << flags.out;
  EXPECT_EQ(flags.out.find("--m\t"), std::string::npos) << flags.out;
  const auto of_gemm = sandbox.run({"operations", "gemm", "--flags"});
  EXPECT_EQ(of_gemm.out.find("--m\t"), 0U) << of_gemm.out;
  EXPECT_EQ(sandbox.run({"operations", "--flags"}).exit_code, 2);
}

TEST(Operations, AFaultyDeclarationIsExplained) {
  const Sandbox sandbox;
  sandbox.write("bad.cu", "//@ operation  bad\n//@ purpse     A typing error.\n");
  const auto run = sandbox.run({"operations", "bad", "--template-path", "."});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  EXPECT_NE(run.err.find("bad.cu:2:5: unknown key \"purpse\" of an operation"), std::string::npos)
      << run.err;
}

TEST(Operations, ANameThatIsNoneIsExplained) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"operations", "gem"});
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_NE(run.err.find("gem is unknown; the only choice is gemm"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace kiln::cli
