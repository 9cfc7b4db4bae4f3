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

#include "templates/operation/gemm_problem.hpp"
#include "templates/render/export_text.hpp"
#include "templates/render/renderer.hpp"
#include "tests/support/nvcc.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

/// The command that the file itself names, typed where the file is.
std::string nvcc_command(const std::string& text) {
  const auto begin = text.find("//   nvcc ");
  EXPECT_NE(begin, std::string::npos) << text;
  return text.substr(begin + 5, text.find('\n', begin) - begin - 5);
}

void expect_compiles(const KernelTemplate& kernel_template, const Catalog& catalog,
                     const Problem& problem, const std::string& arch = "80") {
  const std::string nvcc = testing::find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc here, only NVRTC";
  const auto limits = limits_of_arch(arch).value();
  ASSERT_EQ(kernel_template.why_unsupported(problem, limits), std::nullopt);
  const auto config = kernel_template.space(problem, limits).default_config().value();
  const auto rendered = render(catalog, kernel_template, config, problem, limits);

  const test::TemporaryFolder folder;
  const auto text = export_text_as("my kernel.cu", rendered, kernel_template, problem, limits);
  folder.write("my kernel.cu", text);
  auto command = nvcc_command(text);
  command = fmt::format("cd {} && {}{} -o kernel.o 2>&1", folder.path(),
                        nvcc.substr(0, nvcc.rfind('/') + 1), command);
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  // The kernel is in there, ready to be launched by name.
  std::ifstream stream(folder.path() + "/kernel.o", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  EXPECT_NE(bytes.find(".text."), std::string::npos);
  EXPECT_NE(bytes.find(kernel_template.config_struct().type), std::string::npos);
}

TEST(Export, BuiltinCompilesWithPlainNvcc) {
  const auto& catalog = Catalog::builtin();
  expect_compiles(catalog.at("gemm_wmma"), catalog, to_problem(Gemm::of(DType::f16, 100, 72, 64)));
}

// Its instructions exist for one architecture alone.
TEST(Export, ThatOfOneArchitectureCompilesWithPlainNvcc) {
  const auto& catalog = Catalog::builtin();
  expect_compiles(catalog.at("gemm_wgmma"), catalog, to_problem(Gemm::of(DType::f16, 256, 256, 64)),
                  "90a");
}

TEST(Export, DocumentedExampleCompilesWithPlainNvcc) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/docs/reference/templates.md");
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

TEST(Export, AdoptedKernelsCompileWithPlainNvcc) {
  const auto catalog =
      Catalog::with_directories({std::string(KILN_SOURCE_DIR) + "/examples/adopted"});
  const auto problem = [](const std::string& name, std::vector<NamedValue> sizes) {
    Problem one;
    one.operation = name;
    one.sizes = find_operation(name)->with_defaults(std::move(sizes));
    for (const auto& slot : find_operation(name)->type_slots())
      one.types.push_back({slot, DType::f32});
    return one;
  };
  expect_compiles(catalog.at("vector_add_kernel"), catalog, problem("vector_add", {{"n", 1000}}));
  expect_compiles(catalog.at("block_sum_cub"), catalog, problem("block_sum", {{"n", 1000}}));
}

}  // namespace
}  // namespace kiln
