// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/emulated/model/performance_model.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::testing {
namespace {

/// The templates whose defaults come first. Expects every candidate to come once in the end.
std::vector<std::string> standards(const Catalog& catalog, const std::vector<std::string>& only) {
  const Problem problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  const DeviceProfile profile = built_in_profile("h200").value();
  const SearchSpace space = make_search_space(catalog, problem, profile.limits, {only, {}});
  const StrategyInput input{space, problem, profile.limits, profile.device_class, 1};
  const auto strategy = make_strategy("exhaustive", input);
  ProposalQueue queue(input, *strategy);
  std::vector<std::string> names;
  std::uint64_t count = 0;
  for (auto proposal = queue.next(); proposal; proposal = queue.next()) {
    ++count;
    if (proposal->origin == Proposal::Origin::standard) {
      names.push_back(proposal->candidate.template_name);
    }
  }
  EXPECT_EQ(count, space.count());
  return names;
}

TEST(ProposalQueue, ADefaultThatMustBeSlowWaitsForTheStrategy) {
  const TempFolder folder;
  const std::string always = "true";
  const Catalog catalog =
      catalog_with(folder, {{"quick", {{"x", {0, 1}}}, always, "0", "128", {"waits = 100"}},
                            {"slower", {{"x", {0, 1, 2}}}, always, "0", "128", {"waits = 300"}},
                            {"hopeless", {{"x", {0, 1}}}, always, "0", "128", {"waits = 10000"}},
                            {"unknown", {{"x", {0, 1, 2, 3}}}}});
  using Names = std::vector<std::string>;
  EXPECT_EQ(standards(catalog, {"quick", "slower", "hopeless", "unknown"}),
            (Names{"unknown", "slower", "quick"}));
  EXPECT_EQ(standards(catalog, {"hopeless", "unknown"}), (Names{"unknown", "hopeless"}));
  EXPECT_EQ(standards(catalog, {"hopeless"}), Names{"hopeless"});
}

TEST(ProposalQueue, WhatIsLikelyComesAfterTheDefaultsAndOnlyOnce) {
  const TempFolder folder;
  const Catalog catalog = catalog_with(
      folder, {{"toy", {{"x", {0, 1, 2, 3}}}, "true", "0", "128", {}}, {"other", {{"x", {0}}}}});
  const Problem problem = to_problem(Gemm::of(DType::f16, 64, 64, 64));
  const DeviceProfile profile = built_in_profile("h200").value();
  const SearchSpace space = make_search_space(catalog, problem, profile.limits, {{"toy"}, {}});
  const StrategyInput input{space, problem, profile.limits, profile.device_class, 1};
  const auto strategy = make_strategy("exhaustive", input);
  ProposalQueue queue(input, *strategy);
  queue.add_likely({"toy", Config{{"x", 2}}});
  queue.add_likely({"toy", Config{{"x", 0}}});    // the default
  queue.add_likely({"toy", Config{{"x", 7}}});    // not in the space
  queue.add_likely({"other", Config{{"x", 0}}});  // does not take part
  std::vector<std::string> order;
  for (auto proposal = queue.next(); proposal; proposal = queue.next()) {
    order.push_back(candidate_text(proposal->candidate));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"toy x=0", "toy x=2", "toy x=1", "toy x=3"}));
}

}  // namespace
}  // namespace kiln::testing
