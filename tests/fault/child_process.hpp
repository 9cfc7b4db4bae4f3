// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace kiln::test {

/// A forked child that runs `body` with the writing end of a pipe, then exits: 0, or 1 if the
/// body throws (the text goes through the pipe). Fork before any database is open in the parent:
/// a connection must not cross it.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void(int out)>& body);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess();

  void send(int signal) const;
  void kill_now() const;
  /// Everything the child wrote, and its wait status.
  [[nodiscard]] std::string output();
  [[nodiscard]] int wait();

 private:
  pid_t pid_ = -1;
  int pipe_ = -1;
  int status_ = -1;
};

}  // namespace kiln::test
