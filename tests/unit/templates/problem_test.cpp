// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::HasSubstr;

TEST(Problem, CanonicalText) {
  const auto problem = to_problem(Gemm::of(DType::f16, 4096, 512, 1024, Storage::n, Storage::t));
  EXPECT_EQ(problem.sizes_text(), "m=4096 n=512 k=1024");
  EXPECT_EQ(problem.kind_text(),
            "gemm a=f16 b=f16 c=f16 d=f16 acc=f32 trans_a=0 trans_b=1 align_a=16 align_b=16 "
            "align_c=16 align_d=16 reads_c=0");
  EXPECT_EQ(problem.canonical(), problem.kind_text() + " | " + problem.sizes_text());
  EXPECT_EQ(problem.size("n"), 512);
  EXPECT_EQ(problem.trait("trans_b"), 1);
  EXPECT_EQ(problem.type("acc"), DType::f32);
  EXPECT_EQ(problem.size("q"), std::nullopt);
  EXPECT_EQ(problem.type("q"), std::nullopt);
}

TEST(Problem, ParseErrorsNameTheField) {
  const auto parse = [](const char* text) {
    return error_text(ErrorKind::usage, [&] { (void)Problem::parse(text); });
  };
  EXPECT_THAT(parse("gemm a=f16"), HasSubstr(" | "));
  EXPECT_THAT(parse("gemm a=f17 | m=1"), HasSubstr("\"a=f17\""));
  EXPECT_THAT(parse("gemm a=f16 a=f16 | m=1"), HasSubstr("repeats"));
  EXPECT_THAT(parse("gemm a=f16 | m=1 m=2"), HasSubstr("\"m=2\""));
  EXPECT_THAT(parse("gemm t=1 a=f16 | m=1"), HasSubstr("\"a=f16\" is an element type"));
  EXPECT_THAT(parse("gemm a | m=1"), HasSubstr("'='"));
  EXPECT_THAT(parse("a=f16 | m=1"), HasSubstr("operation"));
  EXPECT_THAT(parse("gemm  a=f16 | m=1"), HasSubstr("empty field"));
  EXPECT_THAT(parse("gemm a=f16 | m=99999999999999999999"), HasSubstr("m=9999"));
}

rc::Gen<std::string> name() {
  return rc::gen::nonEmpty(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abcdxyz_019"))));
}

RC_GTEST_PROP(ProblemProperty, ParseOfCanonicalIsIdentity, ()) {
  Problem problem;
  problem.operation = *name();
  // Names are unique within a problem's kind, and within its sizes.
  const auto kind = *rc::gen::unique<std::vector<std::string>>(name());
  const auto types = *rc::gen::inRange<std::size_t>(0, kind.size() + 1);
  for (std::size_t i = 0; i < kind.size(); ++i) {
    if (i < types) {
      const auto type = *rc::gen::inRange<std::size_t>(0, kDTypeNames.size());
      problem.types.push_back({kind[i], static_cast<DType>(type)});
    } else {
      problem.traits.push_back({kind[i], *rc::gen::arbitrary<std::int64_t>()});
    }
  }
  for (const auto& size : *rc::gen::unique<std::vector<std::string>>(name())) {
    problem.sizes.push_back({size, *rc::gen::arbitrary<std::int64_t>()});
  }
  RC_ASSERT(Problem::parse(problem.canonical()) == problem);
}

RC_GTEST_PROP(ProblemProperty, AnyTextEitherParsesOrIsAUsageError, (const std::string& text)) {
  try {
    const auto problem = Problem::parse("gemm a=f16" + text + " | m=1");
    RC_ASSERT(Problem::parse(problem.canonical()) == problem);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
  }
}

}  // namespace
}  // namespace kiln
