// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// docs/reference/templates.md and operations.md must be true.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "templates/front_matter/front_matter.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/render/renderer.hpp"
#include "templates/template_names.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string page_text(const std::string& page) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/docs/reference/" + page);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// The pieces of a page's code that are whole files, in order.
std::vector<std::string> files_of_page(const std::string& page) {
  const auto text = page_text(page);
  const std::string open = "```cuda\n";
  std::vector<std::string> files;
  for (auto at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
    at += open.size();
    files.push_back(text.substr(at, text.find("```", at) - at));
  }
  return files;
}

TEST(TemplatesPage, WorkedExampleLoadsAndRenders) {
  const test::TemporaryFolder folder;
  folder.write("gemm_dot.cu", files_of_page("templates.md").at(0));
  const auto catalog = Catalog::with_directories({folder.path()});
  const auto& dot = catalog.at("gemm_dot");
  const auto limits = limits_of_arch("90a").value();
  const auto problem = to_problem(Gemm::of(DType::f16, 8, 8, 65536));
  ASSERT_EQ(dot.why_unsupported(problem, limits), std::nullopt);
  EXPECT_EQ(dot.space(problem, limits).count(), 12U);
  const auto config = dot.space(problem, limits).default_config().value();
  EXPECT_EQ(config, (Config{{"unroll", 4}, {"warps", 4}}));
  EXPECT_EQ(LaunchPlanner(dot, problem, limits).geometry(config)[0].grid[0], 16U);
  EXPECT_THAT(render(catalog, dot, config, problem, limits).text,
              HasSubstr("store_element(Acc product"));
  const auto large = to_problem(Gemm::of(DType::f16, 512, 512, 512));
  EXPECT_TRUE(dot.why_unsupported(large, limits)) << "tiles are far better";
}

TEST(OperationsPage, KernelsAsTheyAreLoadAndRender) {
  const test::TemporaryFolder folder;
  const auto files = files_of_page("operations.md");
  ASSERT_EQ(files.size(), 2U);
  folder.write("softmax.cu", files[0]);
  folder.write("softmax_rows.cu", files[1]);
  const auto catalog = Catalog::with_directories({folder.path()});
  const auto& rows = catalog.at("softmax_rows");
  const auto limits = limits_of_arch("90a").value();
  Problem problem;
  problem.operation = "softmax";
  problem.sizes = {{"rows", 100}, {"cols", 1000}};
  problem.types = {{"x", DType::f16}, {"y", DType::f32}};
  ASSERT_EQ(rows.why_unsupported(problem, limits), std::nullopt);
  const auto config = rows.space(problem, limits).default_config().value();
  const auto rendered = render(catalog, rows, config, problem, limits);
  EXPECT_THAT(rendered.name_expressions, ::testing::ElementsAre("softmax_rows<__half, float>"));
  EXPECT_THAT(rendered.text, HasSubstr("#define block_size_x 128\n#define warps 4\n"));
  EXPECT_EQ(LaunchPlanner(rows, problem, limits).argument_plans(config).at(0).parameters.size(),
            4U);
}

TEST(TemplatesPage, NamesEveryNameAndFunction) {
  const auto text = page_text("templates.md");
  const auto names = problem_names(*find_operation("gemm"));
  for (int slot = 0; slot < names.size(); ++slot) {
    const auto& name = names.name(slot);
    // For names repeated per element type or slot, the table's rows give only the pattern.
    if (name.starts_with("type.") || name.ends_with("_type")) continue;
    EXPECT_THAT(text, HasSubstr(name));
  }
  for (const auto* function : {"min", "max", "ceil_div", "round_up", "gcd", "is_pow2", "log2"}) {
    EXPECT_THAT(text, HasSubstr(fmt::format("`{}(a", function)));
  }
}

}  // namespace
}  // namespace kiln
