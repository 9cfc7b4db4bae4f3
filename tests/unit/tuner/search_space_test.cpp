// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class SearchSpaceTest : public ::testing::Test {
 protected:
  using Choices = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

  SearchSpace make(const std::vector<std::string>& only, const Choices& choices = {}) {
    return make_search_space(catalog, to_problem(Gemm::of(DType::f16, 64, 64, 64)),
                             *limits_of_arch("sm_90a"), {only, choices});
  }
  std::string error_of(const std::vector<std::string>& only, const Choices& choices) {
    try {
      (void)make(only, choices);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return error.what();
    }
    return "no error";
  }

  TempFolder folder;
  Catalog catalog = catalog_with(folder, {{"toy_a", {{"x", {1, 2, 3}}, {"y", {1, 2}}}},
                                          {"toy_b", {{"x", {2, 3, 4, 5}}}},
                                          {"toy_never", {{"x", {1}}}, "x > 1"}});
};

TEST_F(SearchSpaceTest, CountsAllPartsTogether) {
  const SearchSpace space = make({"toy_a", "toy_b"});
  EXPECT_EQ(space.parts.size(), 2U);
  EXPECT_EQ(space.count(), 10U);
}

TEST_F(SearchSpaceTest, WhatAUserAsksForIsPreferredWhateverTheTemplatePrefers) {
  const TempFolder own_folder;
  const Catalog own = catalog_with(
      own_folder, {{.name = "toy_p",
                    .tunables = {{"x", {1, 2, 3}}, {"y", {1, 2, 3}}},
                    .preferences = {"x == 1", "y <= 2"}},
                   {.name = "toy_q", .tunables = {{"x", {1, 2, 3}}}, .preferences = {"m > 64"}}});
  const auto preferred = [&](const Choices& choices, const char* name) {
    const SearchSpace space =
        make_search_space(own, to_problem(Gemm::of(DType::f16, 64, 64, 64)),
                          *limits_of_arch("sm_90a"), {{"toy_p", "toy_q"}, choices});
    return space.find(name)->space.preferred().count();
  };
  EXPECT_EQ(preferred({}, "toy_p"), 2U);
  // Only the preference about x gives way.
  EXPECT_EQ(preferred({{"x", {2, 3}}}, "toy_p"), 4U);
  // Some of what is asked for is preferred: that goes first.
  EXPECT_EQ(preferred({{"x", {1, 3}}}, "toy_p"), 2U);
  // A template that prefers nothing here whatever x is.
  EXPECT_EQ(preferred({{"x", {2, 3}}}, "toy_q"), 0U);
}

TEST_F(SearchSpaceTest, AllTemplatesOfTheOperationTakePartUnlessNamed) {
  const SearchSpace space = make({});
  EXPECT_NE(space.find("toy_a"), nullptr);
  EXPECT_NE(space.find("toy_b"), nullptr);
  EXPECT_NE(space.find("gemm_mma"), nullptr);
}

// Templates that teach a step, or are slow and take everything.
TEST_F(SearchSpaceTest, ATemplateOfNegativePriorityTakesPartOnRequestOrWhereNoOtherDoes) {
  EXPECT_EQ(make({}).find("gemm_naive"), nullptr);
  EXPECT_EQ(make({}).find("gemm_wmma_direct"), nullptr);
  EXPECT_NE(make({"gemm_naive"}).find("gemm_naive"), nullptr);
  Gemm mixed = Gemm::of(DType::f64, 64, 64, 64);
  mixed.a = DType::f16;  // no other template multiplies these
  const SearchSpace space =
      make_search_space(catalog, to_problem(mixed), *limits_of_arch("sm_90a"));
  ASSERT_EQ(space.parts.size(), 1U);
  EXPECT_EQ(space.parts[0].kernel_template->name(), "gemm_naive");
}

TEST_F(SearchSpaceTest, ATemplateNamedTwiceIsOnePart) {
  EXPECT_EQ(make({"toy_a", "toy_a"}).parts.size(), 1U);
}

TEST_F(SearchSpaceTest, WhatCannotTakePartIsNamedWithTheReason) {
  const SearchSpace space = make({});
  EXPECT_EQ(space.find("toy_never"), nullptr);
  EXPECT_THAT(space.unsupported, Contains(HasSubstr("toy_never: ")));
  const auto f64 = make_search_space(catalog, to_problem(Gemm::of(DType::f64, 64, 64, 64)),
                                     *limits_of_arch("sm_90a"), {{"toy_a"}, {}});
  EXPECT_TRUE(f64.parts.empty());
  EXPECT_THAT(f64.unsupported, Contains(HasSubstr("f64")));
}

TEST_F(SearchSpaceTest, ChoicesNarrowEveryTemplateThatHasTheTunable) {
  const SearchSpace space = make({"toy_a", "toy_b"}, {{"x", {2, 3}}});
  EXPECT_EQ(space.find("toy_a")->space.count(), 4U);
  EXPECT_EQ(space.find("toy_b")->space.count(), 2U);
}

TEST_F(SearchSpaceTest, ATemplateWithoutTheTunableStaysWhole) {
  const SearchSpace space = make({"toy_a", "toy_b"}, {{"y", {2}}});
  EXPECT_EQ(space.find("toy_a")->space.count(), 3U);
  EXPECT_EQ(space.find("toy_b")->space.count(), 4U);
}

TEST_F(SearchSpaceTest, ATemplateThatListsNoneOfTheValuesIsLeftOut) {
  const SearchSpace space = make({"toy_a", "toy_b"}, {{"x", {5}}});
  EXPECT_EQ(space.find("toy_a"), nullptr);
  EXPECT_EQ(space.find("toy_b")->space.count(), 1U);
  EXPECT_THAT(space.unsupported, Contains("toy_a: the template allows none of the values x=5"));
}

TEST_F(SearchSpaceTest, UnknownNamesAndValuesAreErrors) {
  EXPECT_THAT(error_of({"toy_a"}, {{"tile", {1}}}),
              HasSubstr("no selected template has a tunable 'tile'. Next: `kiln templates NAME` "
                        "shows the tunables"));
  EXPECT_THAT(error_of({"toy_a"}, {{"X", {1}}}),
              AllOf(HasSubstr("tunable 'X'"), HasSubstr("\"x\"?")));
  EXPECT_THAT(error_of({"toy_a"}, {{"x", {1, 9}}}), HasSubstr("x=9"));
  EXPECT_THAT(error_of({"toy_a"}, {{"x", {}}}), HasSubstr("no value"));
  EXPECT_THAT(error_of({"toy_c"}, {}), HasSubstr("toy_c"));
}

}  // namespace
}  // namespace kiln::testing
