// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/worker/wire.hpp"

namespace kiln {

/// A child process that speaks frames on its standard input and output (one socket), in a process
/// group of its own, so that Ctrl-C on the terminal does not reach it in the middle of a
/// measurement and so that it dies with all it started. Its stderr is kept, not shown.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Result { ok, timed_out, given_up, died };
  /// How the child ended.
  struct Ending {
    std::string text;  ///< "was killed by signal 11 (Segmentation fault)", "exited with code 3"
    /// It was killed by a signal that no fault of its own raises, and not by this object: by a
    /// person, or by the system when memory is short.
    bool from_outside = false;
  };
  /// How long to wait for the child.
  struct Patience {
    Clock::time_point deadline;
    std::function<bool()> give_up = {};  ///< polled several times a second, unless empty
  };

  /// Starts it. Throws Error(device) when the program cannot be run.
  explicit WorkerProcess(const std::vector<std::string>& command);
  /// Closes its input, and kills it if it does not end at once.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Sends one frame, then waits for one. `died` includes a child that sends no valid frame.
  [[nodiscard]] Result send(std::string_view frame, const Patience& patience);
  [[nodiscard]] Result receive(Frame& frame, const Patience& patience);

  /// Closes its input, so that it ends while this process does something else.
  void hang_up() const;
  /// Ends it with SIGKILL, whole group, without waiting until it is gone: end() does.
  void kill_now() const;
  /// Ends it with SIGKILL, whole group, and returns how it ended, with the last of its output.
  /// A child that died by itself is reported as that. Throws Error(device) if it does not go
  /// away.
  [[nodiscard]] Ending end();

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  [[nodiscard]] bool wait_exited(Clock::duration patience) const;
  [[nodiscard]] Result wait_for(short events, const Patience& patience);
  void drain_errors();
  void close_descriptors();

  pid_t pid_ = -1;
  int socket_ = -1;
  int errors_ = -1;       ///< its stderr
  bool hung_up_ = false;  ///< it has closed its end, or is gone
  std::string printed_;
  FrameAssembler assembler_;
};

}  // namespace kiln
