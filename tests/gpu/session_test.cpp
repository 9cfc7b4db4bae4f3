// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sessions as `kiln tune` runs them: NVRTC, a worker process, a GPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <map>
#include <set>

#include "tests/gpu/runtime_gpu.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {
namespace {

/// A right and plain kernel that misbehaves as its only tunable says.
constexpr const char* kPlanted = R"(//@ template   planted
//@ purpose    A plain kernel that misbehaves on request.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f16 b=a c=a d=a acc=f32
//@ launch     planted
//@   grid     ceil_div(n, 16), ceil_div(m, 16)
//@   block    16, 16
//@   smem     fault == 5 ? 1048576 : 0

#include <cuda_fp16.h>

#include "common/gemm_args.cuh"

struct PlantedConfig {  //@ config
  int fault;  //@ tune 0* 1 2 3 4 5   // none, hang, illegal address, wrong, no compile, memory
};

template <PlantedConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void planted(const kiln::GemmArgs args) {
  static_assert(C.fault != 4, "planted");
  if constexpr (C.fault == 1) {
    for (;;) __nanosleep(1000);
  }
  if constexpr (C.fault == 2) *reinterpret_cast<volatile int*>(16) = 1;
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  if (row >= args.m || col >= args.n) return;
  float sum = 0.0f;
  for (int i = 0; i < args.k; ++i) {
    sum += __half2float(static_cast<const __half*>(args.a)[row * args.lda + i]) *
           __half2float(static_cast<const __half*>(args.b)[i * args.ldb + col]);
  }
  sum *= static_cast<float>(args.alpha);
  if constexpr (C.fault == 3) sum += 1.0f;
  static_cast<__half*>(args.d)[row * args.ldd + col] = __float2half(sum);
}
)";

class GpuSessionTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    device_.reset();  // the worker has one of its own
    evaluator = make_worker_evaluator({KILN_SESSION_WORKER});
    compiler = make_nvrtc_compiler();
  }
  TuneResult run(const Catalog& catalog) {
    TuningStore store =
        TuningStore::open((folder.path() / "tuning.db").string(), OpenMode::read_write);
    SessionObserver quiet;
    const std::atomic<bool> stop{false};
    const SearchSpace space =
        make_search_space(catalog, request.tuned.problem, evaluator->info().limits, selection);
    return tune(request, space, catalog, compiler, *evaluator, store, quiet, stop);
  }
  [[nodiscard]] std::vector<Trial> stored() const {
    return TuningStore::open((folder.path() / "tuning.db").string(), OpenMode::read_only)
        .trials({});
  }

  TempFolder folder;
  TuneRequest request;
  SpaceSelection selection;
  std::unique_ptr<Evaluator> evaluator;
  std::shared_ptr<Compiler> compiler;
};

TEST_F(GpuSessionTest, PlantedCandidatesGetTheirOutcomesAndTheSessionFinishes) {
  std::ofstream(folder.path() / "planted.cu") << kPlanted;
  const Catalog catalog = Catalog::with_directories({folder.path().string()});
  request.tuned = problem_case({Gemm::of(DType::f16, 256, 256, 256)});
  selection.templates = {"planted"};
  request.strategy = "exhaustive";
  request.candidate_timeout_s = 2.0;
  request.budget.seconds = 60.0;
  const auto result = run(catalog);
  EXPECT_EQ(result.session.state, "complete");
  std::map<std::int64_t, Outcome> outcomes;
  for (const auto& trial : stored()) outcomes[trial.key.config.at("fault")] = trial.outcome;
  const std::map<std::int64_t, Outcome> expected{
      {0, Outcome::ok},           {1, Outcome::timed_out},      {2, Outcome::crashed},
      {3, Outcome::wrong_result}, {4, Outcome::compile_failed}, {5, Outcome::out_of_resources}};
  EXPECT_EQ(outcomes, expected);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.at("fault"), 0);
}

TEST_F(GpuSessionTest, KeepsItsTimeAndGoesOnWhereItStopped) {
  request.tuned = problem_case({Gemm::of(DType::f16, 1024, 1024, 1024)});
  request.budget.seconds = 8.0;
  const auto start = std::chrono::steady_clock::now();
  const auto first = run(Catalog::builtin());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  // The single candidate by which it may overrun.
  EXPECT_LT(took.count(), request.budget.seconds + 3.0);
  ASSERT_TRUE(first.best);
  EXPECT_TRUE(first.best->verification && first.best->verification->passed);
  EXPECT_GE(first.progress.done, 10U);

  const auto second = run(Catalog::builtin());
  EXPECT_EQ(second.progress.known, first.progress.done);
  std::set<std::string> searched;
  for (const auto& trial : stored()) {
    if (trial.timing && trial.timing->interleaved) continue;
    EXPECT_TRUE(
        searched.insert(trial.key.template_name + " " + trial.key.config.canonical()).second)
        << trial.key.config.canonical();
  }
}

TEST_F(GpuSessionTest, EveryTemplateComesOutRightOnOddProblems) {
  Gemm gemm = Gemm::of(DType::bf16, 333, 257, 129, Storage::t, Storage::n);
  gemm.lda = 341;
  gemm.reads_c = true;
  request.tuned = problem_case({gemm, 0.5, -1.5});
  request.budget.seconds = 20.0;
  request.budget.candidates = 30;
  const auto result = run(Catalog::builtin());
  ASSERT_TRUE(result.best);
  EXPECT_FALSE(result.progress.by_outcome.contains(Outcome::wrong_result));
  EXPECT_FALSE(result.progress.by_outcome.contains(Outcome::crashed));
}

}  // namespace
}  // namespace kiln::testing
