// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fault/victim.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "kiln/error.hpp"
#include "runtime/compile/nvrtc_api.hpp"

namespace kiln::test {
namespace {

/// A run that is still there this long after its signal hangs.
constexpr auto kPatience = std::chrono::seconds(30);

}  // namespace

Victim::Victim(std::vector<std::string> command) {
  std::filesystem::create_directory(temporary());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = ::fork();
  if (pid_ == 0) {
    // What runs the tests in the background may ignore some.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    ::dup2(ends[1], STDOUT_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);
    ::setenv("TMPDIR", temporary().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    ::setenv("XDG_DATA_HOME", folder_.file("data").c_str(), 1);
    if (::chdir(folder_.path().c_str()) == 0) ::execv(arguments[0], arguments.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  output_ = ends[0];
}

Victim::~Victim() {
  ::close(output_);
  if (!reaped_) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void Victim::wait_for_output() const {
  char byte = 0;
  (void)!::read(output_, &byte, 1);
}

bool Victim::wait(int& status) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (::waitpid(pid_, &status, WNOHANG) == pid_) return reaped_ = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

bool Victim::left_something() const {
  return !std::filesystem::is_empty(temporary());
}

bool has_nvrtc() {
  try {
    (void)NvrtcApi::load();
    return true;
  } catch (const Error&) {
    return false;
  }
}

int wanted_runs(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

}  // namespace kiln::test
