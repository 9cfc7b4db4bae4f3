// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/child_process.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <stdexcept>

namespace kiln::test {

ChildProcess::ChildProcess(const std::function<void(int out)>& body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("no fork");
  if (pid_ == 0) {
    ::close(ends[0]);
    int code = 0;
    try {
      body(ends[1]);
    } catch (const std::exception& error) {
      const std::string text = error.what();
      (void)!::write(ends[1], text.data(), text.size());
      code = 1;
    }
    ::_exit(code);  // no destructors of the parent's objects
  }
  ::close(ends[1]);
  pipe_ = ends[0];
}

ChildProcess::~ChildProcess() {
  if (status_ == -1) {
    kill_now();
    (void)wait();
  }
  ::close(pipe_);
}

void ChildProcess::send(int signal) const {
  ::kill(pid_, signal);
}

void ChildProcess::kill_now() const {
  send(SIGKILL);
}

std::string ChildProcess::output() {
  std::string text;
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = ::read(pipe_, buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

int ChildProcess::wait() {
  if (status_ == -1) ::waitpid(pid_, &status_, 0);
  return status_;
}

}  // namespace kiln::test
