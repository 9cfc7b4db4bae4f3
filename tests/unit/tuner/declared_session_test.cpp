// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A whole session over a kernel of a declared operation, taken as it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "tests/support/typed_kernel.hpp"
#include "tests/unit/tuner/planted_operations.hpp"
#include "tests/unit/tuner/session_fixture.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/session.hpp"

namespace kiln::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// Variants 0, 1 and 3 are right, the later the faster; variant 2 is fastest and forgets to scale.
constexpr std::string_view kScaleTemplate = R"(//@ template   scale_variants
//@ purpose    A test
//@ operation  scale_rows
//@ tune       variant = 0* 1 2 3
//@ require    variant != 3 || cols % 8 == 0   // whole vectors
//@ launch     scale_variant<variant>
//@   grid     rows
//@   block    32
//@   args     x, y, (long long) rows * cols, scale

template <int kVariant>
__global__ void scale_variant(const float* x, float* y, long long count, float scale) {}
)";

Catalog scale_catalog(const TempFolder& folder) {
  std::ofstream(folder.path() / "scale_rows.cu") << kScaleRows;
  std::ofstream(folder.path() / "scale_variants.cu") << kScaleTemplate;
  return Catalog::with_directories({folder.path().string()});
}

class DeclaredSessionTest : public ::testing::Test {
 protected:
  DeclaredSessionTest() {
    const Operation& operation = planted_operation(kScaleRows);
    request.tuned = declared_case(operation, problem_of(operation, {{"rows", 16}, {"cols", 64}}),
                                  {{"scale", 0.3}});
    request.strategy = "exhaustive";
    request.budget.seconds = 0;
    request.compile_threads = 1;
  }
  TuneResult run() {
    FakeDeviceOptions options;
    options.time_ns = [](const FakeLaunch& launch) {
      const std::map<std::string_view, double> times{{"scale_variant<0>", 4000.0},
                                                     {"scale_variant<1>", 3000.0},
                                                     {"scale_variant<2>", 1000.0},
                                                     {"scale_variant<3>", 2000.0}};
      return times.at(launch.name);
    };
    auto device = std::make_unique<FakeDevice>(std::move(options));
    register_planted_operations(*device);
    register_typed<const float*, float*, long long, float>(
        *device, "scale_variant",
        [](const FakeLaunch& launch, const float* x, float* y, long long count, float scale) {
          for (long long i = 0; i < count; ++i) {
            y[i] = launch.name == "scale_variant<2>" ? x[i] : x[i] * scale;
          }
        });
    LocalEvaluator evaluator(std::move(device), BaselineSource{});
    TuningStore store =
        TuningStore::open((folder.path() / "tuning.db").string(), OpenMode::read_write);
    const SearchSpace space =
        make_search_space(catalog, request.tuned.problem, evaluator.info().limits, selection);
    return tune(request, space, catalog, std::make_shared<FakeCompiler>(), evaluator, store,
                observer, stop);
  }

  TempFolder folder;
  Catalog catalog = scale_catalog(folder);
  TuneRequest request;
  SpaceSelection selection;
  RecordingObserver observer;
  std::atomic<bool> stop{false};
};

TEST_F(DeclaredSessionTest, FindsTheFastestThatIsRight) {
  const TuneResult result = run();
  EXPECT_EQ(result.session.state, "complete");
  EXPECT_THAT(result.progress.by_outcome,
              ElementsAre(Pair(Outcome::ok, 3U), Pair(Outcome::wrong_result, 1U)));
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->key.config.canonical(), "variant=3");
  EXPECT_EQ(result.best->key.problem, request.tuned.problem);
  EXPECT_EQ(result.ragged_sizes, 0U) << "none of them has whole vectors";
  ASSERT_EQ(result.finalists.size(), 3U);
  EXPECT_EQ(result.finalists[1].key.config.canonical(), "variant=1");
  for (const Trial& trial : observer.trials) {
    if (trial.outcome != Outcome::wrong_result) continue;
    EXPECT_EQ(trial.key.config.canonical(), "variant=2");
    EXPECT_THAT(trial.message, HasSubstr("rows=3 cols=5 (integers): row 0 column"));
  }
}

TEST_F(DeclaredSessionTest, CountsTheSizesThatTheBestIsVerifiedOn) {
  selection.choices = {{"variant", {1}}};
  EXPECT_EQ(run().ragged_sizes, 2U) << "the third has no results";
}

TEST_F(DeclaredSessionTest, KnowsWhatEarlierOnesFound) {
  (void)run();
  const TuneResult again = run();
  EXPECT_EQ(again.progress.known, 4U);
  EXPECT_EQ(again.best->key.config.canonical(), "variant=3");
}

}  // namespace
}  // namespace kiln::testing
