// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln::test {

/// A program that a sweep disturbs, with a folder of its own for all files.
class Victim {
 public:
  explicit Victim(std::vector<std::string> command);
  ~Victim();
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;

  /// Until it writes or ends.
  void wait_for_output() const;
  void send(int number) const { ::kill(pid_, number); }
  /// Whether it ended in time; then `status` is how.
  [[nodiscard]] bool wait(int& status);
  [[nodiscard]] bool left_something() const;

 private:
  [[nodiscard]] std::string temporary() const { return folder_.file("tmp"); }
  const TempFolder folder_;
  pid_t pid_ = -1;
  int output_ = -1;
  bool reaped_ = false;
};

[[nodiscard]] bool has_nvrtc();
/// What an environment variable says, for sweeps that can be longer.
[[nodiscard]] int wanted_runs(const char* variable, int otherwise);

}  // namespace kiln::test
