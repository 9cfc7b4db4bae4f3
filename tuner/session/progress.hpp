// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "cache/records.hpp"

namespace kiln {

/// A session's progress; passed to the observer after each candidate.
struct Progress {
  std::uint64_t done = 0;      ///< candidates that got an outcome
  std::uint64_t known = 0;     ///< taken over from earlier sessions
  std::uint64_t space = 0;     ///< valid candidates
  std::uint64_t planned = 0;   ///< how many can be reached: budget or space
  std::uint64_t compiled = 0;  ///< of `done`, those that compiled
  std::uint64_t codes = 0;     ///< different machine codes, with their launches, among these
  std::uint64_t shared = 0;    ///< candidates that nothing ran for: their code had an outcome
  std::map<Outcome, std::uint64_t> by_outcome;
  std::uint64_t dropped = 0;   ///< ok, but abandoned early as hopeless
  std::uint64_t given_up = 0;  ///< never tried, because their template is hopeless
  std::optional<Trial> best;
  double elapsed_s = 0.0;
  double device_s = 0.0;  ///< of that, while a candidate or the finalists were on the device
  /// How busy the compilers were until the last candidate began to compile: 0 to 1.
  double compilers_busy = 0.0;
  int compilers = 0;
  std::uint64_t put_off = 0;       ///< never tried, because compiling them takes too long
  double slowest_compile_s = 0.0;  ///< of one candidate of this run,
  std::string slowest_to_compile;  ///< which is this one
  double remaining_s = 0.0;        ///< estimate; the smaller of budget and work left
  bool by_time = false;            ///< the budget of time ends before `planned` is reached
  double share = 0.0;              ///< 0 to 1: of that budget if `by_time`, else of `planned`
  std::string phase;               ///< "preparing", "searching", "finalists", "done"
};

/// Receives a session's events on the thread that runs it. Must not throw.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_progress(const Progress&) {}
  virtual void on_trial(const Trial&) {}
  virtual void on_note(const std::string&) {}
};

}  // namespace kiln
