// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// Single candidates on a GPU: right ones of every type pass, planted faults get the right outcome.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <future>
#include <random>
#include <vector>

#include "cache/files/cubin_store.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/digest.hpp"
#include "tests/gpu/runtime_gpu.hpp"
#include "tests/support/row_gemm.hpp"
#include "tests/support/toy_templates.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/worker/evaluator.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;

/// A plain f32 kernel, and what may be wrong with it.
constexpr const char* kPlanted = R"(
#include "common/gemm_args.cuh"

extern "C" __global__ void planted(const kiln::GemmArgs args) {
#if FAULT == 1
  for (volatile int spin = 1; spin != 0;) __nanosleep(1000);
#elif FAULT == 2
  *reinterpret_cast<volatile int*>(16) = 1;
#endif
  const int row = blockIdx.y * 16 + threadIdx.y;
  const int col = blockIdx.x * 16 + threadIdx.x;
  float* d = static_cast<float*>(args.d);
#if FAULT == 4
  if (row == args.m && col < args.n) d[row * args.ldd + col] = 1.0f;
#elif FAULT == 5
  if (row + 1 < args.m && col >= args.n && col < args.ldd) d[row * args.ldd + col] = 1.0f;
#endif
  if (row >= args.m || col >= args.n) return;
  float sum = 0.0f;
#if FAULT == 3
  const int last = args.k / 4 * 4;
#else
  const int last = args.k;
#endif
  for (int i = 0; i < last; ++i) {
    sum += static_cast<const float*>(args.a)[row * args.lda + i] *
           static_cast<const float*>(args.b)[i * args.ldb + col];
  }
  d[row * args.ldd + col] = static_cast<float>(args.alpha) * sum;
}
)";
enum Fault { kNone, kHang, kIllegalAddress, kLostTail, kWritesBehind, kWritesPadding, kMuchMemory };

class GpuEvaluatorTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    // The kernels that verify and the references are the same for most problems.
    compiler_ = std::make_shared<CachingCompiler>(
        make_nvrtc_compiler("", SystemHeaders::precompile),
        std::make_shared<CubinStore>((folder_.path() / "cubins.db").string(), std::int64_t{1} << 31,
                                     nullptr));
    tuned_.gemm = Gemm::of(DType::f32, 256, 256, 256);
  }
  [[nodiscard]] EvaluationSetup setup() {
    request_.tuned = problem_case(tuned_);
    return make_setup(request_, *compiler_, device_->info());
  }
  [[nodiscard]] EvaluationJob planted(const EvaluationSetup& setup, Fault fault) {
    CompileRequest compile;
    compile.source = "#define FAULT " + std::to_string(static_cast<int>(fault)) + "\n" +
                     inline_headers(embedded_files(), "planted.cu", kPlanted);
    compile.source_digest = digest_hex(compile.source);
    compile.plain_names = {"planted"};
    compile.arch = device_->info().limits.arch;
    const CompileResult compiled = compiler_->compile(compile);
    EXPECT_TRUE(compiled.ok) << compiled.log;
    EvaluationJob job;
    job.label = "planted";
    job.unit = {compiled.cubin, compiled.lowered_names};
    for (const ProblemCase& one : setup.cases) {
      LaunchGeometry geometry;
      geometry.grid = {static_cast<std::uint32_t>(*one.problem.size("n") / 16 + 1),
                       static_cast<std::uint32_t>(*one.problem.size("m") / 16 + 1), 1};
      geometry.block = {16, 16, 1};
      geometry.smem_bytes = fault == kMuchMemory ? 1U << 20 : 0;
      job.geometry.push_back({geometry});
      job.arguments.push_back({plan_gemm_argument(one)});
      job.workspace_bytes.push_back(0);
    }
    return job;
  }
  [[nodiscard]] EvaluationJob naive(const EvaluationSetup& setup) {
    const Candidate candidate{"gemm_naive", Config::parse("block_x=32 block_y=8")};
    const PreparedCandidate prepared = prepare_candidate(candidate, Catalog::builtin(), *compiler_,
                                                         device_->info().limits, setup.cases);
    EXPECT_EQ(prepared.outcome, Outcome::ok) << prepared.message;
    return prepared.job;
  }

  /// Verifies some random configurations for the request's types and storage; returns how many.
  [[nodiscard]] int verify_samples(const KernelTemplate& kernel, Evaluator& evaluator,
                                   std::mt19937_64& random) {
    constexpr int kSamples = 4;
    const DeviceLimits& limits = device_->info().limits;
    tuned_.gemm.m = 296;
    tuned_.gemm.n = 264;
    tuned_.gemm.k = 200;
    tuned_.gemm = supported_gemm(kernel, tuned_.gemm, limits);
    tuned_.alpha = tuned_.gemm.acc == DType::s32 ? 3.0 : 0.7;
    tuned_.beta = -1.0;
    const Problem problem = to_problem(tuned_.gemm);
    if (kernel.why_unsupported(problem, limits)) return 0;
    const EvaluationSetup prepared = setup();
    evaluator.set_up(prepared);
    const ParamSpace space = kernel.space(problem, limits);
    std::vector<std::future<PreparedCandidate>> compiling;
    for (int i = 0; i < kSamples; ++i) {
      const Candidate candidate{kernel.name(), space.sample(random).value()};
      compiling.push_back(std::async(std::launch::async, [&, candidate] {
        return prepare_candidate(candidate, Catalog::builtin(), *compiler_, limits, prepared.cases);
      }));
    }
    int verified = 0;
    for (auto& one : compiling) {
      PreparedCandidate candidate = one.get();
      if (candidate.outcome == Outcome::out_of_resources) continue;
      const std::string label = problem.kind_text() + " " + candidate.candidate.config.canonical();
      EXPECT_EQ(candidate.outcome, Outcome::ok) << label << ": " << candidate.message;
      if (candidate.outcome != Outcome::ok) continue;
      candidate.job.time_it = false;
      const Evaluation result = evaluator.evaluate(candidate.job);
      EXPECT_EQ(result.outcome, Outcome::ok) << label << ": " << result.message;
      ++verified;
    }
    return verified;
  }

  TempFolder folder_;
  std::shared_ptr<Compiler> compiler_;
  TuneRequest request_;
  GemmCase tuned_;
};

TEST_F(GpuEvaluatorTest, TheNaiveKernelPassesInEveryTypeAndLayout) {
  const auto evaluator = make_local_evaluator(open_device("cuda:0"));
  for (const DType type : {DType::f16, DType::bf16, DType::tf32, DType::f32, DType::f64,
                           DType::e4m3, DType::e5m2, DType::s8, DType::u8}) {
    for (const Storage a : {Storage::n, Storage::t}) {
      for (const Storage b : {Storage::n, Storage::t}) {
        tuned_.gemm = Gemm::of(type, 200, 120, 1000, a, b);
        tuned_.gemm.reads_c = true;
        tuned_.alpha = type == DType::s8 || type == DType::u8 ? 3.0 : 0.7;
        tuned_.beta = -1.0;
        const EvaluationSetup prepared = setup();
        evaluator->set_up(prepared);
        const Evaluation result = evaluator->evaluate(naive(prepared));
        EXPECT_EQ(result.outcome, Outcome::ok) << to_string(type) << ": " << result.message;
        EXPECT_LE(result.verification.worst_ratio, 1.0) << to_string(type);
      }
    }
  }
}

/// Configurations from all over a template's space, for every row of types, with operands aligned
/// to anything from one element to 16 bytes. Storage comes in turn where there are many rows;
/// random problems (tests/random) have all of it.
TEST_F(GpuEvaluatorTest, SampledConfigurationsOfEveryTemplateAreRight) {
  const Catalog& catalog = Catalog::builtin();
  const auto evaluator = make_local_evaluator(open_device("cuda:0"));
  std::mt19937_64 random(1);
  const std::array<const char*, 4> layouts{"nn", "nt", "tn", "tt"};
  std::size_t turn = 0;
  for (const KernelTemplate& kernel : catalog.templates()) {
    if (kernel.name() == "gemm_naive") continue;  // the test above is about it
    const std::size_t storages = kernel.type_rows().size() < 8 ? layouts.size() : 1;
    int verified = 0;
    for (const TypeRow& row : kernel.type_rows()) {
      for (std::size_t i = 0; i < storages; ++i) {
        const auto [a, b] = parse_layout(layouts[turn % layouts.size()]).value();
        tuned_.gemm = gemm_of_row(row, turn, a, b, 1 << turn % 5, true);
        ++turn;
        verified += verify_samples(kernel, *evaluator, random);
      }
    }
    EXPECT_GT(verified, 10) << kernel.name();
  }
}

TEST_F(GpuEvaluatorTest, PlantedFaultsGetTheirOutcomesAndTheNextCandidateIsFine) {
  WorkerEvaluator evaluator({KILN_SESSION_WORKER});
  const EvaluationSetup prepared = setup();
  evaluator.set_up(prepared);
  const auto expect = [&](Fault fault, Outcome outcome, const std::string& words) {
    EvaluationJob job = planted(prepared, fault);
    job.timeout_s = fault == kHang ? 2.0 : 30.0;
    const auto start = std::chrono::steady_clock::now();
    const Evaluation result = evaluator.evaluate(job);
    EXPECT_EQ(result.outcome, outcome) << result.message;
    EXPECT_THAT(result.message, HasSubstr(words));
    if (fault == kHang) {
      EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(4));
    }
    const Evaluation next = evaluator.evaluate(planted(prepared, kNone));
    EXPECT_EQ(next.outcome, Outcome::ok) << next.message;
    EXPECT_TRUE(next.timing);
  };
  expect(kLostTail, Outcome::wrong_result, "(integers): row 0 column");
  expect(kWritesBehind, Outcome::wrong_result, "after D");
  expect(kWritesPadding, Outcome::wrong_result, "padding of D");
  expect(kMuchMemory, Outcome::out_of_resources, "");
  EXPECT_EQ(evaluator.restarts(), 0);
  expect(kIllegalAddress, Outcome::crashed, "illegal");
  expect(kHang, Outcome::timed_out, "2 s");
  EXPECT_EQ(evaluator.restarts(), 2);
}

TEST_F(GpuEvaluatorTest, ComparesWithCublasltInterleaved) {
  const auto evaluator = make_local_evaluator(open_device("cuda:0"));
  tuned_.gemm = Gemm::of(DType::f16, 512, 512, 512, Storage::n, Storage::t);
  const EvaluationSetup prepared = setup();
  evaluator->set_up(prepared);
  ComparisonRequest comparison;
  comparison.jobs = {naive(prepared)};
  comparison.against_cublaslt = true;
  const Comparison result = evaluator->compare(comparison);
  ASSERT_EQ(result.jobs.size(), 1U);
  EXPECT_EQ(result.jobs[0].outcome, Outcome::ok) << result.jobs[0].message;
  EXPECT_GT(result.jobs[0].ratio, 0.0);
  if (result.baselines.empty()) GTEST_SKIP() << result.note;
  EXPECT_DOUBLE_EQ(result.baselines[0].ratio, 1.0);
  EXPECT_EQ(result.baselines[0].outcome, Outcome::ok) << result.baselines[0].message;
  EXPECT_LT(result.jobs[0].ratio, 1.0) << "one thread per element beat cuBLASLt";
}

}  // namespace
}  // namespace kiln::testing
