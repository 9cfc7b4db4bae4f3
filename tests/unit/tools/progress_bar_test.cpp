// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/progress_bar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "templates/operation/gemm_problem.hpp"

namespace kiln::tools {
namespace {

/// A bar whose clock is a number and whose terminal is a string.
struct Stage {
  double now_s = 100.0;
  std::string shown;

  ProgressBar bar(bool interactive, int width = 120, Verbosity verbosity = Verbosity::normal) {
    Terminal terminal;
    terminal.interactive = interactive;
    terminal.width = width;
    return ProgressBar(
        terminal, verbosity, [this](std::string_view text) { shown += text; },
        [this] { return now_s; });
  }
};

Progress searching(std::uint64_t done) {
  Progress progress;
  progress.done = done;
  progress.planned = 40;
  progress.share = static_cast<double>(done) / 40.0;
  progress.phase = "searching";
  return progress;
}

std::size_t count(const std::string& text, char letter) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), letter));
}

TEST(ProgressBar, RedrawsAtMostTenTimesASecond) {
  Stage stage;
  {
    auto bar = stage.bar(true);
    for (int i = 0; i < 100; ++i) {
      stage.now_s += 0.01;
      bar.on_progress(searching(static_cast<std::uint64_t>(i)));
    }
  }
  // The first for the new phase, ten in the second that follows, and the clearing at the end.
  EXPECT_LE(count(stage.shown, '\r'), 12u);
  EXPECT_GE(count(stage.shown, '\r'), 10u);
  EXPECT_EQ(count(stage.shown, '\n'), 0u);
}

TEST(ProgressBar, WithoutATerminalALineEachThirtySeconds) {
  Stage stage;
  auto bar = stage.bar(false);
  for (int i = 0; i < 95; ++i) {
    stage.now_s += 1.0;
    bar.on_progress(searching(static_cast<std::uint64_t>(i)));
  }
  EXPECT_EQ(count(stage.shown, '\n'), 3u);
  EXPECT_EQ(count(stage.shown, '\r'), 0u);
}

TEST(ProgressBar, NeverFillsTheLastColumn) {
  Stage stage;
  auto bar = stage.bar(true, 20);
  bar.on_progress(searching(1));
  const auto line = stage.shown.substr(1, stage.shown.find("\x1b[K") - 1);
  EXPECT_LE(line.size(), 19u);
}

TEST(ProgressBar, NotesGoAboveTheLine) {
  Stage stage;
  auto bar = stage.bar(true);
  bar.on_progress(searching(1));
  bar.on_note("a note");
  EXPECT_TRUE(stage.shown.ends_with("\r\x1b[Kkiln: a note\n")) << stage.shown;
}

TEST(ProgressBar, VerboseNamesEveryTrial) {
  Stage stage;
  Trial trial;
  trial.key.template_name = "gemm_naive";
  trial.key.config = {{"block_x", 8}};
  trial.outcome = Outcome::compile_failed;
  trial.message = "line 3: no\nmore";
  stage.bar(false).on_trial(trial);
  EXPECT_EQ(stage.shown, "");
  stage.bar(false, 80, Verbosity::verbose).on_trial(trial);
  EXPECT_EQ(stage.shown, "kiln: compile_failed gemm_naive block_x=8: line 3: no\n");
}

TEST(ProgressBar, QuietSaysNothing) {
  Stage stage;
  {
    auto bar = stage.bar(true, 80, Verbosity::quiet);
    bar.on_progress(searching(1));
    bar.on_note("a note");
  }
  EXPECT_EQ(stage.shown, "");
}

TEST(ProgressText, NamesBestFailuresAndTimeLeft) {
  auto progress = searching(12);
  progress.by_outcome = {{Outcome::ok, 9}, {Outcome::rejected, 2}, {Outcome::crashed, 1}};
  progress.remaining_s = 30.0;
  Trial best;
  best.key.problem = to_problem(Gemm::of(DType::f16, 4096, 4096, 4096));
  best.timing = Timing{};
  best.timing->median_ns = 196070.0;
  progress.best = best;
  EXPECT_EQ(progress_text(progress, 99),
            "searching 12/40  best 196.1 us (701.0 TFLOP/s)  failed 3 (2 rejected, 1 crashed)  "
            "30 s left");
  EXPECT_EQ(progress_text(progress, 80),
            "searching 12/40  best 196.1 us (701.0 TFLOP/s)  failed 3  30 s left");
  EXPECT_EQ(progress_text(progress, 20), "searching 12/40  bes");
}

// With a budget of seconds, the size of a space of thousands is irrelevant.
TEST(ProgressText, SpeaksOfTheBudgetWhereThatEndsFirst) {
  auto progress = searching(487);
  progress.planned = 7217;
  progress.by_time = true;
  progress.share = 0.348;
  progress.remaining_s = 15.0;
  EXPECT_EQ(progress_text(progress, 99), "searching 487, 35 % of the budget  15 s left");
  Stage stage;
  stage.bar(true).on_progress(progress);
  EXPECT_THAT(stage.shown, ::testing::HasSubstr("[#######.............] searching 487, 35 %"));
}

TEST(ProgressBar, StaysBelowAHundredColumns) {
  auto progress = searching(1234);
  progress.planned = 123456;
  progress.remaining_s = 5400.0;
  for (const auto outcome :
       {Outcome::rejected, Outcome::compile_failed, Outcome::launch_failed,
        Outcome::out_of_resources, Outcome::wrong_result, Outcome::timed_out, Outcome::crashed}) {
    progress.by_outcome[outcome] = 1234;
    for (const bool interactive : {true, false}) {
      Stage stage;
      auto bar = stage.bar(interactive, 250);
      stage.now_s += 60.0;
      bar.on_progress(progress);
      const auto end = stage.shown.find_first_of("\x1b\n");
      EXPECT_LT(end, 100U + (interactive ? 1U : 0U)) << stage.shown;  // the first is a return
    }
  }
}

TEST(ProgressBar, ShowsForeignTextAsText) {
  Stage stage;
  auto bar = stage.bar(false, 80, Verbosity::verbose);
  Trial trial;
  trial.key.template_name = "evil\x1b]0;title\x07";
  trial.outcome = Outcome::compile_failed;
  trial.message =
      "\xe2\x80\xae turned \xc2\x9b"
      "31m";
  bar.on_trial(trial);
  EXPECT_EQ(stage.shown,
            "kiln: compile_failed evil\\u001b]0;title\\u0007 : \\u202e turned \\u009b31m\n");
}

}  // namespace
}  // namespace kiln::tools
