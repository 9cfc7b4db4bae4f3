// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// docs/writing-templates.md must be true.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "templates/front_matter.hpp"
#include "templates/renderer.hpp"
#include "templates/template_names.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;

std::string page() {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/docs/writing-templates.md");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string worked_example() {
  const auto text = page();
  const std::string open = "```cuda\n";
  const auto begin = text.find(open) + open.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

TEST(WritingTemplatesPage, WorkedExampleLoadsAndRenders) {
  const test::TemporaryFolder folder;
  folder.write("gemm_dot.cu", worked_example());
  const auto catalog = Catalog::with_directories({folder.path()});
  const auto& dot = catalog.at("gemm_dot");
  const auto limits = limits_of_arch("90a").value();
  const auto problem = to_problem(Gemm::of(DType::f16, 8, 8, 65536));
  ASSERT_EQ(dot.why_unsupported(problem, limits), std::nullopt);
  EXPECT_EQ(dot.space(problem, limits).count(), 12U);
  const auto config = dot.space(problem, limits).default_config().value();
  EXPECT_EQ(config, (Config{{"unroll", 4}, {"warps", 4}}));
  EXPECT_EQ(dot.geometry(config, problem, limits)[0].grid[0], 16U);
  EXPECT_THAT(render(catalog, dot, config, problem, limits).text,
              HasSubstr("store_element(Acc product"));
  const auto large = to_problem(Gemm::of(DType::f16, 512, 512, 512));
  EXPECT_EQ(dot.space(large, limits).count(), 12U);
  EXPECT_EQ(dot.space(large, limits).preferred().count(), 0U) << "tiles are far better";
  EXPECT_LT(dot.priority(large, limits), dot.priority(problem, limits));
}

TEST(WritingTemplatesPage, NamesEveryNameAndFunction) {
  const auto text = page();
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
