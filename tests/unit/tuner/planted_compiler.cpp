// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// A compiler's process that compiles nothing: the source says what it does. The log of a result is
// the process id. With the argument "none" there is no compiler, with "dies" no process.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "kiln/error.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tuner/compile/process_compiler.hpp"

namespace {

class PlantedCompiler : public kiln::testing::FakeCompiler {
 public:
  explicit PlantedCompiler(kiln::ProcessCompiler::Warn warn) : warn_(std::move(warn)) {}
  kiln::CompileResult compile(const kiln::CompileRequest& request) override {
    if (request.source == "crash") std::abort();
    if (request.source == "killed") kill(getpid(), SIGKILL);
    if (request.source == "endless") std::this_thread::sleep_for(std::chrono::hours(1));
    if (request.source == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (request.source == "warn") warn_("no room");
    if (request.source == "throw") {
      throw kiln::Error(kiln::ErrorKind::compiler, "the toolkit is gone");
    }
    kiln::CompileResult result = FakeCompiler::compile(request);
    result.log = std::to_string(getpid());
    result.warnings = {"C7508 of " + request.source};
    return result;
  }

 private:
  kiln::ProcessCompiler::Warn warn_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how == "dies") {
    std::fputs("no such luck\n", stderr);
    return 9;
  }
  return kiln::compiler_main(
      STDIN_FILENO, STDOUT_FILENO,
      [&](kiln::ProcessCompiler::Warn warn) -> std::unique_ptr<kiln::Compiler> {
        if (how == "none") throw kiln::Error(kiln::ErrorKind::compiler, "no NVRTC can be loaded");
        return std::make_unique<PlantedCompiler>(std::move(warn));
      });
}
