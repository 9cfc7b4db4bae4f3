// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Launches that repeat, scratch arrays and choices between addresses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "templates/launch/launch_planner.hpp"
#include "templates/render/export_text.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::row_problem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two launches that take turns, with what each of them may depend on.
constexpr std::string_view kTurns = R"(//@ template   turns
//@ purpose    Rows in several passes
//@ operation  row_scale
//@ tune       block_size = 32 64*
//@ tune       passes = 1 2 3* 5000 20000
//@ workspace  100
//@ scratch    partial f32: rows, ceil_div(cols, block_size)
//@ scratch    half y: rows
//@ launch     begin
//@   grid     rows
//@   block    block_size
//@   args     x, workspace
//@ launch     turn
//@   repeat   passes; launches 2
//@   grid     repeat_index + 1
//@   block    block_size
//@   when     repeat_index != 1
//@   args     repeat_index == 0 ? x : repeat_index % 2 == 1 ? partial : y,
//@            (repeat_count - repeat_index) % 2 == 1 ? y : partial,
//@            repeat_index * 10 + repeat_count
//@ launch     pause
//@   grid     1
//@   block    block_size
//@   args     half, repeat_count > 2 ? 1 : 2

__global__ void begin(const float* x, float* sums) {}
__global__ void turn(const float* from, float* to, int number) {}
__global__ void pause(float* half, int number) {}
)";

KernelTemplate turns(const std::string& from = "", const std::string& to = "") {
  static_cast<void>(test::row_operation());
  std::string text(kTurns);
  if (!from.empty()) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return KernelTemplate::parse("turns.cu", text);
}

std::string broken_turns(const std::string& from, const std::string& to) {
  return error_text(ErrorKind::template_, [&] { (void)turns(from, to); });
}

Config with_passes(std::int64_t passes) {
  return {{"block_size", 64}, {"passes", passes}};
}

struct PlannedTurns {
  Problem problem = row_problem(7, 100, DType::f32, DType::f32);
  DeviceLimits limits = limits_of_arch("90a").value();
  KernelTemplate made = turns();
  LaunchPlanner planner{made, problem, limits};
};

std::int32_t last_number(const ArgumentPlan& plan) {
  std::int32_t number = 0;
  std::memcpy(&number, plan.image.data() + plan.parameters.back(), sizeof(number));
  return number;
}

TEST(RepeatedLaunches, AreThereAsOftenAsTheyRun) {
  const PlannedTurns planned;
  const auto geometry = planned.planner.geometry(with_passes(3));
  std::vector<std::size_t> kernels;
  std::vector<std::uint32_t> grids;
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    kernels.push_back(geometry[i].kernel_at(i));
    grids.push_back(geometry[i].grid[0]);
  }
  EXPECT_THAT(kernels, ElementsAre(0, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(grids, ElementsAre(7, 1, 1, 0, 1, 3, 1)) << "one turn is left out";
}

TEST(RepeatedLaunches, KnowTheirRepetition) {
  const PlannedTurns planned;
  const auto plans = planned.planner.argument_plans(with_passes(3));
  ASSERT_EQ(plans.size(), 7U);
  EXPECT_EQ(last_number(plans[1]), 3);
  EXPECT_TRUE(plans[3].parameters.empty()) << "it is left out";
  EXPECT_EQ(last_number(plans[5]), 23);
  EXPECT_EQ(last_number(plans[2]), 1);
  // From x to y, and at last from y to y.
  using Source = ArgumentPatch::Source;
  ASSERT_EQ(plans[1].patches.size(), 2U);
  EXPECT_EQ(plans[1].patches[0].source, Source::operand);
  EXPECT_EQ(plans[1].patches[0].index, 0);
  EXPECT_EQ(plans[1].patches[1].index, 1);
  EXPECT_EQ(plans[5].patches[0].index, 1);
  const auto even = planned.planner.argument_plans(with_passes(2));
  EXPECT_EQ(even[1].patches[1].source, Source::workspace);
  EXPECT_EQ(even[1].patches[1].index, 1) << "the first scratch array";
}

TEST(RepeatedLaunches, OfNoRepetitionRunNothing) {
  const PlannedTurns planned;
  static_cast<void>(planned);
  const KernelTemplate none = turns("repeat   passes", "repeat   passes - 1");
  const LaunchPlanner planner(none, planned.problem, planned.limits);
  EXPECT_EQ(planner.geometry(with_passes(1)).size(), 1U);
  EXPECT_EQ(planner.argument_plans(with_passes(1)).size(), 1U);
  EXPECT_THAT(planner.plan(with_passes(1)).times, ElementsAre(1, 0, 0));
}

TEST(RepeatedLaunches, ArePlannedOnceForAnEstimate) {
  const PlannedTurns planned;
  const LaunchPlan plan = planned.planner.plan(with_passes(5000));
  ASSERT_EQ(plan.launches.size(), 3U);
  EXPECT_THAT(plan.times, ElementsAre(1, 5000, 5000));
  EXPECT_EQ(plan.launches[1].grid[0], 1U);
  EXPECT_EQ(plan.launches[1].kernel, -1);
}

TEST(RepeatedLaunches, HaveALimit) {
  const PlannedTurns planned;
  EXPECT_EQ(planned.planner.geometry(with_passes(5000)).size(), 10001U);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planned.planner.geometry(with_passes(20000)); }),
      AllOf(HasSubstr("turns.cu:13: launch of turn"),
            HasSubstr("repeat \"passes\" is 20000, but must be from 0 to 16384")));
}

TEST(RepeatedLaunches, AreRefusedWhereTheyAreNotWellFormed) {
  EXPECT_THAT(broken_turns("launches 2", "launches 3"),
              HasSubstr("turns.cu:14:16: 3 launches are to repeat together, but only 2 follow"));
  EXPECT_THAT(broken_turns("launches 2", "twice"),
              HasSubstr("turns.cu:14:24: expected after ';': \"launches N\""));
  EXPECT_THAT(broken_turns("//@   grid     1\n", "//@   grid     1\n//@   repeat 2\n"),
              HasSubstr("the launch of pause (line 21) repeats together with this launch"));
  EXPECT_THAT(broken_turns("passes; launches 2", "passes\n//@   repeat 2"),
              HasSubstr("turns.cu:15:7: this launch has two \"repeat\" lines"));
  EXPECT_THAT(
      broken_turns("tune       passes", "tune       repeat_count = 1\n//@ tune       passes"),
      HasSubstr("\"repeat_count\" has a meaning in a template with a \"repeat\" line"));
  EXPECT_THAT(
      broken_turns("//@ workspace  100", "//@ workspace  100\n//@ require    repeat_index < 2"),
      HasSubstr("turns.cu:7:16: unknown name \"repeat_index\""));
}

TEST(Choices, AreBetweenAddresses) {
  EXPECT_THAT(broken_turns("% 2 == 1 ? y : partial", "% 2 == 1 ? y : rows"),
              AllOf(HasSubstr("\"rows\" is no address"), HasSubstr("turns.cu:19:")));
  EXPECT_THAT(broken_turns("repeat_index == 0 ? x", "repeat_indx == 0 ? x"),
              HasSubstr("unknown name \"repeat_indx\""));
  EXPECT_EQ(argument_text(turns().launches()[1].args, test::row_operation()),
            "repeat_index == 0 ? x : repeat_index % 2 == 1 ? partial : y, "
            "(repeat_count - repeat_index) % 2 == 1 ? y : partial, "
            "repeat_index * 10 + repeat_count");
}

TEST(ScratchArrays, FollowTheWorkspace) {
  const PlannedTurns planned;
  EXPECT_THAT(planned.planner.scratch(with_passes(1)),
              ElementsAre(ScratchPlan{"partial", 7 * 2 * 4, 256}, ScratchPlan{"half", 7 * 4, 512}));
  EXPECT_EQ(planned.planner.own_workspace_bytes(with_passes(1)), 100);
  EXPECT_EQ(planned.planner.workspace_bytes(with_passes(1)), 512 + 28);
  const auto plans = planned.planner.argument_plans(with_passes(1));
  EXPECT_EQ(plans[2].patches[0].index, 2);
  EXPECT_EQ(plans[2].patches[0].offset, 512);

  std::vector<std::uintptr_t> operands{0x1000, 0x2000};
  std::vector<std::uintptr_t> apart{0x7000, 0x8000};
  ArgumentValues values{operands, {}, {}, {}, 0x10000};
  std::uintptr_t address = 0;
  std::vector<std::byte> argument(plans[2].image.size());
  fill_argument(plans[2], values, argument.data());
  std::memcpy(&address, argument.data(), sizeof(address));
  EXPECT_EQ(address, 0x10200U);
  values.scratch = apart;
  fill_argument(plans[2], values, argument.data());
  std::memcpy(&address, argument.data(), sizeof(address));
  EXPECT_EQ(address, 0x8000U);
}

TEST(ScratchArrays, AreRefusedWhereTheyAreNotWellFormed) {
  EXPECT_THAT(broken_turns("half y: rows", "half z: rows"),
              HasSubstr("turns.cu:8:21: \"z\" is neither a type slot of row_scale nor"));
  EXPECT_THAT(broken_turns("half y: rows", "half y rows"),
              HasSubstr("turns.cu:8:16: write a scratch array as"));
  EXPECT_THAT(broken_turns("half y: rows", "scale y: rows"),
              HasSubstr("the name \"scale\" is already used"));
  EXPECT_THAT(broken_turns("half y: rows", "half y: row"),
              HasSubstr("turns.cu:8:24: unknown name"));
  EXPECT_THAT(broken_turns("args     half,", "args     y,"),
              HasSubstr("turns.cu:8:16: no launch passes the scratch array half"));
  const KernelTemplate negative = turns("half y: rows", "half y: rows - 100");
  const PlannedTurns planned;
  const LaunchPlanner planner(negative, planned.problem, planned.limits);
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)planner.scratch(with_passes(1)); }),
      AllOf(HasSubstr("turns.cu:8: the scratch array half"), HasSubstr("is -93, but must be")));
}

TEST(RepeatedLaunches, AreExplainedInExportedFiles) {
  const PlannedTurns planned;
  RenderedKernel rendered;
  rendered.template_name = "turns";
  rendered.config = with_passes(3);
  rendered.name_expressions = {"begin", "turn", "pause"};
  const std::string text = export_text(rendered, planned.made, planned.problem, planned.limits);
  EXPECT_THAT(text, HasSubstr("//   Repeat the next 2 launches together 3 times: repeat_index is 0 "
                              "to 2, repeat_count is 3\n"));
  EXPECT_THAT(text, HasSubstr("(of the first repetition; grid repeat_index + 1  block block_size; "
                              "only if repeat_index != 1)"));
  EXPECT_THAT(text, HasSubstr("repeat_index == 0 ? x : repeat_index % 2 == 1 ? partial : y"));
  EXPECT_THAT(text, Not(HasSubstr("repeat_index * 10 + repeat_count = ")));
  EXPECT_THAT(text, HasSubstr("// Scratch array half: 28 bytes, at byte 512 of the workspace\n"
                              "// Workspace: 540 bytes of device memory\n"));
}

}  // namespace
}  // namespace kiln
