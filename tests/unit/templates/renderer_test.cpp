// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/renderer.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "templates/digest.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kTinyTemplate;
using test::TemporaryFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kHelper =
    "#pragma once\n"
    "#include <mma.h>\n"
    "#if !defined(KILN_RENDERED)\n"
    "#include <cuda_fp16.h>\n"
    "#endif\n"
    "namespace kiln { struct GemmArgs { int m; }; }\n";

class RendererTest : public ::testing::Test {
 protected:
  RendererTest() {
    folder_.write("tiny.cu", kTinyTemplate);
    folder_.write("helper.cuh", kHelper);
    catalog_.emplace(Catalog::with_directories({folder_.path()}));
  }
  const KernelTemplate& tiny() const { return catalog_->at("tiny"); }
  RenderedKernel render_tiny(const Config& config, const Problem& problem) const {
    return render(*catalog_, tiny(), config, problem, limits_);
  }

  TemporaryFolder folder_;
  std::optional<Catalog> catalog_;
  DeviceLimits limits_ = limits_of_arch("90a").value();
  Problem problem_ = to_problem(Gemm::of(DType::f16, 100, 70, 64));
  Config config_{{"tile_m", 64}, {"tile_n", 32}};
};

// Candidates that differ in nothing else share one cubin.
TEST_F(RendererTest, WhatIsKnownAtLaunchOnlyIsInNoText) {
  std::string text(kTinyTemplate);
  text.insert(text.find("//@ require"),
              "struct TinyLaunch {  //@ at launch\n  int splits;  //@ tune 1* 2\n};\n");
  folder_.write("tiny.cu", text);
  catalog_.emplace(Catalog::with_directories({folder_.path()}));
  Config two = config_;
  config_.set("splits", 1);
  two.set("splits", 2);
  const auto first = render_tiny(config_, problem_);
  const auto second = render_tiny(two, problem_);
  EXPECT_EQ(first.text, second.text);
  EXPECT_EQ(first.digest, second.digest);
  EXPECT_EQ(second.config, two);
  EXPECT_THAT(first.text, HasSubstr("// config   tile_m=64 tile_n=32\n"));
  EXPECT_THAT(export_text(second, tiny(), problem_, limits_),
              HasSubstr("one kiln::GemmArgs as the argument, then TinyLaunch{.splits = 2}:"));
}

TEST_F(RendererTest, GoldenText) {
  const auto rendered = render_tiny(config_, problem_);
  const std::string_view front = kTinyTemplate.substr(0, kTinyTemplate.find("#include"));
  const std::string_view rest =
      kTinyTemplate.substr(kTinyTemplate.find("#include \"helper.cuh\"\n") + 22);
  const auto expected = fmt::format(
      "// Rendered by Kiln.\n"
      "// template tiny {}\n"
      "// config   tile_m=64 tile_n=32\n"
      "// types    a=f16 b=f16 c=f16 d=f16 acc=f32\n"
      "// traits   trans_a=0 trans_b=0 align_a=16 align_b=4 align_c=4 align_d=4 reads_c=0\n"
      "// arch     sm_90a\n"
      "// kernel   {}\n"
      "#define KILN_RENDERED 1\n"
      "#define KILN_USES_F16 1\n"
      "#include <cuda_fp16.h>\n"
      "#include <mma.h>\n"
      "#if defined(__CUDACC_RTC__)\n"
      "#pragma nv_hdrstop\n"
      "#endif\n"
      "#line 1 \"tiny.cu\"\n"
      "{}"
      "#line 1 \"helper.cuh\"\n"
      "\n\n\n\n\n"
      "namespace kiln {{ struct GemmArgs {{ int m; }}; }}\n"
      "#line 9 \"tiny.cu\"\n"
      "\n"
      "{}",
      catalog_->digest("tiny"), rendered.name_expressions[0], front, rest);
  EXPECT_EQ(rendered.text, expected);
  EXPECT_EQ(rendered.digest, digest_hex(expected));
  EXPECT_EQ(rendered.template_name, "tiny");
  EXPECT_EQ(rendered.template_digest, catalog_->digest("tiny"));
  EXPECT_EQ(rendered.config, config_);
  EXPECT_THAT(rendered.text, Not(HasSubstr(folder_.path())));
}

TEST_F(RendererTest, NameExpressionHasFieldsInOrderThenTypes) {
  EXPECT_THAT(render_tiny(config_, problem_).name_expressions,
              ElementsAre("tiny<TinyConfig{.tile_m = 64, .tile_n = 32, .threads = 128, "
                          ".smem_bytes = 4096}, __half, __half, __half, __half, float>"));
}

TEST_F(RendererTest, OnlyTheHeadersOfTheTypesInUse) {
  const auto doubles = render_tiny(config_, to_problem(Gemm::of(DType::f64, 64, 64, 64)));
  EXPECT_THAT(doubles.text, AllOf(Not(HasSubstr("#include <cuda_")), Not(HasSubstr("KILN_USES_"))));
  auto mixed = Gemm::of(DType::bf16, 64, 64, 64);
  mixed.c = mixed.d = DType::f32;
  const auto bf16 = render_tiny(config_, to_problem(mixed));
  EXPECT_THAT(bf16.text, AllOf(HasSubstr("#define KILN_USES_BF16 1\n#include <cuda_bf16.h>\n"),
                               Not(HasSubstr("cuda_fp16"))));
}

TEST_F(RendererTest, DependsOnKindAndConfigNotOnSizes) {
  const auto first = render_tiny(config_, problem_);
  const auto larger = to_problem(Gemm::of(DType::f16, 1000, 710, 640));
  EXPECT_NE(larger.sizes, problem_.sizes);
  ASSERT_EQ(larger.kind_text(), problem_.kind_text());
  EXPECT_EQ(render_tiny(config_, larger).digest, first.digest);
  EXPECT_NE(render_tiny({{"tile_m", 32}, {"tile_n", 32}}, problem_).digest, first.digest);
}

TEST_F(RendererTest, RefusesWhatIsNotValid) {
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)render_tiny({{"tile_m", 32}, {"tile_n", 64}}, problem_);
                         }),
              HasSubstr("tile_m >= tile_n"));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)render_tiny({{"tile_m", 31}, {"tile_n", 32}}, problem_);
                         }),
              HasSubstr("tile_m cannot be 31"));
  EXPECT_THAT(
      error_text(ErrorKind::usage,
                 [&] { (void)render_tiny(config_, to_problem(Gemm::of(DType::s8, 64, 64, 64))); }),
      HasSubstr("a=s8"));
}

TEST_F(RendererTest, ExportAddsInstancesAndLaunches) {
  const auto rendered = render_tiny(config_, problem_);
  const auto text = export_text(rendered, tiny(), problem_, limits_);
  EXPECT_THAT(text, HasSubstr(rendered.text));
  EXPECT_THAT(
      text,
      StartsWith(
          "// Compile with\n//   nvcc -std=c++20 -gencode arch=compute_90a,code=sm_90a -c tiny.cu\n"
          "// Launch for gemm m=100 n=70 k=64"));
  EXPECT_THAT(text, HasSubstr("grid 3 x 2 x 1  block 128 x 1 x 1  dynamic shared memory 4096"));
  EXPECT_THAT(text, HasSubstr("Workspace: 400 bytes"));
  EXPECT_THAT(text, HasSubstr(rendered.digest));
  EXPECT_THAT(text, Not(HasSubstr("cudaFuncAttribute")));
  EXPECT_THAT(text, EndsWith(fmt::format("kiln_kernel_0 = &{};\n}}  // namespace\n",
                                         rendered.name_expressions[0])));
}

TEST_F(RendererTest, IsTheSameFromManyThreads) {
  const auto expected = render_tiny(config_, problem_).digest;
  std::vector<std::string> digests(4);
  std::vector<std::thread> threads;
  for (auto& digest : digests) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) digest = render_tiny(config_, problem_).digest;
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& digest : digests) EXPECT_EQ(digest, expected);
}

TEST(DeviceTypeName, EveryTypeHasOne) {
  EXPECT_EQ(device_type_name(DType::f16), "__half");
  EXPECT_EQ(device_type_name(DType::tf32), "kiln::tf32");
  EXPECT_EQ(device_type_name(DType::s32), "int");
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    EXPECT_FALSE(device_type_name(static_cast<DType>(i)).empty());
  }
}

TEST(BuiltinTemplates, RenderAndPlanForEveryTarget) {
  const auto& catalog = Catalog::builtin();
  int rendered = 0;
  for (const auto& arch : known_archs()) {
    const auto limits = limits_of_arch(arch).value();
    for (const auto type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::s8}) {
      const auto problem = to_problem(Gemm::of(type, 300, 200, 100));
      for (const auto& each : catalog.templates()) {
        if (each.why_unsupported(problem, limits)) continue;
        const auto config = each.space(problem, limits).default_config();
        if (!config) continue;
        const auto kernel = render(catalog, each, *config, problem, limits);
        EXPECT_THAT(export_text(kernel, each, problem, limits), HasSubstr(kernel.text));
        EXPECT_THAT(kernel.text, Not(HasSubstr("#include \"")));
        ++rendered;
      }
    }
  }
  EXPECT_GT(rendered, 50);
}

}  // namespace
}  // namespace kiln
