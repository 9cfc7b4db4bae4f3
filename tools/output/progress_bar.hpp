// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "tools/output/terminal.hpp"
#include "tuner/session/progress.hpp"

namespace kiln::tools {

/// Shows a session on standard error: one line that is redrawn at most ten times a second on a
/// terminal, else a line every 30 s, in either case shorter than 100 columns. Notes of the session
/// go above it, and when verbose every trial.
class ProgressBar : public SessionObserver {
 public:
  using Write = std::function<void(std::string_view)>;  ///< takes control sequences, too
  using Clock = std::function<double()>;                ///< seconds

  explicit ProgressBar(const Terminal& terminal, Verbosity verbosity);
  /// With another sink and clock, for tests.
  ProgressBar(const Terminal& terminal, Verbosity verbosity, Write write, Clock clock);
  ~ProgressBar() override;

  void on_progress(const Progress& progress) override;
  void on_trial(const Trial& trial) override;
  void on_note(const std::string& note) override;
  /// Removes the drawn line, so that what follows starts on a clean one.
  void clear();

 private:
  Terminal terminal_;
  Verbosity verbosity_;
  Write write_;
  Clock clock_;
  double last_shown_s_;
  std::string phase_;
  bool drawn_ = false;
};

/// "searching 312, 35 % of the budget  best 310.2 us (443.1 TFLOP/s)  failed 22 (12 rejected, 10
/// crashed)  12 s left", or "searching 12/40  ..." where the number of candidates is the limit.
/// What does not fit into so many columns is left out: first how the failures divide, then the end.
[[nodiscard]] std::string progress_text(const Progress& progress, std::size_t columns);

}  // namespace kiln::tools
