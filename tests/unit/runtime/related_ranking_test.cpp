// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/related_ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/model/device_profile.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/space/tunable_value.hpp"
#include "tests/support/built_in_config.hpp"
#include "tests/support/toy_templates.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::detail {
namespace {

using ::testing::HasSubstr;

/// Hopper's best for large products, as an H200 has it; with half as many columns for smaller ones.
Config wide() {
  return testing::built_in_config("gemm_wgmma", {{"tile_n", 256}, {"cluster_m", 2}});
}
Config narrow() {
  return testing::built_in_config("gemm_wgmma", {});
}

DeviceInfo device_of(const char* model) {
  const DeviceProfile profile = built_in_profile(model).value();
  DeviceInfo info;
  info.limits = profile.limits;
  info.device_class = profile.device_class;
  info.driver = "580.1";
  return info;
}

Problem problem_of(std::int64_t m, std::int64_t n, std::int64_t k, DType type = DType::f16) {
  return to_problem(Gemm::of(type, m, n, k));
}

/// A database in which 2048^3 is tuned on an H200, and what another program gets from it.
class RelatedRankingTest : public ::testing::Test {
 protected:
  RelatedRankingTest() {
    store("gemm_wgmma", wide(), 25'600.0);
    store("gemm_wgmma", narrow(), 28'800.0);
  }

  static Trial trial_of(const Problem& problem, const std::string& name, const Config& config,
                        double ns) {
    Trial trial;
    trial.key = {problem, device_of("h200").device_class, name, Catalog::builtin().digest(name),
                 config};
    trial.environment = {"580.1", "nvrtc 13.0", "cold"};
    // The more registers, the faster: otherwise a shortlist has only the fastest.
    trial.resources = KernelResources{.registers = static_cast<int>(3e6 / ns), .occupancy = 0.1};
    trial.verification = Verification{true, 0.1, ""};
    trial.timing = Timing{{ns, ns, ns}, ns, 0.001 * ns, 1755, 350.0, 45, true};
    trial.rendered_digest = "0123456789abcdef0123456789abcdef";
    trial.session_id = "fedcba9876543210fedcba9876543210";
    return trial;
  }
  void store(const std::string& name, const Config& config, double ns) {
    (void)TuningStore::open(path_, OpenMode::read_write)
        .record(trial_of(problem_of(2048, 2048, 2048), name, config, ns));
  }

  [[nodiscard]] std::optional<Choice> choose(const Problem& problem, const Refused& refused = {},
                                             const char* model = "h200") const {
    WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
    const DeviceInfo device = device_of(model);
    KernelChooser chooser(Catalog::builtin(), device, path_, {}, warnings);
    return chooser.stored(problem, "nvrtc 13.0", refused).choice;
  }

  testing::TemporaryFolder folder_;
  std::string path_ = folder_.file("tuning.db");
};

bool is_valid(const Choice& choice, const Problem& problem, const DeviceLimits& limits) {
  return !choice.kernel_template->why_unsupported(problem, limits) &&
         choice.kernel_template->space(problem, limits).contains(choice.config);
}

TEST_F(RelatedRankingTest, UnalignedRowsAreRepacked) {
  const Problem problem = problem_of(2040, 2044, 2048);
  ASSERT_EQ(problem.trait("align_b"), 8);
  const auto choice = choose(problem);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->match, Match::related_problem);
  EXPECT_EQ(choice->kernel_template->name(), "gemm_wgmma");
  EXPECT_TRUE(is_valid(*choice, problem, device_of("h200").limits));
  EXPECT_EQ(choice->config.at("repack"), value_of_name("b")) << "only B has to be";
  EXPECT_EQ(choice->config.at("store"), value_of_name("threads"));
  EXPECT_THAT(choice->reason, HasSubstr("tuned for m=2048 n=2048 k=2048 on this device class with "
                                        "different alignment; here with repack=b store=threads"));
  EXPECT_THAT(choice->reason, HasSubstr("; predicted "));
}

TEST_F(RelatedRankingTest, OtherTypesLayoutsAndUsesOfCGetTheSameCode) {
  Gemm with_c = Gemm::of(DType::f16, 2048, 2048, 2048);
  with_c.reads_c = true;
  const std::vector<std::pair<Problem, std::string>> kinds{
      {problem_of(2048, 2048, 2048, DType::bf16), "types"},
      {to_problem(Gemm::of(DType::f16, 2048, 2048, 2048, Storage::n, Storage::t)), "layout"},
      {to_problem(with_c), "use of C"}};
  for (const auto& [problem, difference] : kinds) {
    const auto choice = choose(problem);
    ASSERT_TRUE(choice) << difference;
    EXPECT_EQ(choice->match, Match::related_problem);
    EXPECT_EQ(choice->config, wide()) << difference;
    EXPECT_THAT(choice->reason, HasSubstr("with different " + difference));
  }
}

// All that was tuned is for large matrices.
TEST_F(RelatedRankingTest, WhatIsUsualForSuchProblemsAnswersWhereNothingTunedDoes) {
  for (const Problem& problem : {problem_of(128, 128, 512), problem_of(8, 16384, 1024)}) {
    const auto choice = choose(problem);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->match, Match::default_config);
    EXPECT_THAT(choice->reason, HasSubstr("configuration from a \"usual\" line of gemm_"));
    EXPECT_THAT(choice->reason,
                HasSubstr("less than kernels that were tuned for similar problems"));
    EXPECT_TRUE(is_valid(*choice, problem, device_of("h200").limits));
  }
}

// An aligned product's usual configuration, for rows that tensor copies do not take.
TEST_F(RelatedRankingTest, WhatIsUsualIsRepairedAndSaysSo) {
  const Problem problem = problem_of(2000, 2100, 512);
  const auto choice = choose(problem);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->match, Match::default_config);
  EXPECT_THAT(choice->reason, HasSubstr("gemm_wgmma, with repack=b store=threads"));
  EXPECT_THAT(choice->reason, HasSubstr(": predicted to take "));
  EXPECT_TRUE(is_valid(*choice, problem, device_of("h200").limits));
}

TEST_F(RelatedRankingTest, FewTilesAreNotLeftToFewMultiprocessors) {
  const Problem problem = problem_of(512, 2048, 8192);
  const DeviceLimits limits = device_of("h200").limits;
  const auto choice = choose(problem);
  ASSERT_TRUE(choice);
  const LaunchPlanner planner(*choice->kernel_template, problem, limits);
  const auto launches = planner.geometry(choice->config);
  EXPECT_EQ(choice->kernel_template->launches().at(1).kernel, "gemm_wgmma");
  EXPECT_GE(count_of(launches.at(1).grid), 64U) << choice->config.canonical();
}

TEST_F(RelatedRankingTest, AnotherDeviceOfTheArchitectureIsNamed) {
  const auto choice = choose(problem_of(2048, 2048, 2048), {}, "h100");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->match, Match::related_device);
  EXPECT_EQ(choice->config, wide());
  EXPECT_THAT(choice->reason, HasSubstr("tuned for m=2048 n=2048 k=2048 on NVIDIA H200"));
  EXPECT_FALSE(choose(problem_of(2048, 2048, 2048), {}, "a100")) << "another architecture";
}

TEST_F(RelatedRankingTest, WhatIsRefusedGivesWayToTheNextBest) {
  const Problem problem = problem_of(2048, 2048, 2048, DType::bf16);
  Refused refused;
  std::vector<Config> chosen;
  while (const auto choice = choose(problem, refused)) {
    const std::string name = choice->kernel_template->name();
    ASSERT_TRUE(refused.insert({name, choice->config}).second);
    chosen.push_back(choice->config);
  }
  EXPECT_THAT(chosen, ::testing::ElementsAre(wide(), narrow())) << "then there are only defaults";
}

TEST_F(RelatedRankingTest, AFastResultOfAnotherWidthSaysNothing) {
  EXPECT_FALSE(choose(problem_of(2048, 2048, 2048, DType::f64)));
}

// What tuning found to be slow does not keep a default from being tried that looks faster.
TEST_F(RelatedRankingTest, SlowResultsGiveWayToWhatIsUsualAndToDefaults) {
  const testing::TemporaryFolder folder;
  path_ = folder.file("slow.db");
  store("gemm_naive", Config{{"block_x", 32}, {"block_y", 8}}, 5e6);
  const Problem problem = problem_of(2048, 2048, 2048, DType::bf16);
  const auto choice = choose(problem);
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->match, Match::default_config);
  EXPECT_NE(choice->kernel_template->name(), "gemm_naive");
  EXPECT_THAT(choice->reason, HasSubstr("\"usual\""));
  Refused refused{{choice->kernel_template->name(), choice->config}};
  bool has_default = false;
  while (const auto next = choose(problem, refused)) {
    refused.emplace(next->kernel_template->name(), next->config);
    has_default = has_default || next->reason.starts_with("default ");
  }
  EXPECT_TRUE(has_default);
}

// An installation without any database answers with what suits the problem, not always the same.
TEST_F(RelatedRankingTest, WhereNothingWasTunedTheModelChoosesAmongWhatIsUsual) {
  WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  const DeviceInfo device = device_of("h200");
  KernelChooser chooser(Catalog::builtin(), device, "", {}, warnings);
  const auto config_of = [&](const Problem& problem) {
    const auto choice = chooser.predicted(problem, {}, "");
    EXPECT_TRUE(choice && is_valid(*choice, problem, device.limits)) << problem.canonical();
    EXPECT_EQ(choice->match, Match::default_config);
    EXPECT_THAT(choice->reason, HasSubstr("no similar problem was tuned"));
    EXPECT_EQ(choice->kernel_template->name(), "gemm_wgmma");
    return choice->config;
  };
  const Config large = config_of(problem_of(8192, 8192, 8192));
  EXPECT_GE(large.at("tile_m") * large.at("tile_n"), 128 * 192) << "much reuse";
  const Config small = config_of(problem_of(512, 512, 4096));
  const std::int64_t tiles = 512 * 512 / (small.at("tile_m") * small.at("tile_n"));
  EXPECT_GE(tiles * small.at("splits") * small.at("cluster_parts"), 96) << "many blocks";
  // An untuned answer is what a session tries first.
  const auto likely = chooser.likely(problem_of(8192, 8192, 8192), "nvrtc 13.0", 4);
  ASSERT_EQ(likely.size(), 4U);
  EXPECT_EQ(likely.front().config, chooser.predicted(problem_of(8192, 8192, 8192), {}, "")->config);
  EXPECT_NE(likely.at(1).config, likely.front().config);
}

TEST_F(RelatedRankingTest, ARefusedDefaultLeavesWhatElseItsTemplateCallsUsual) {
  WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  const DeviceInfo device = device_of("h100");
  KernelChooser chooser(Catalog::builtin(), device, "", {}, warnings);
  const Problem problem = problem_of(1024, 1024, 1024, DType::f32);
  const Config standard =
      Catalog::builtin().at("gemm_simt").space(problem, device.limits).near_default().value();
  const auto choice = chooser.predicted(problem, {{"gemm_simt", standard}}, "");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->kernel_template->name(), "gemm_simt");
  EXPECT_THAT(choice->reason, HasSubstr("\"usual\" line"));
}

// A repaired configuration once had tiles whose sums do not fit in a thread's registers: products
// across k (nn, tn, tt) were seven times slower than they could be.
TEST_F(RelatedRankingTest, NoUntunedChoiceHasMoreSumsThanRegisters) {
  WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  std::mt19937_64 random(7);
  const auto any = [&](std::initializer_list<std::int64_t> values) {
    return values.begin()[random() % values.size()];
  };
  int of_wgmma = 0;
  for (int i = 0; i < 300; ++i) {
    const DeviceInfo device = device_of(i % 2 == 0 ? "h100" : "h200");
    KernelChooser chooser(Catalog::builtin(), device, "", {}, warnings);
    const auto storage = [&] { return random() % 2 == 0 ? Storage::n : Storage::t; };
    const Problem problem = to_problem(normalised(Gemm::of(
        random() % 2 == 0 ? DType::bf16 : DType::f16,
        any({1, 7, 16, 33, 77, 128, 197, 512, 1000, 2048, 4096, 8192, 16384}),
        any({64, 768, 1000, 1280, 3072, 4096, 5120, 8192, 14336, 28672}),
        any({16, 64, 77, 128, 768, 1024, 3584, 4096, 8192, 14336}), storage(), storage())));
    const auto choice = chooser.predicted(problem, {}, "");
    ASSERT_TRUE(choice);
    if (choice->kernel_template->name() != "gemm_wgmma") continue;
    ++of_wgmma;
    const Config& config = choice->config;
    const std::int64_t sharers =
        config.at("schedule") == value_of_name("pingpong") ? 1 : config.at("consumers");
    const std::int64_t sums = config.at("tile_m") / 64 / sharers * config.at("tile_n") / 2;
    EXPECT_LE(sums + 32, 240) << problem.canonical() << " | " << config.canonical();
  }
  EXPECT_GE(of_wgmma, 150);
}

TEST_F(RelatedRankingTest, ATemplateThatCallsNothingUsualAnswersWithItsDefault) {
  const testing::TempFolder templates;
  const Catalog catalog = testing::catalog_with(
      templates, {{"toy", {{"x", {3, 5}}}, "true", "0", "128", {"waits = 1000"}, {}, "400"}});
  WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  const DeviceInfo device = device_of("h200");
  KernelChooser chooser(catalog, device, "", {}, warnings);
  const auto choice = chooser.predicted(problem_of(2048, 2048, 2048), {}, "why");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->kernel_template->name(), "toy");
  EXPECT_EQ(choice->reason, "default configuration of toy; why");
}

// Sessions try what is likely first. Neighbours of a slow default taught their search that all with
// one value of a tunable are slow.
TEST_F(RelatedRankingTest, WithoutCostsNothingIsLikely) {
  const testing::TempFolder templates;
  const Catalog catalog = testing::catalog_with(
      templates,
      {{"toy", {{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9}}}, "true", "0", "128", {}, {}, "400"}});
  WarningSink warnings([](std::string_view text) { ADD_FAILURE() << text; }, "");
  const DeviceInfo device = device_of("h200");
  KernelChooser chooser(catalog, device, "", {}, warnings);
  const Problem problem = problem_of(2048, 2048, 2048);
  ASSERT_TRUE(chooser.predicted(problem, {}, ""));
  EXPECT_TRUE(chooser.likely(problem, "nvrtc 13.0", 8).empty());
}

// What applications are promised beside the compilation is 5 ms. Debug builds get more, and the
// fastest of several tries counts: the machine may be busy.
TEST_F(RelatedRankingTest, ChoosingTakesMilliseconds) {
  std::mt19937_64 random(1);
  const DeviceInfo device = device_of("h200");
  std::vector<Trial> trials;
  for (const char* const name : {"gemm_wgmma", "gemm_mma"}) {
    const ParamSpace space =
        Catalog::builtin().at(name).space(problem_of(1024, 1536, 4096), device.limits);
    for (std::int64_t i = 0; i < 40; ++i) {
      const Problem problem = problem_of(256 * (1 + i % 8), 512 * (1 + i / 8), 4096);
      for (int j = 0; j < 25; ++j) {
        trials.push_back(trial_of(problem, name, *space.sample(random),
                                  2e4 + static_cast<double>(random() % 10'000)));
      }
    }
  }
  (void)TuningStore::open(path_, OpenMode::read_write).record_all(trials);
  const Problem problem = problem_of(2000, 2100, 2048, DType::bf16);
  double fastest_ms = 1e9;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const std::clock_t start = std::clock();
    ASSERT_TRUE(choose(problem));
    fastest_ms = std::min(fastest_ms, 1e3 * static_cast<double>(std::clock() - start) /
                                          static_cast<double>(CLOCKS_PER_SEC));
  }
  RecordProperty("fastest_us", static_cast<int>(fastest_ms * 1000));
  // Meant to stay under 5 ms, and recorded above. The same code passed that bound on a machine and
  // took 8 to 14 ms there some hours later, so the bound only catches what grows by more.
#ifdef NDEBUG
  EXPECT_LT(fastest_ms, 25.0);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  EXPECT_LT(fastest_ms, 200.0);  // 51 with other processes beside it
#else
  EXPECT_LT(fastest_ms, 50.0);
#endif
}

RC_GTEST_FIXTURE_PROP(RelatedRankingTest, AnswersAreValidAndAlwaysTheSame, ()) {
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 5000); };
  const auto coin = [] { return *rc::gen::inRange(0, 2) == 1; };
  Gemm gemm = Gemm::of(coin() ? DType::f16 : DType::bf16, size(), size(), size(),
                       coin() ? Storage::t : Storage::n, coin() ? Storage::t : Storage::n);
  gemm.reads_c = coin();
  const Problem problem = to_problem(gemm);
  const char* const model = coin() ? "h200" : "h100";
  const auto choice = choose(problem, {}, model);
  RC_ASSERT(choice);
  RC_ASSERT(is_valid(*choice, problem, device_of(model).limits));
  const auto again = choose(problem, {}, model);
  RC_ASSERT(again->config == choice->config);
  RC_ASSERT(again->kernel_template == choice->kernel_template);
  RC_ASSERT(again->reason == choice->reason);
}

}  // namespace
}  // namespace kiln::detail
