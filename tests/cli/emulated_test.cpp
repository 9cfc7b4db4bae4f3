// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the program does with the emulated GPU, on problems that take a second.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "cache/store/store.hpp"
#include "tests/cli/sandbox.hpp"
#include "tests/support/full_catalog.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// The definition of a GEMM, with a place for a fault.
constexpr const char* kPlantable = R"(//@ template   planted
//@ purpose    A kernel with a fault in it.
//@ operation  gemm
//@ arch       sm >= 75
//@ types      a=f32 b=f32 c=f32 d=f32 acc=f32
//@ require    k <= 64   // leaves out the larger of the ragged cases, which take seconds
//@ launch     planted
//@   grid     ceil_div(n, block_x), m
//@   block    block_x, 1

#include "common/gemm_args.cuh"

struct PlantedConfig {  //@ config
  int block_x;  //@ tune 32* 64      // threads along a row of D
};

template <PlantedConfig C, class A, class B, class CIn, class D, class Acc>
__global__ void planted(const kiln::GemmArgs args) {
  __shared__ float seen[64];
  const int t = threadIdx.x;
  const int row = blockIdx.y;
  const int col = blockIdx.x * C.block_x + t;
  float sum = 0;
  if (col < args.n) {
    for (int i = 0; i < args.k; ++i) {
      sum += static_cast<const float*>(args.a)[row * args.lda + i] *
             static_cast<const float*>(args.b)[i * args.ldb + col];
    }
  }
  seen[t] = sum;
$FAULT
  if (col < args.n) static_cast<float*>(args.d)[row * args.ldd + col] = float(args.alpha) * sum;
}
)";

void plant(const Sandbox& sandbox, const std::string& fault) {
  std::string text = kPlantable;
  text.replace(text.find("$FAULT"), 6, fault);
  sandbox.write("planted.cu", text);
}

/// A verb on that kernel, for a problem that needs both of its warps.
Words on_planted(const std::string& verb) {
  return with(on_gemm(verb, 4, 48, 8), {"--dtype", "f32", "--set", "block_x=64", "--template",
                                        "planted", "--template-path", "."});
}

/// The verb on that kernel with `fault` in its place.
Run run_planted(const Sandbox& sandbox, const std::string& verb, const std::string& fault,
                const Words& more = {}) {
  plant(sandbox, fault);
  return sandbox.run(with(on_planted(verb), more));
}

Words on_emulated(const Words& words) {
  return with(words, {"--device", "emulated:h200"});
}

Words small_problem(const std::string& verb) {
  return on_gemm(verb, 48, 40, 24);
}

TEST(Emulated, DoctorKnowsIt) {
  Sandbox sandbox;
  sandbox.set("KILN_DEVICE", "emulated:h200");
  const auto run = sandbox.run({"doctor"});
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("an emulated NVIDIA H200, sm_90a, 132 SMs"), std::string::npos) << run.out;
}

TEST(Emulated, DoctorCallsAnUnknownOneBroken) {
  const Sandbox sandbox;
  const auto run = sandbox.run({"doctor", "--device", "emulated:b300"});
  EXPECT_EQ(run.exit_code, 1) << run.out;
  EXPECT_NE(run.out.find("h200"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("must be like"), std::string::npos) << run.out;
}

TEST(Emulated, AProfileOfOnesOwnIsADevice) {
  const Sandbox sandbox;
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/runtime/model/profiles/h200.toml");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string name = "gpu = \"NVIDIA H200\"";
  text.replace(text.find(name), name.size(), "gpu = \"Imagined GPU\"");
  sandbox.write("mine.toml", text);
  const auto run = sandbox.run(with(
      small_problem("inspect"), {"--device", "emulated:mine.toml", "--template", "gemm_naive"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("on emulated Imagined GPU"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("  predicted  "), std::string::npos) << run.out;
}

TEST(Emulated, EveryVerbThatFindsNoGpuNamesIt) {
  const Sandbox sandbox;
  for (const char* verb : {"tune", "bench", "run"}) {
    const auto run = sandbox.run(small_problem(verb));
    EXPECT_EQ(run.exit_code, 4) << verb;
    EXPECT_NE(run.err.find("--device emulated:h200"), std::string::npos) << run.err;
  }
}

TEST(Emulated, AnUnknownModelIsNamedWithTheKnownOnes) {
  const Sandbox sandbox;
  const auto run = sandbox.run(with(small_problem("run"), {"--device", "emulated:b300"}));
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("b300"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("h200"), std::string::npos) << run.err;
}

TEST(Emulated, RunComputesAndClaimsNoTime) {
  const Sandbox sandbox(Sandbox::Cache::own);
  const auto arguments = on_emulated(small_problem("run"));
  const auto text = sandbox.run(arguments);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("on emulated NVIDIA H200"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("verified  yes, 1,920 elements"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("1 kernel compiled"), std::string::npos) << text.out;
  EXPECT_EQ(text.err.find("--repeat"), std::string::npos) << text.err;

  const auto run =
      sandbox.run(with(arguments, {"--json", "--beta", "1", "--layout", "nt", "--repeat", "5"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("--repeat has no effect"), std::string::npos) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["emulated"]);
  EXPECT_TRUE(json["verified"]);
  EXPECT_TRUE(json["times_ns"].empty());
  EXPECT_FALSE(json.contains("tflops"));
}

/// What each verb does with a problem in which a size is 0.
TEST(Emulated, RunEndsAnEndlessKernelAfterTheTimeout) {
  const Sandbox sandbox;
  plant(sandbox, "  while (atomicAdd(seen, 0.0f) >= 0.0f) {}");
  std::string text = sandbox.read("planted.cu");
  sandbox.write("planted.cu", text.insert(text.find("//@ require"), "//@ priority   1000\n"));
  const Words words =
      with(on_emulated(on_gemm("run", 4, 48, 8)),
           {"--dtype", "f32", "--template-path", ".", "--mode", "default_only", "--json"});
  const auto run = sandbox.run(with(words, {"--timeout", "1s"}));
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.err.find("the kernel planted did not end within 1 s. Next: if the kernel is only "
                         "slow, raise --timeout"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["kind"], "timed_out");
  const auto mistaken = sandbox.run(with(words, {"--timeout", "soon"}));
  EXPECT_EQ(mistaken.exit_code, 2) << "before anything is compiled";
}

TEST(Emulated, SizesOfZeroAreProblems) {
  const Sandbox sandbox;
  for (const Words& more : {Words{}, Words{"--beta", "0.5"}}) {
    const auto run = sandbox.run(on_emulated(with(on_gemm("run", 24, 40, 0), more)));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("exact: "), HasSubstr("k is 0")));
    EXPECT_NE(run.out.find("yes, 960 elements"), std::string::npos) << run.out;
  }
  const auto verify = sandbox.run(on_emulated(with(
      on_gemm("verify", 24, 40, 0), {"--dtype", "f32", "--beta", "2", "--template", "gemm_simt"})));
  EXPECT_EQ(verify.exit_code, 0) << verify.err;
  EXPECT_NE(verify.out.find("run on    24 x 40 x 0, 1 x 1 x 1"), std::string::npos) << verify.out;
  const auto bench = sandbox.run(on_emulated(on_gemm("bench", 24, 40, 0)));
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_NE(bench.out.find("outcome   ok, verified"), std::string::npos) << bench.out;
  const auto empty = sandbox.run(on_emulated(on_gemm("run", 0, 40, 8)));
  EXPECT_EQ(empty.exit_code, 0) << empty.err;
  EXPECT_NE(empty.out.find("template  none"), std::string::npos) << empty.out;
}

/// Against the host, which reads packed values in its own way.
TEST(Emulated, PackedOperandsOfEveryLayout) {
  const Sandbox sandbox;
  for (const Words& more : {Words{"--dtype", "s4", "--layout", "tn"},
                            Words{"--dtype", "u4", "--layout", "nt", "--lda", "192"},
                            Words{"--dtype", "b1", "--layout", "tt"},
                            Words{"--dtype", "b1_xor", "--layout", "nt", "--beta", "2"}}) {
    const auto run = sandbox.run(on_emulated(with(on_gemm("run", 24, 40, 128), more)));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("yes, 960 elements"), std::string::npos) << run.out;
  }
}

// The second process finds the PTX of the first one in the store of compiled kernels.
TEST(Emulated, RunLoadsWhatAnotherProcessCompiled) {
  const Sandbox sandbox;
  const auto arguments = on_emulated(small_problem("run"));
  ASSERT_EQ(sandbox.run(arguments).exit_code, 0);
  const auto again = sandbox.run(arguments);
  EXPECT_NE(again.out.find("0 kernels compiled and 1 loaded from the cubin store"),
            std::string::npos)
      << again.out << again.err;
}

// From the search to a program that uses what it found: every step calls it a prediction.
TEST(Emulated, TuningPredictsAndSaysSo) {
  const Sandbox sandbox;
  const auto tuned = sandbox.run(with(on_emulated(small_problem("tune")),
                                      {"--templates", "gemm_naive", "--set", "block_x=32", "--set",
                                       "block_y=4", "--budget", "2m", "--warm", "--json"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.err.find("--samples and --warm have no effect here"), std::string::npos)
      << tuned.err;
  const auto result = nlohmann::json::parse(tuned.out)["results"].at(0);
  EXPECT_EQ(result["outcomes"]["ok"], 1);
  EXPECT_EQ(result["session"]["state"], "complete");
  EXPECT_EQ(result["best"]["provenance"], "modelled");
  EXPECT_EQ(result["device"]["name"], "NVIDIA H200");
  EXPECT_GT(result["best"]["timing"]["median_ns"], 0.0);
  EXPECT_FALSE(result.contains("comparison")) << "no cuBLASLt on an emulated GPU";

  const auto list = sandbox.run({"list"});
  EXPECT_NE(list.out.find(" us modelled"), std::string::npos) << list.out;
  const auto show = sandbox.run(small_problem("show"));
  EXPECT_NE(show.out.find(" us, modelled: "), std::string::npos) << show.out;
  EXPECT_NE(show.out.find("exact: predicted for this problem"), std::string::npos) << show.out;
  const auto run = sandbox.run(on_emulated(small_problem("run")));
  EXPECT_NE(run.out.find("match     exact: predicted for this problem"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("0 kernels compiled"), std::string::npos) << run.out;
}

TEST(Emulated, TuningForAGpuThatNobodyMeasuredSaysSo) {
  const Sandbox sandbox;
  const auto tuned = sandbox.run(with(
      small_problem("tune"), {"--device", "emulated:a100", "--templates", "gemm_naive", "--set",
                              "block_x=32", "--set", "block_y=4", "--budget", "2m", "--json"}));
  ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_NE(tuned.err.find("holds published figures, not measurements"), std::string::npos)
      << tuned.err;
  const auto best = nlohmann::json::parse(tuned.out)["results"].at(0)["best"];
  EXPECT_THAT(best["environment"]["driver"].get<std::string>(), HasSubstr("published"));
}

TEST(Emulated, BenchSearchesAsTuneDoes) {
  const Sandbox sandbox;
  const auto bench =
      sandbox.run(with(on_emulated(small_problem("bench")), {"--tune", "10ms", "--warm"}));
  EXPECT_EQ(bench.exit_code, 0) << bench.err;
  EXPECT_NE(bench.err.find("--rounds, --turn and --warm have no effect"), std::string::npos)
      << bench.err;
  EXPECT_NE(bench.err.find("--tune 10ms: tuning found no kernel in this time"), std::string::npos)
      << bench.err;
  const auto store = TuningStore::open(sandbox.database().string(), OpenMode::read_only);
  const auto sessions = store.sessions({});
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions.front().strategy, "model seed=1");
}

TEST(Emulated, AnEndlessCandidateIsKilledAndTheNextOneTried) {
  const Sandbox sandbox;
  plant(sandbox, "  if constexpr (C.block_x == 64) while (atomicAdd(seen, 0.0f) >= 0.0f) {}");
  const auto run =
      sandbox.run(with(on_emulated(on_gemm("tune", 4, 48, 8)),
                       {"--dtype", "f32", "--templates", "planted", "--template-path", ".",
                        "--candidate-timeout", "3s", "--budget", "60s", "--json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto result = nlohmann::json::parse(run.out)["results"].at(0);
  EXPECT_EQ(result["outcomes"]["ok"], 1) << run.out;
  EXPECT_EQ(result["outcomes"]["timed_out"], 1) << run.out;
  EXPECT_EQ(result["best"]["config"]["block_x"], 32) << run.out;
}

TEST(Verify, PassesASoundKernelWithEveryCheckOn) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "verify", "");
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  EXPECT_NE(run.out.find("on emulated NVIDIA H200"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("verdict   correct"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("no findings"), std::string::npos) << run.out;
}

TEST(Verify, NamesARaceWithPlaceThreadAndSourceLine) {
  const Sandbox sandbox;
  const std::string fault = "  sum += 0 * seen[C.block_x - 1 - t];";
  const auto text = run_planted(sandbox, "verify", fault);
  EXPECT_EQ(text.exit_code, 1) << text.err;
  EXPECT_NE(text.out.find("race at planted.cu:31 in planted, block ("), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("planted.cu:31 | sum += 0 * seen[C.block_x - 1 - t];"), std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("verdict   NOT correct; the checks found: "), std::string::npos)
      << text.out;
  EXPECT_EQ(text.out.find("crashed"), std::string::npos) << text.out;
  EXPECT_THAT(text.out, ContainsRegex("checks    [0-9]+ found; [0-9,]+ more at the same lines are "
                                      "not listed\n"));
  EXPECT_THAT(text.out, ContainsRegex("byte [0-9]+ of seen, 4-byte element [0-9]+"));
  EXPECT_THAT(text.out, Not(HasSubstr("address 0x"))) << "an offset says nothing to an author";

  const auto run = run_planted(sandbox, "verify", fault, {"--json"});
  EXPECT_EQ(run.exit_code, 1);
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_FALSE(json["clean"]);
  EXPECT_EQ(json["outcome"], "wrong_result");
  EXPECT_TRUE(json["found_by_checks"]);
  const auto& findings = json["findings"];
  const auto race = std::find_if(findings.begin(), findings.end(), [](const auto& one) {
    return one["kind"] == "race" && one["place"] == "planted.cu:31";
  });
  ASSERT_NE(race, findings.end()) << run.out;
  EXPECT_EQ((*race)["line"], "sum += 0 * seen[C.block_x - 1 - t];");
  EXPECT_GE((*race)["times"], 1);
  EXPECT_EQ((*race)["thread"].size(), 3U);
}

TEST(Verify, AFaultThatEndsTheLaunchIsACrash) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "verify", "  sum += 0 * seen[t + 64];");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.out.find("verdict   NOT correct, crashed: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("out_of_bounds at planted.cu:31"), std::string::npos) << run.out;
  EXPECT_THAT(run.out, HasSubstr("checks    1 found\n")) << "nothing is left out";
  EXPECT_NE(run.out.find("\n  Next: compare the index with the size"), std::string::npos)
      << run.out;
}

TEST(Verify, AFindingInALambdaNamesItsLineOnce) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "verify", "  sum += [&] { return 0 * seen[t + 64]; }();");
  EXPECT_NE(run.out.find("out_of_bounds at planted.cu:31 in planted"), std::string::npos)
      << run.out;
  EXPECT_EQ(run.out.find("called at"), std::string::npos) << run.out;
}

TEST(Verify, AFindingInAFunctionNamesItsCaller) {
  const Sandbox sandbox;
  std::string text = kPlantable;
  text.replace(text.find("$FAULT"), 6, "  sum += 0 * neighbour(seen, C.block_x - 1 - t);");
  const std::string function =
      "__device__ float neighbour(const float* of, int at) {\n  return of[at];\n}\n\n";
  text.insert(text.find("template <PlantedConfig C"), function);
  sandbox.write("planted.cu", text);
  const auto shown = sandbox.run(on_planted("verify"));
  EXPECT_NE(shown.out.find("uninitialised at planted.cu:18, called at planted.cu:35, in planted"),
            std::string::npos)
      << shown.out;
  EXPECT_NE(shown.out.find("called at ./planted.cu:35 | sum += 0 * neighbour("), std::string::npos)
      << shown.out;
  const auto json = nlohmann::json::parse(sandbox.run(with(on_planted("verify"), {"--json"})).out);
  ASSERT_FALSE(json["findings"].empty());
  // The race that explains it comes first.
  const auto& read = json["findings"].back();
  EXPECT_EQ(read["place"], "planted.cu:18");
  EXPECT_EQ(read["called_at"], "planted.cu:35");
  EXPECT_EQ(read["caller"], "sum += 0 * neighbour(seen, C.block_x - 1 - t);");
}

TEST(Verify, ARaceNamesTheCallersOfBothAccesses) {
  const Sandbox sandbox;
  std::string text = kPlantable;
  text.replace(text.find("$FAULT"), 6, "  sum += 0 * value_of(seen, C.block_x - 1 - t);");
  text.replace(text.find("seen[t] = sum"), 13, "keep(seen, t, sum)");
  text.insert(text.find("template <PlantedConfig C"),
              "__device__ void keep(float* of, int at, float value) {\n  of[at] = value;\n}\n"
              "__device__ float value_of(const float* of, int at) {\n  return of[at];\n}\n\n");
  sandbox.write("planted.cu", text);
  const auto shown = sandbox.run(on_planted("verify"));
  EXPECT_NE(shown.out.find("race at planted.cu:21, called at planted.cu:38, in planted"),
            std::string::npos)
      << shown.out;
  EXPECT_NE(
      shown.out.find(" at planted.cu:18 (called at planted.cu:37) writes, and nothing orders"),
      std::string::npos)
      << shown.out;
  // Both in the kernel's text, too.
  EXPECT_NE(shown.out.find("  ./planted.cu:18 | of[at] = value;\n"
                           "  called at ./planted.cu:37 | keep(seen, t, sum);\n"
                           "  Next: put __syncthreads() between the two lines"),
            std::string::npos)
      << shown.out;
  const auto json = nlohmann::json::parse(sandbox.run(with(on_planted("verify"), {"--json"})).out);
  const auto& findings = json["findings"];
  const auto race = std::find_if(findings.begin(), findings.end(), [](const auto& one) {
    return one["kind"] == "race" && one["place"] == "planted.cu:21";
  });
  ASSERT_NE(race, findings.end());
  EXPECT_EQ((*race)["other_place"], "planted.cu:18");
  EXPECT_EQ((*race)["other_line"], "of[at] = value;");
  EXPECT_EQ((*race)["other_called_at"], "planted.cu:37");
  EXPECT_EQ((*race)["other_caller"], "keep(seen, t, sum);");
}

TEST(Verify, AWrongResultIsExitCodeOneWithItsEvidence) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "verify", "  if (col == 7) sum += 1;");
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_NE(run.out.find("verdict   NOT correct, wrong_result: "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("column 7"), std::string::npos) << run.out;
}

TEST(Verify, AProblemThatNothingComputesIsExitCodeThree) {
  const Sandbox sandbox;
  for (const char* verb : {"verify", "inspect"}) {
    const auto run = sandbox.run(with(on_gemm(verb, 8, 8, 8), {"--dtype", "s32"}));
    EXPECT_EQ(run.exit_code, 3) << verb << run.err;
    EXPECT_NE(run.err.find("no template computes"), std::string::npos) << run.err;
  }
}

TEST(Inspect, CountsTheLaunchesOfAKernelThatRepeats) {
  const Sandbox sandbox;
  const Words arguments{
      "inspect",         "hotspot",
      "--height",        "64",
      "--width",         "64",
      "--steps",         "24",
      "--template-path", std::string(KILN_SOURCE_DIR) + "/tests/gpu/against-kernel-tuner/src",
      "--device",        "emulated:h200",
      "--template",      "hotspot_kernel",
      "--set",           "block_size_x=32,temporal_tiling_factor=4"};
  const auto text = sandbox.run(arguments);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("launches   6 in a run"), std::string::npos) << text.out;
  const auto launches = nlohmann::json::parse(sandbox.run(with(arguments, {"--json"})).out);
  EXPECT_EQ(launches["launches"].at(0)["times_in_run"], 6);
}

TEST(Inspect, CountsTheConflictsOfALine) {
  const Sandbox sandbox;
  // 32 lanes, two to a bank.
  plant(sandbox, "  __syncthreads();\n  if (t < 32) sum += 0 * seen[2 * t];");
  const Words arguments =
      with(on_gemm("inspect", 4, 64, 8), {"--dtype", "f32", "--template", "planted", "--set",
                                          "block_x=64", "--template-path", ".", "--clusters", "1"});
  const auto text = sandbox.run(with(arguments, {"--source"}));
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("counted    Kiln ran 1 of 4 blocks"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("if (t < 32) sum += 0 * seen[2 * t];"), std::string::npos) << text.out;

  const auto run = sandbox.run(with(arguments, {"--json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto launch = nlohmann::json::parse(run.out)["launches"].at(0);
  EXPECT_EQ(launch["blocks"], 4);
  EXPECT_EQ(launch["blocks_counted"], 1);
  EXPECT_GT(launch["predicted_ns"], 100.0);
  EXPECT_LT(launch["predicted_ns"], 100000.0);
  EXPECT_FALSE(launch["bound"].get<std::string>().empty());
  EXPECT_GT(launch["busy"]["issue slots"], 0.0);
  const auto& lines = launch["lines"];
  const auto line = std::find_if(lines.begin(), lines.end(), [](const auto& one) {
    return one["place"] == "planted.cu:32" && one["shared_requests"] > 0;
  });
  ASSERT_NE(line, lines.end()) << run.out;
  EXPECT_EQ((*line)["shared_requests"], 4) << "one warp of each of four blocks";
  EXPECT_EQ((*line)["shared_wavefronts"], 8);
  EXPECT_EQ((*line)["shared_conflicts"], 4);
}

TEST(Inspect, AnEndlessKernelIsEndedAfterTheTimeout) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "inspect", "  while (atomicAdd(seen, 0.0f) >= 0.0f) {}",
                               {"--timeout", "1s"});
  EXPECT_EQ(run.exit_code, 4) << run.out << run.err;
  EXPECT_NE(run.err.find("timed_out at planted.cu:31"), std::string::npos) << run.err;
}

// D takes 80 GB, of which one block writes some thousand bytes.
TEST(Inspect, OperandsMayBeLargerThanTheMachine) {
  const Sandbox sandbox;
  const auto run = sandbox.run(with(on_gemm("inspect", 200000, 200000, 64),
                                    {"--template", "gemm_wmma", "--clusters", "1", "--json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto launch = nlohmann::json::parse(run.out)["launches"].at(0);
  EXPECT_EQ(launch["blocks_counted"], 1);
  EXPECT_GT(launch["blocks"], 1'000'000);
  EXPECT_GT(launch["predicted_ns"], 1e6);
}

// Stages of 128 bytes, so that every row of a tile is a line of the banks.
TEST(Inspect, FastKernelsHaveNoBankConflicts) {
  struct Kernel {
    const char* type;
    const char* layout;
    const char* name;
    const char* values;
  };
  const Sandbox sandbox;
  std::vector<Kernel> kernels{
      {"bf16", "nt", "gemm_mma", "depth_bytes=128"},
      {"tf32", "nn", "gemm_mma", "depth_bytes=128"},
      {"f64", "nn", "gemm_mma", "copy=tma,atom_bytes=64,depth_bytes=128"},
      {"f32", "nn", "gemm_simt", "turned=1,tile_m=128,tile_n=256,slice_k=8"},
      // With KILN_FULL_CATALOG:
      {"f16", "nn", "gemm_mma", "depth_bytes=128"},
      {"f64", "nn", "gemm_mma", "depth_bytes=128"},
      {"f64", "tt", "gemm_mma", "depth_bytes=128"},
      {"f64", "tn", "gemm_mma", "copy=tma,atom_bytes=64,depth_bytes=128"},
      {"s8", "nt", "gemm_mma", "depth_bytes=128"},
      {"f32", "tt", "gemm_simt", "turned=1,tile_m=128,tile_n=128"},
      {"f64", "nt", "gemm_simt", "turned=1,tile_m=64,tile_n=128"}};
  if (!testing::full_catalog()) kernels.resize(4);
  for (const Kernel& kernel : kernels) {
    const auto run =
        sandbox.run(with(on_gemm("inspect", 256, 256, 256),
                         {"--dtype", kernel.type, "--layout", kernel.layout, "--template",
                          kernel.name, "--set", kernel.values, "--clusters", "1", "--json"}));
    const std::string which = std::string(kernel.type) + " " + kernel.layout;
    ASSERT_EQ(run.exit_code, 0) << which << run.err;
    const auto total = nlohmann::json::parse(run.out)["launches"].at(0)["total"];
    EXPECT_GT(total["shared_wavefronts"], 0) << which;
    EXPECT_EQ(total["shared_conflicts"], 0) << which;
  }
}

TEST(Inspect, WhatDoesNotCompileHasADocument) {
  const Sandbox sandbox;
  const auto run = run_planted(sandbox, "inspect", "  no such thing;", {"--json"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["outcome"], "compile_failed");
  EXPECT_NE(document["message"].get<std::string>().find("planted.cu"), std::string::npos);
  EXPECT_TRUE(document["launches"].empty());
}

TEST(Inspect, WantsAnEmulatedDevice) {
  const Sandbox sandbox;
  const auto run = sandbox.run(with(small_problem("inspect"), {"--device", "cuda:0"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("emulated:h200"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace kiln::cli
