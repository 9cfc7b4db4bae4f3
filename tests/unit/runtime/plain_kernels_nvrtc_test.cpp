// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernels as they are, compiled by NVRTC as a search compiles them. It needs no GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/nvrtc_compiler.hpp"
#include "templates/compile_diagnosis.hpp"
#include "templates/renderer.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PlainKernelsNvrtcTest : public ::testing::Test {
 protected:
  /// The template with one piece of its text replaced, compiled for a problem.
  CompileResult compile(const Problem& problem, const std::string& from = "",
                        const std::string& to = "") {
    std::string text(test::kRowTemplate);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    folder_.write("row_plain.cu", text);
    folder_.write("row_scale.cu", test::kRowOperation);
    catalog_ = std::make_unique<Catalog>(Catalog::with_directories({folder_.path()}));
    const Config config{{"block_size", 64}, {"shift", -1}};
    const auto rendered =
        render(*catalog_, row_plain(), config, problem, limits_of_arch("90a").value());
    CompileRequest request;
    request.source = rendered.text;
    request.source_name = "row_plain.cu";
    request.name_expressions = rendered.name_expressions;
    request.arch = "sm_90a";
    return compiler_->compile(request);
  }
  const KernelTemplate& row_plain() const { return catalog_->at("row_plain"); }

  const test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  const std::unique_ptr<Compiler> compiler_ = make_nvrtc_compiler();
};

TEST_F(PlainKernelsNvrtcTest, NamesOfExternCAndOfTemplates) {
  const auto result = compile(test::row_problem(3, 5));
  ASSERT_TRUE(result.ok) << result.log;
  ASSERT_EQ(result.lowered_names.size(), 2U);
  EXPECT_EQ(result.lowered_names[0], "fill_sums") << "extern \"C\" is not mangled";
  EXPECT_THAT(result.lowered_names[1], StartsWith("_ZN4mine10scale_rowsI6__halffLi64ELi63EE"));
  EXPECT_EQ(why_wrong_parameters(row_plain(), result.lowered_names), "");
}

TEST_F(PlainKernelsNvrtcTest, AMangledKernelWithoutTemplateArguments) {
  const auto result = compile(test::row_problem(3, 5, DType::f32), "extern \"C\" ", "");
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_THAT(result.lowered_names[0], StartsWith("_Z9fill_sumsPi"));
  EXPECT_EQ(why_wrong_parameters(row_plain(), result.lowered_names), "");
}

TEST_F(PlainKernelsNvrtcTest, MistakesAreExplained) {
  const auto problem = test::row_problem(3, 5);
  auto result = compile(problem, "int cols, float scale", "float scale, int cols");
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_THAT(why_wrong_parameters(row_plain(), result.lowered_names),
              HasSubstr("argument 4 of mine::scale_rows, \"cols\", is an integer of 4 bytes, but "
                        "the parameter is \"float\""));
  result = compile(problem, ", int kMore>", ">");
  ASSERT_FALSE(result.ok);
  EXPECT_THAT(explain_compile_log(row_plain(), result.log),
              HasSubstr("the launch gives the kernel scale_rows 4 template arguments"));
  result = compile(problem, "launch     fill_sums", "launch     fill_sum");
  ASSERT_FALSE(result.ok);
  EXPECT_THAT(explain_compile_log(row_plain(), result.log),
              HasSubstr("the launch names the kernel \"fill_sum\""));
}

}  // namespace
}  // namespace kiln
