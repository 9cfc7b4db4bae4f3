// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The exported file is what plain nvcc compiles. Skipped where there is no nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "templates/gemm_problem.hpp"
#include "templates/renderer.hpp"
#include "tests/support/nvcc.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

void expect_compiles(const KernelTemplate& kernel_template, const Catalog& catalog,
                     const Problem& problem) {
  const std::string nvcc = testing::find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc here";
  const auto limits = limits_of_arch("80").value();
  ASSERT_EQ(kernel_template.why_unsupported(problem, limits), std::nullopt);
  const auto config = kernel_template.space(problem, limits).default_config().value();
  const auto rendered = render(catalog, kernel_template, config, problem, limits);

  const test::TemporaryFolder folder;
  folder.write("kernel.cu", export_text(rendered, kernel_template, problem, limits));
  const auto object = folder.path() + "/kernel.o";
  const auto command = fmt::format("{} -std=c++20 -arch=sm_80 -c {}/kernel.cu -o {} 2>&1", nvcc,
                                   folder.path(), object);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  // The kernel is in there, ready to be launched by name.
  std::ifstream stream(object, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_NE(bytes.find(".text._Z"), std::string::npos);
  EXPECT_NE(bytes.find(kernel_template.config_type()), std::string::npos);
}

TEST(Export, BuiltinCompilesWithPlainNvcc) {
  const auto& catalog = Catalog::builtin();
  expect_compiles(catalog.at("gemm_wmma"), catalog, to_problem(Gemm::of(DType::f16, 100, 72, 64)));
}

TEST(Export, DocumentedExampleCompilesWithPlainNvcc) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/docs/writing-templates.md");
  const std::string page((std::istreambuf_iterator<char>(stream)), {});
  const auto begin = page.find("```cuda\n") + 8;
  const test::TemporaryFolder folder;
  folder.write("gemm_dot.cu", page.substr(begin, page.find("```", begin) - begin));
  const auto catalog = Catalog::with_directories({folder.path()});
  auto gemm = Gemm::of(DType::bf16, 8, 8, 4096);
  gemm.reads_c = true;
  expect_compiles(catalog.at("gemm_dot"), catalog, to_problem(gemm));
}

TEST(Export, KernelsAsTheyAreCompileWithPlainNvcc) {
  const test::TemporaryFolder folder;
  folder.write("row_scale.cu", test::kRowOperation);
  folder.write("row_plain.cu", test::kRowTemplate);
  const auto catalog = Catalog::with_directories({folder.path()});
  expect_compiles(catalog.at("row_plain"), catalog, test::row_problem(3, 5));
}

}  // namespace
}  // namespace kiln
