// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kLineSeconds = 30.0;
constexpr int kBarCells = 20;
/// Below this the bar itself would leave no room for what it says.
constexpr int kWidthForBar = 100;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string bar_text(const Progress& progress) {
  if (progress.planned == 0) return "";
  const double fraction =
      std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.planned));
  const auto full = static_cast<std::size_t>(std::lround(fraction * kBarCells));
  return fmt::format("[{}{}] ", std::string(full, '#'), std::string(kBarCells - full, '.'));
}

}  // namespace

std::string progress_text(const Progress& progress) {
  std::string text = fmt::format("{} {}/{}", progress.phase, progress.done, progress.planned);
  if (progress.best && progress.best->timing) {
    const double time_ns = progress.best->timing->median_ns;
    text += fmt::format("  best {} ({})", time_text(time_ns),
                        rate_text(progress.best->key.problem, time_ns));
  }
  std::uint64_t failed = 0;
  std::string kinds;
  for (const auto& [outcome, count] : progress.by_outcome) {
    if (outcome == Outcome::ok || count == 0) continue;
    failed += count;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, to_string(outcome));
  }
  if (failed > 0) text += fmt::format("  failed {} ({})", failed, kinds);
  if (progress.remaining_s > 0.0) {
    text += fmt::format("  {} left", seconds_text(progress.remaining_s));
  }
  return text;
}

ProgressBar::ProgressBar(const Terminal& terminal, Talk talk)
    : ProgressBar(terminal, talk, write_stderr, steady_seconds) {}

ProgressBar::ProgressBar(const Terminal& terminal, Talk talk, Write write, Clock clock)
    : terminal_(terminal),
      talk_(talk),
      write_(std::move(write)),
      clock_(std::move(clock)),
      last_shown_s_(clock_()) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::on_progress(const Progress& progress) {
  if (talk_ == Talk::quiet) return;
  const double now = clock_();
  const bool new_phase = progress.phase != phase_;
  const double interval = terminal_.interactive ? kRedrawSeconds : kLineSeconds;
  if (now - last_shown_s_ < interval && !(terminal_.interactive && new_phase)) return;
  last_shown_s_ = now;
  phase_ = progress.phase;
  if (!terminal_.interactive) {
    write_(fmt::format("kiln: {}\n", progress_text(progress)));
    return;
  }
  std::string line = terminal_.width >= kWidthForBar ? bar_text(progress) : "";
  line += progress_text(progress);
  // The last column stays empty: writing it makes some terminals wrap.
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(1, terminal_.width - 1))));
  write_("\r" + line + "\x1b[K");
  drawn_ = true;
}

void ProgressBar::on_trial(const Trial& trial) {
  if (talk_ != Talk::verbose) return;
  const std::string merit = trial.outcome == Outcome::ok
                                ? merit_text(trial)
                                : trial.message.substr(0, trial.message.find('\n'));
  on_note(fmt::format("{} {} {}: {}", to_string(trial.outcome), trial.key.template_name,
                      trial.key.config.canonical(), merit));
}

void ProgressBar::on_note(const std::string& note) {
  if (talk_ == Talk::quiet) return;
  clear();
  write_(fmt::format("kiln: {}\n", note));
}

void ProgressBar::clear() {
  if (drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace kiln::tools
