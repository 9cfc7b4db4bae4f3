// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Faults of templates that `kiln verify` has to find on the emulated GPU, and what it says of
// templates that it cannot compile or run on few sizes only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"
#include "tests/support/full_catalog.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Flags that choose a template of the sandbox's folder, for a problem that it takes.
Words own_template(const std::string& name) {
  return {"--dtype", "f32", "--template", name, "--template-path", "."};
}

/// `verify` of the template in `text`, called `name`, for a square problem.
Run verify(const Sandbox& sandbox, const std::string& name, const std::string& text, int size,
           const Words& more = {}) {
  sandbox.write(name + ".cu", text);
  return sandbox.run(with(on_gemm("verify", size, size, size), with(own_template(name), more)));
}

/// A ring of four tiles of 64 between a warp that loads and one that multiplies: no ragged size is
/// so deep that a stage is used again.
constexpr const char* kRinged = R"(//@ template   ringed
//@ purpose    A ring between a loading and a multiplying warp.
//@ operation  gemm
//@ arch       sm >= 90
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ require    m != 130 && m != 296   // ragged sizes that take seconds
//@ launch     ringed
//@   grid     ceil_div(n, 4), ceil_div(m, 8)
//@   block    64

#include "common/gemm_args.cuh"

struct RingedConfig {  //@ config
  int stages;  //@ tune 4
  int tile_k;  //@ tune 64
};

__device__ unsigned place(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ void arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(place(barrier)) : "memory");
}
__device__ void wait(unsigned long long* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;\n}"
      ::"r"(place(barrier)), "r"(parity) : "memory");
}

template <RingedConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void ringed(const kiln::GemmArgs args) {
  __shared__ float a[C.stages][8][C.tile_k];
  __shared__ float b[C.stages][C.tile_k][4];
  __shared__ unsigned long long full[C.stages];
  __shared__ unsigned long long empty[C.stages];
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.y * 8;
  const int col = blockIdx.x * 4;
  if (threadIdx.x < C.stages) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(place(&full[lane])) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(place(&empty[lane])) : "memory");
  }
  __syncthreads();
  const int tiles = (args.k + C.tile_k - 1) / C.tile_k;
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    const int stage = tile % C.stages;
    const int round = tile / C.stages;
    if (threadIdx.x < 32) {
      if (round > 0) wait(&empty[stage], (round - 1) % 2);
      for (int i = lane; i < 8 * C.tile_k; i += 32) {
        const int y = i / C.tile_k, z = i % C.tile_k, k = tile * C.tile_k + z;
        a[stage][y][z] = row + y < args.m && k < args.k
                             ? static_cast<const float*>(args.a)[(row + y) * args.lda + k] : 0.0f;
      }
      for (int i = lane; i < 4 * C.tile_k; i += 32) {
        const int z = i / 4, x = i % 4, k = tile * C.tile_k + z;
        b[stage][z][x] = col + x < args.n && k < args.k
                             ? static_cast<const float*>(args.b)[k * args.ldb + col + x] : 0.0f;
      }
      arrive(&full[stage]);
    } else {
      wait(&full[stage], round % 2);
      for (int z = 0; z < C.tile_k; ++z) sum += a[stage][lane / 4][z] * b[stage][z][lane % 4];
      arrive(&empty[stage]);
    }
  }
  const int y = row + lane / 4;
  const int x = col + lane % 4;
  if (threadIdx.x >= 32 && y < args.m && x < args.n) {
    static_cast<float*>(args.d)[y * args.ldd + x] = static_cast<float>(args.alpha) * sum;
  }
}
)";

TEST(Verify, ARingIsTakenRoundSeveralTimesHoweverLargeTheProblemIs) {
  const Sandbox sandbox;
  const auto right = verify(sandbox, "ringed", kRinged, 4096);
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_NE(right.out.find("24 x 40 x 1064"), std::string::npos) << right.out;

  const struct {
    const char* from;
    const char* to;
  } faults[] = {
      // The phase never flips.
      {"wait(&full[stage], round % 2);", "wait(&full[stage], 0);"},
      // A stage is filled before it has been read.
      {"if (round > 0) wait(&empty[stage], (round - 1) % 2);", ""},
      // Nobody says that it has been read.
      {"arrive(&empty[stage]);", ""},
  };
  for (const auto& fault : faults) {
    const auto run =
        verify(sandbox, "ringed", replaced(kRinged, fault.from, fault.to), 4096, {"--json"});
    EXPECT_EQ(run.exit_code, 1) << fault.from << run.out << run.err;
    EXPECT_FALSE(nlohmann::json::parse(run.out)["findings"].empty()) << fault.from << run.out;
  }
}

TEST(Verify, ADeepCaseIsNotRunWhereTheProblemIsDeepItself) {
  const Sandbox sandbox;
  sandbox.write("ringed.cu", kRinged);
  const auto run = sandbox.run(with(on_gemm("verify", 8, 8, 1100), own_template("ringed")));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("run on    8 x 8 x 1100, 1 x 1 x 1, 77 x 141 x 53\n"), std::string::npos)
      << run.out;
}

/// A kernel that touches what it should not, and leaves every result as it is.
std::string touching(const std::string& fault) {
  return user_template("touching", fault);
}

TEST(Verify, WhatLeavesEveryResultAsItIsIsFoundWithItsLine) {
  const Sandbox sandbox;
  EXPECT_EQ(verify(sandbox, "touching", touching(""), 48).exit_code, 0);
  const struct {
    const char* fault;
    const char* kind;
    const char* text;
  } faults[] = {
      {"  if (row == args.m - 1) sum = fmaxf(sum, a[args.k]);", "out_of_bounds",
       "end of operand A"},
      {"  sum = fmaxf(sum, b[args.k * args.ldb]);", "out_of_bounds", "operand B"},
      {"  if (row == 0) sum = fmaxf(sum, a[-1]);", "out_of_bounds", "4 bytes before operand A"},
      {"  if (row == args.m - 1 && col == args.n - 1) d[1] = 0.0f;", "out_of_bounds", "operand D"},
      {"  if (col == 0) d[args.m * args.ldd] = 0.0f;", "out_of_bounds", "operand D"},
      {"  sum = fmaxf(sum, *d);", "uninitialised", "of operand D of m=1 n=1 k=1, 4-byte element "},
      {"  workspace[args.m] = 1.0f;", "out_of_bounds", "the workspace"},
  };
  for (const auto& fault : faults) {
    const auto run = verify(sandbox, "touching", touching(fault.fault), 48, {"--json"});
    EXPECT_EQ(run.exit_code, 1) << fault.fault << run.out << run.err;
    const auto findings = nlohmann::json::parse(run.out)["findings"];
    ASSERT_FALSE(findings.empty()) << fault.fault << run.out;
    EXPECT_EQ(findings[0]["kind"], fault.kind) << fault.fault << run.out;
    EXPECT_EQ(findings[0]["place"], "touching.cu:29") << fault.fault << run.out;
    EXPECT_NE(findings[0]["text"].get<std::string>().find(fault.text), std::string::npos)
        << fault.fault << run.out;
  }
}

TEST(Verify, AWorkspaceThatNobodyWroteIsFound) {
  const Sandbox sandbox;
  const auto run = verify(sandbox, "touching", touching("  sum = fmaxf(sum, workspace[row]);"), 48);
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.out.find("uninitialised at touching.cu:29"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("of the workspace of touching block_x=32, 4-byte element "),
            std::string::npos)
      << run.out;
}

TEST(Verify, RequirementsThatLeaveOutEveryRaggedSizeAreAWarning) {
  const Sandbox sandbox;
  const auto text = replaced(touching(""), "require    k <= 64 ", "require    m % 16 == 0");
  const auto run = verify(sandbox, "touching", text, 48);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("warning   the requirements of touching exclude every ragged size"),
            std::string::npos)
      << run.out;
  const auto tuned = sandbox.run(with(
      on_gemm("tune", 48, 48, 48), {"--dtype", "f32", "--templates", "touching", "--template-path",
                                    ".", "--device", "emulated:h200", "--budget", "60s"}));
  EXPECT_EQ(tuned.exit_code, 0) << tuned.out << tuned.err;
  EXPECT_NE(tuned.out.find("warning"), std::string::npos) << tuned.out;
  EXPECT_NE(tuned.out.find("ragged size"), std::string::npos) << tuned.out;
}

TEST(Verify, AnEdgeThatIsVerifiedIsNoWarning) {
  const Sandbox sandbox;
  const auto run = verify(sandbox, "touching", touching(""), 48);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_EQ(run.out.find("warning"), std::string::npos) << run.out;
}

TEST(Verify, CodeThatDoesNotFitItsFrontMatterIsExplainedWithItsLine) {
  const Sandbox sandbox;
  const struct {
    const char* from;
    const char* to;
    const char* says;
  } faults[] = {
      {"__global__ void ringed(", "__global__ void ring(", "ringed.cu:7: the launch"},
      {"class CIn, class D, class Acc>", "class D>", "ringed.cu:33: the kernel ringed has 4"},
      {"const kiln::GemmArgs args", "const kiln::GemmArgs& args",
       "ringed.cu:33: the kernel ringed has the wrong parameters: Kiln passes one kiln::GemmArgs "
       "by value"},
      {"const kiln::GemmArgs args", "const kiln::GemmArgs args, const int more",
       "one kiln::GemmArgs by value"},
      {"#include \"common/gemm_args.cuh\"\n",
       "#include \"common/gemm_args.cuh\"\n#include <vector>\n", "ringed.cu:12:10: there"},
  };
  for (const auto& fault : faults) {
    const auto run = verify(sandbox, "ringed", replaced(kRinged, fault.from, fault.to), 64);
    EXPECT_NE(run.exit_code, 0) << fault.to << run.err;
    const std::string told = run.out + run.err;
    EXPECT_NE(told.find(fault.says), std::string::npos) << fault.to << told;
    EXPECT_NE(told.find("Next: "), std::string::npos) << told;
  }
}

TEST(Verify, TypesOfFixedWidthNeedNoHeaderOfCudas) {
  const Sandbox sandbox;
  const std::string text =
      replaced(touching("  sum += std::uint64_t{0} + int64_t{0} * std::size_t{1};"),
               "#include \"common/gemm_args.cuh\"",
               "#include <cstdint>\n#include <stddef.h>\n#include <cuda/std/cstdint>\n"
               "#include \"common/gemm_args.cuh\"");
  const auto run = verify(sandbox, "touching", text, 48);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(Verify, VirtualFunctionsPointersAndVectorAtomicsAreExecuted) {
  const Sandbox sandbox;
  const std::string text = replaced(touching(R"(
  Twice twice;
  Thrice thrice;
  const Shape* shape = col % 2 ? static_cast<const Shape*>(&twice) : &thrice;
  sum = functions[col % 2 ? 0 : 1](shape->of(sum));
  if (add_halves(0xffff0001u, 0x20002u) != 0x10003u) sum = 1e30f;
  if (atomicAdd(&sums, make_float4(1, 1, 1, 1)).w < 0) sum = 1e30f;)"),
                                    "struct UserConfig {", R"(
struct Shape { __device__ virtual float of(float x) const = 0; };
struct Twice : Shape { __device__ float of(float x) const override { return 2 * x; } };
struct Thrice : Shape { __device__ float of(float x) const override { return 3 * x; } };
__device__ float half_of(float x) { return x / 2; }
__device__ float third_of(float x) { return x / 3; }
typedef float (*Function)(float);
__device__ Function volatile functions[2] = {half_of, third_of};
__device__ unsigned add_halves(unsigned a, unsigned b) {
  unsigned d;
  asm("vadd2.u32.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(0));
  return d;
}
__device__ float4 sums;

struct UserConfig {)");
  const auto run = verify(sandbox, "touching", text, 48);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
}

TEST(Verify, TilesMayBeNarrowerThanAVectorOfD) {
  const Sandbox sandbox;
  const auto run = sandbox.run(
      with(on_gemm("verify", 33, 48, 40), {"--template", "gemm_wgmma", "--dtype", "s8", "--d", "s8",
                                           "--layout", "nt", "--set", "tile_n=8"}));
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("correct"));
}

/// All checks ran and found nothing.
void expect_clean(const Run& run, const std::string& what = "") {
  EXPECT_EQ(run.exit_code, 0) << what << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("no findings; Kiln checked bounds")) << what;
}

/// The first `few`; with KILN_FULL_CATALOG, all of them.
std::vector<std::string> few_or_all(std::vector<std::string> all, std::size_t few) {
  if (!testing::full_catalog()) all.resize(few);
  return all;
}

/// A configuration of gemm_wgmma, of a bf16 problem that the emulated GPU runs in full.
void expect_right(const Sandbox& sandbox, const Words& problem, const char* layout,
                  const std::string& values, const Words& more = {}) {
  const auto run = sandbox.run(with(with(problem, {"--template", "gemm_wgmma", "--dtype", "bf16",
                                                   "--layout", layout, "--set", values}),
                                    more));
  expect_clean(run, values);
  EXPECT_THAT(run.out, Not(HasSubstr("too large to run"))) << values;
}

TEST(Verify, SharesOfStreamKAreAddedUp) {
  const Sandbox sandbox;
  struct Case {
    int m, n, k;
    std::string values;
    const char* layout;
  };
  // More tiles than multiprocessors, so that shares have whole tiles, which TMA stores, and
  // consumers that take turns; clusters; fewer tiles than multiprocessors; rows that are repacked.
  std::vector<Case> cases{
      {520, 272, 112,
       "tile_m=64,tile_n=16,consumers=2,schedule=pingpong,stages=3,store=tma,stream=2", "nt"}};
  if (testing::full_catalog()) {
    cases.insert(cases.end(),
                 {{1536, 88, 112,
                   "tile_m=64,tile_n=16,consumers=1,cluster_m=2,store=threads,stream=2", "nt"},
                  {200, 104, 500, "tile_m=64,tile_n=8,consumers=1,stream=1", "tt"},
                  {520, 272, 112, "tile_m=64,tile_n=16,consumers=1,store=tma,stream=2", "nt"},
                  {270, 99, 333, "tile_m=64,tile_n=64,consumers=1,repack=both,stream=1", "nn"}});
  }
  for (const Case& one : cases) {
    expect_right(sandbox, on_gemm("verify", one.m, one.n, one.k), one.layout, one.values,
                 {"--beta", "0.5"});
  }
}

TEST(Verify, OperandsThatLeaveL2FirstArriveLikeOthers) {
  const Sandbox sandbox;
  // One operand, copied to the blocks of a cluster, and both.
  for (const std::string& values : few_or_all(
           {"evict_first=both", "evict_first=rows,cluster_n=2", "evict_first=cols,cluster_m=2"},
           1)) {
    expect_right(sandbox, on_gemm("verify", 200, 104, 136), "nt",
                 std::string("tile_m=64,tile_n=32,consumers=1,stages=3,") + values);
  }
}

TEST(Verify, BlocksMayAskL2ForTheirFirstStagesAhead) {
  const Sandbox sandbox;
  // Fewer tiles than stages, more of them, parts of k, clusters and shares of the last turns.
  for (const std::string& values :
       few_or_all({"stages=2,splits=2", "stages=3,cluster_m=2,swap=1,store=threads",
                   "stages=3,cluster_n=2,group_m=1", "stages=4,cluster_parts=2",
                   "stages=3,stream=1", "stages=6"},
                  1)) {
    expect_right(sandbox, on_gemm("verify", 200, 104, 264), "nt",
                 std::string("ahead=1,tile_m=64,tile_n=32,consumers=1,") + values);
  }
}

TEST(Verify, RingsOfTensorCopiesOfAnyLengthAreRight) {
  const Sandbox sandbox;
  // From five stages on, the one before the last is refilled; of two parts of k, the second begins
  // in the middle.
  for (const std::string& values :
       few_or_all({"stages=5,buffers=2", "splits=2", "stages=2,buffers=1"}, 1)) {
    const auto run = sandbox.run(
        with(on_gemm("verify", 70, 40, 200),
             {"--template", "gemm_mma", "--dtype", "f64", "--set",
              std::string("copy=tma,atom_bytes=64,depth_bytes=128,tile_m=64,tile_n=32,warp_m=32,") +
                  "warp_n=16," + values}));
    expect_clean(run, values);
  }
}

TEST(Epilogues, AreCheckedWithTheirOperands) {
  const Sandbox sandbox;
  const auto run = sandbox.run(
      with(on_gemm("verify", 33, 40, 24),
           {"--dtype", "f16", "--epilogue", "silu(acc * alpha + bias[n]) + other[m,n] * scale[]"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("correct"));
  EXPECT_THAT(run.out, HasSubstr("silu(acc*alpha+bias[n])+other[m,n]*scale[]"));
}

TEST(Epilogues, ReadCInItsOwnPlaceOnly) {
  // D is C, and tiles that reach beyond it must not read the edge, which others write.
  const Sandbox sandbox;
  const auto run = sandbox.run(with(on_gemm("verify", 127, 72, 40),
                                    {"--template", "gemm_wgmma", "--dtype", "bf16", "--layout",
                                     "nt", "--beta", "2", "--epilogue", "acc*s[m]+c*beta"}));
  expect_clean(run);
}

TEST(Epilogues, ReadCAsItIsAligned) {
  // D is stored by tensor copies, C starts on 2 bytes.
  const Sandbox sandbox;
  const auto run = sandbox.run(
      with(on_gemm("verify", 296, 72, 40),
           {"--template", "gemm_wgmma", "--set", "tile_n=64", "--dtype", "bf16", "--layout", "nt",
            "--beta", "2", "--align-c", "2", "--epilogue", "acc*s[m]+c*beta"}));
  expect_clean(run);
}

TEST(Epilogues, WhatCannotBeBoundedIsCounted) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run(with(on_gemm("verify", 40, 40, 4), {"--dtype", "tf32", "--epilogue", "1 / acc"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("correct"));
  EXPECT_THAT(run.out, HasSubstr("Kiln accepts any value of these elements"));
}

TEST(Epilogues, OfOneTextForSeveralTypesAreNotMixedUp) {
  // Operands are f32 for both, C is not.
  const Sandbox sandbox;
  for (const char* type : {"f32", "s8"}) {
    const auto run = sandbox.run(
        with(on_gemm("run", 8, 8, 8),
             {"--dtype", type, "--epilogue", "acc + c * scale[]", "--device", "emulated:h200"}));
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr("yes, 64 elements"));
  }
}

TEST(Epilogues, ATemplateThatIgnoresAnEpilogueIsFound) {
  const Sandbox sandbox;
  const std::string text = user_template("ignores");
  const Words epilogue{"--epilogue", "relu(acc * alpha)"};
  const auto without = verify(sandbox, "ignores", text, 24, epilogue);
  EXPECT_NE(without.exit_code, 0);
  EXPECT_THAT(without.err, HasSubstr("the template ignores does not accept epilogues"));
  const auto claimed =
      verify(sandbox, "ignores", replaced(text, "//@ arch ", "//@ epilogue   yes\n//@ arch "), 24,
             epilogue);
  EXPECT_EQ(claimed.exit_code, 1) << claimed.err;
  EXPECT_THAT(claimed.out, HasSubstr("NOT correct, wrong_result"));
}

/// A thread for each element of D, with an expression. FAULT may change what it is called with.
constexpr const char* kRecording = R"(//@ template   recording
//@ purpose    A GEMM by its definition, with an expression.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ epilogue   yes
//@ require    k <= 64   // leaves out the sizes that take seconds
#include "lib/output.cuh"
struct RecordingConfig {  //@ config
  int threads;            //@ tune 32*
};
//@ launch     recording
//@   grid     m * n
//@   block    1
__device__ float lost;
template <RecordingConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void recording(kiln::GemmArgs args) {
  const int row = static_cast<int>(blockIdx.x) / args.n;
  const int col = static_cast<int>(blockIdx.x) % args.n;
  Acc sum = 0;
  for (int i = 0; i < args.k; ++i) {
    sum += static_cast<const A*>(args.a)[row * args.lda + i] *
           static_cast<const B*>(args.b)[i * args.ldb + col];
  }
  FAULT
  const kiln::Output<CIn, D, Acc, true> output(args);
  output.store(row, col, sum, output.alpha(), output.beta());
}
)";

TEST(Epilogues, AWrongPeakIsFound) {
  const Sandbox sandbox;
  const struct {
    const char* fault;
    const char* finding;
  } cases[] = {
      {"args.operand[0] = &lost;", "peak, row 0: amax recorded nothing, expected "},
      {"if (row + col == 0) *static_cast<float*>(const_cast<void*>(args.operand[0])) = 1e6f;",
       "peak, row 0: amax recorded 1000000, expected "},
  };
  for (const auto& one : cases) {
    const auto run = verify(sandbox, "recording", replaced(kRecording, "FAULT", one.fault), 9,
                            {"--epilogue", "amax(relu(acc * alpha), peak[m]) / scale[]"});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_THAT(run.out, HasSubstr(one.finding)) << one.fault;
  }
}

// Pairs of columns in two rows are finished together only where nothing is recorded.
TEST(Epilogues, TensorCopiesStoreWhatRecordsPeaksOfColumns) {
  const Sandbox sandbox;
  for (const std::string& extent : few_or_all({"n", "m", ""}, 1)) {
    const std::string expression = std::string("amax(relu(acc * alpha), peak[") + extent + "])";
    const auto run =
        sandbox.run(with(on_gemm("verify", 40, 24, 64),
                         {"--layout", "nt", "--a", "bf16", "--b", "bf16", "--d", "f32", "--acc",
                          "f32", "--epilogue", expression, "--template", "gemm_wgmma", "--set",
                          "store=tma,tile_m=64,tile_n=16,consumers=1"}));
    EXPECT_EQ(run.exit_code, 0) << expression << run.out << run.err;
  }
}

TEST(Epilogues, FaultsOfAnExpressionAreShownInIt) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run(with(on_gemm("verify", 8, 8, 8), {"--epilogue", "silo(acc) + bias[n]"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--epilogue: column 1: "), HasSubstr("\"silo\""),
                             HasSubstr("\"silu\"?\n  silo(acc) + bias[n]\n  ^")));
  const auto unused =
      sandbox.run(with(on_gemm("verify", 8, 8, 8), {"--epilogue", "relu(acc)", "--alpha", "2"}));
  EXPECT_THAT(unused.err, HasSubstr("--alpha 2: the epilogue does not use alpha"));
}

TEST(Epilogues, RunChecksAnEpilogueOnTheHost) {
  const Sandbox sandbox;
  const auto run =
      sandbox.run(with(on_gemm("run", 33, 40, 24),
                       {"--device", "emulated:h200", "--dtype", "bf16", "--epilogue",
                        "amax(gelu(acc + bias:f32[m]), peak[n]) / (1 + abs(c)) - other[m,n]"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("yes, 1,320 elements"));
}

}  // namespace
}  // namespace kiln::cli
