// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/related.hpp"

#include <gtest/gtest.h>

#include "cache/lookup/contender.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::gemm_problem;

Problem with_trait(Problem problem, const std::string& name, std::int64_t value) {
  for (NamedValue& trait : problem.traits) {
    if (trait.name == name) trait.value = value;
  }
  return problem;
}

TEST(Related, TheSameKindIsNotApart) {
  const Problem problem = gemm_problem(64, 64, 64);
  EXPECT_EQ(kind_distance(problem, test::h200(), gemm_problem(8, 16, 24), test::h200()), 0.0);
}

TEST(Related, WhatIsComputedOtherwiseIsFarther) {
  const Problem problem = gemm_problem(64, 64, 64);
  const auto to = [&](const Problem& other) {
    return kind_distance(problem, test::h200(), other, test::h200()).value();
  };
  const double twin = to(gemm_problem(64, 64, 64, DType::bf16));
  const double layout = to(with_trait(problem, "trans_b", 1));
  const double c = to(with_trait(problem, "reads_c", 1));
  EXPECT_GT(twin, 0.0);
  EXPECT_GT(layout, c);
  EXPECT_GT(to(with_trait(with_trait(problem, "trans_b", 1), "align_a", 2)), layout);
  DeviceClass other = test::h200();
  other.name = "NVIDIA H100";
  EXPECT_GT(kind_distance(problem, test::h200(), problem, other).value(), layout);
}

TEST(Related, OtherWidthsAndArchitecturesAreUnrelated) {
  const Problem problem = gemm_problem(64, 64, 64);
  const auto h200 = test::h200();
  EXPECT_FALSE(kind_distance(problem, h200, gemm_problem(64, 64, 64, DType::f32), h200));
  DeviceClass other = h200;
  other.arch = "sm_100a";
  EXPECT_FALSE(kind_distance(problem, h200, problem, other));
}

TEST(Related, ProblemsOfADeclarationWithOtherFieldsAreUnrelated) {
  const Problem now = gemm_problem(64, 64, 64);
  const auto expect_unrelated = [](const Problem& wanted, const Problem& other) {
    EXPECT_FALSE(kind_distance(wanted, test::h200(), other, test::h200()))
        << wanted.canonical() << " and " << other.canonical();
  };
  Problem fewer = now;
  fewer.traits.pop_back();
  expect_unrelated(now, fewer);
  expect_unrelated(fewer, now);
  fewer = now;
  fewer.types.pop_back();
  expect_unrelated(now, fewer);
  expect_unrelated(fewer, now);
  Problem renamed = now;
  renamed.traits.front().name = "mirrored";
  expect_unrelated(now, renamed);
  renamed = now;
  renamed.types.front().slot = "left";
  expect_unrelated(now, renamed);
}

TEST(Related, NearProblemsAreOfOneKindOrWithoutTheEpilogue) {
  const Problem problem = gemm_problem(4096, 4096, 4096);
  EXPECT_TRUE(is_near(problem, gemm_problem(1024, 16384, 4096)));
  EXPECT_FALSE(is_near(problem, gemm_problem(1023, 4096, 4096)));
  EXPECT_FALSE(is_near(problem, gemm_problem(1024, 16384, 4095)));
  EXPECT_FALSE(is_near(problem, gemm_problem(4096, 4096, 4096, DType::bf16)));
  EXPECT_FALSE(is_near(gemm_problem(1, 1, 0), gemm_problem(1, 1, 1)));
  Problem finished = problem;
  finished.epilogue = "relu(acc)";
  EXPECT_TRUE(is_near(finished, problem));
  EXPECT_FALSE(is_near(problem, finished));
}

TEST(StoreRelated, TheNearestOfAllKindsAndDevicesComeFirst) {
  const test::TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
  const auto record = [&](const Problem& problem, const DeviceClass& device) {
    Trial trial = test::good_trial(1000);
    trial.key.problem = problem;
    trial.key.device = device;
    store.record(trial);
  };
  DeviceClass h100 = test::h200();
  h100.name = "NVIDIA H100";
  const Problem problem = gemm_problem(4096, 4096, 4096);
  record(problem, test::h200());
  record(problem, h100);
  record(gemm_problem(4096, 4096, 512), test::h200());
  record(gemm_problem(4096, 4096, 4096, DType::bf16), test::h200());
  record(gemm_problem(4096, 4096, 4096, DType::f64), test::h200());
  const auto related = store.related(problem, test::h200(), 9);
  ASSERT_EQ(related.size(), 3U) << "not itself, nor what is unrelated";
  EXPECT_EQ(related[0].problem.type("a"), DType::bf16);
  EXPECT_EQ(related[1].device, h100);
  EXPECT_EQ(related[2].distance, 3.0);
  EXPECT_EQ(store.related(problem, test::h200(), 1).size(), 1U);
  ASSERT_EQ(store.contenders(related[1]).size(), 1U);
  EXPECT_TRUE(store.trial(store.contenders(related[1]).front()));
  // Another connection's writes are seen.
  {
    TuningStore other = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
    Trial trial = test::good_trial(500);
    trial.key.problem = gemm_problem(4096, 4096, 4088);
    other.record(trial);
  }
  EXPECT_LT(store.related(problem, test::h200(), 1).front().distance, 0.01);
  EXPECT_EQ(store.corrupt_rows(), 0U);
}

TEST(StoreRelated, ALostFamilyIsNoticedAndReadFromTheTrials) {
  const test::TempFolder folder;
  TuningStore store = TuningStore::open(folder.file("t.db"), OpenMode::read_write);
  store.record(test::good_trial(1000));
  const Problem problem = gemm_problem(4096, 4096, 4096, DType::bf16);
  ASSERT_EQ(store.related(problem, test::h200(), 9).size(), 1U);
  test::PlainSqlite(store.path()).execute("DELETE FROM families");
  EXPECT_EQ(store.related(problem, test::h200(), 9).size(), 1U);
  EXPECT_GT(store.corrupt_rows(), 0U);
}

}  // namespace
}  // namespace kiln
