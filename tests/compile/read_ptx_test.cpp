// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Reads the PTX that NVRTC generates from the catalog: each template with all its types, and the
// verification kernels. Needs NVRTC, but no GPU.

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/full_catalog.hpp"
#include "tests/support/gemm_arguments.hpp"
#include "tests/support/row_gemm.hpp"

namespace kiln {
namespace {

class ReadPtx : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      compiler_ = make_nvrtc_compiler("", SystemHeaders::precompile);
    } catch (const Error& error) {
      GTEST_SKIP() << "no NVRTC here: " << error.what();
    }
  }

  /// Compiles to PTX, reads it, and expects all kernels, with most of their lines known.
  void read(CompileRequest request) {
    request.code = CodeKind::ptx;
    const CompileResult result = compiler_->compile(request);
    ASSERT_TRUE(result.ok) << request.source_name << "\n" << result.log;
    // NVRTC's C string may include its terminator.
    std::string_view text(reinterpret_cast<const char*>(result.cubin.data()), result.cubin.size());
    text = text.substr(0, text.find('\0'));
    const ptx::Module module = ptx::read_module(text);
    EXPECT_FALSE(module.target.empty());
    ASSERT_FALSE(result.lowered_names.empty());
    for (const std::string& name : result.lowered_names) {
      const ptx::Function* kernel = module.find(name);
      ASSERT_NE(kernel, nullptr) << name;
      EXPECT_TRUE(kernel->entry && kernel->defined) << name;
      ASSERT_FALSE(kernel->body.empty()) << name;
      // NVRTC gives line 0 to code that belongs to no line, the merged tails of branches say.
      std::size_t placed = 0;
      for (const auto& in : kernel->body) {
        EXPECT_GT(in.origin.file, 0) << name << ": " << ptx::text_of(*kernel, in);
        placed += in.origin.line > 0 ? 1U : 0U;
      }
      EXPECT_GT(placed * 4, kernel->body.size() * 3) << name;
    }
    ++kernels_;
  }

  std::unique_ptr<Compiler> compiler_;
  int kernels_ = 0;
};

// Usually one type of the first row: what others differ in is executed elsewhere, where it is read
// as well.
TEST_F(ReadPtx, EveryTemplate) {
  const auto limits = limits_of_arch("sm_90a");
  ASSERT_TRUE(limits);
  for (const auto& kernel : Catalog::builtin().templates()) {
    for (const auto& choice : testing::type_choices(kernel)) {
      const bool is_left_out = choice.turn != 0 || choice.row != &kernel.type_rows().front();
      if (is_left_out && !testing::full_catalog()) continue;
      Gemm gemm = testing::gemm_of_row(*choice.row, choice.turn, Storage::n, Storage::n, 16, true);
      gemm.m = 992;
      gemm.n = 704;
      gemm.k = 320;
      const Problem problem = to_problem(testing::supported_gemm(kernel, gemm, *limits));
      ASSERT_FALSE(kernel.why_unsupported(problem, *limits)) << kernel.name();
      const auto config = kernel.space(problem, *limits).default_config();
      ASSERT_TRUE(config) << kernel.name();
      const auto rendered = render(Catalog::builtin(), kernel, *config, problem, *limits);
      CompileRequest request = testing::request_of(rendered, limits->arch, CodeKind::ptx);
      request.source_name = kernel.file();
      read(std::move(request));
    }
  }
  RecordProperty("read", kernels_);
  EXPECT_GE(kernels_, 8);
}

TEST_F(ReadPtx, VerificationKernels) {
  const auto& files = embedded_files();
  const auto source = files.find("support/verify.cu");
  ASSERT_NE(source, files.end());
  CompileRequest request;
  request.source = inline_headers(files, "support/verify.cu", source->second);
  request.source_name = "verify.cu";
  request.plain_names = {"kiln_fill_random",     "kiln_absolute",       "kiln_convert",
                         "kiln_compare",         "kiln_compare_detail", "kiln_count_mismatch",
                         "kiln_count_difference"};
  request.arch = "sm_90a";
  read(std::move(request));
}

}  // namespace
}  // namespace kiln
