// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/progress_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "templates/printable.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kLineSeconds = 30.0;
constexpr int kBarCells = 20;
/// However wide the terminal: a longer line is not read at a glance.
constexpr int kMostColumns = 99;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string bar_text(const Progress& progress) {
  const double share = std::clamp(progress.share, 0.0, 1.0);
  const auto full = static_cast<std::size_t>(std::lround(share * kBarCells));
  return fmt::format("[{}{}] ", std::string(full, '#'), std::string(kBarCells - full, '.'));
}

std::string done_text(const Progress& progress) {
  if (!progress.by_time) {
    return fmt::format("{} {}/{}", progress.phase, progress.done, progress.planned);
  }
  return fmt::format("{} {}, {:.0f} % of the budget", progress.phase, progress.done,
                     100.0 * progress.share);
}

/// "failed 22", with how they divide: "failed 22 (12 rejected, 10 crashed)".
std::string failures_text(const Progress& progress, bool divided) {
  std::uint64_t failed = 0;
  std::string kinds;
  for (const auto& [outcome, count] : progress.by_outcome) {
    if (outcome == Outcome::ok || count == 0) continue;
    failed += count;
    kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, to_string(outcome));
  }
  if (failed == 0) return "";
  return divided ? fmt::format("  failed {} ({})", failed, kinds)
                 : fmt::format("  failed {}", failed);
}

}  // namespace

std::string progress_text(const Progress& progress, std::size_t columns) {
  std::string start = done_text(progress);
  if (progress.best && progress.best->timing) {
    const double time_ns = progress.best->timing->median_ns;
    start += fmt::format("  best {} ({})", time_text(time_ns),
                         rate_text(progress.best->key.problem, time_ns));
  }
  std::string end;
  if (progress.remaining_s > 0.0) {
    end = fmt::format("  {} left", seconds_text(progress.remaining_s));
  }
  const std::string full = start + failures_text(progress, true) + end;
  if (full.size() <= columns) return full;
  return (start + failures_text(progress, false) + end).substr(0, columns);
}

ProgressBar::ProgressBar(const Terminal& terminal, Verbosity verbosity)
    : ProgressBar(terminal, verbosity, write_controls, steady_seconds) {}

ProgressBar::ProgressBar(const Terminal& terminal, Verbosity verbosity, Write write, Clock clock)
    : terminal_(terminal),
      verbosity_(verbosity),
      write_(std::move(write)),
      clock_(std::move(clock)),
      last_shown_s_(clock_()) {}

ProgressBar::~ProgressBar() {
  clear();
}

void ProgressBar::on_progress(const Progress& progress) {
  if (verbosity_ == Verbosity::quiet) return;
  const double now = clock_();
  const bool new_phase = progress.phase != phase_;
  const double interval = terminal_.interactive ? kRedrawSeconds : kLineSeconds;
  if (now - last_shown_s_ < interval && !(terminal_.interactive && new_phase)) return;
  last_shown_s_ = now;
  phase_ = progress.phase;
  if (!terminal_.interactive) {
    constexpr std::string_view kName = "kiln: ";
    write_(fmt::format("{}{}\n", kName, progress_text(progress, kMostColumns - kName.size())));
    return;
  }
  // The last column stays empty: writing it makes some terminals wrap.
  const auto columns = static_cast<std::size_t>(std::clamp(terminal_.width - 1, 1, kMostColumns));
  std::string line = bar_text(progress) + progress_text(progress, columns);
  if (line.size() > columns) line = progress_text(progress, columns);
  write_("\r" + line + "\x1b[K");
  drawn_ = true;
}

void ProgressBar::on_trial(const Trial& trial) {
  if (verbosity_ != Verbosity::verbose) return;
  const std::string merit = trial.outcome == Outcome::ok
                                ? merit_text(trial)
                                : trial.message.substr(0, trial.message.find('\n'));
  on_note(fmt::format("{} {} {}: {}{}", to_string(trial.outcome), trial.key.template_name,
                      trial.key.config.canonical(), merit,
                      trial.shared_from.empty() ? "" : " (the same code as another candidate)"));
}

void ProgressBar::on_note(const std::string& note) {
  if (verbosity_ == Verbosity::quiet) return;
  clear();
  write_(fmt::format("kiln: {}\n", printable(note)));
}

void ProgressBar::clear() {
  if (drawn_) write_("\r\x1b[K");
  drawn_ = false;
}

}  // namespace kiln::tools
