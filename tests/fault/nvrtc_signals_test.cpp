// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What NVRTC would do to the process that compiles with it, in a process of its own, since it does
// so once: by the first compilation.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "tests/fault/child_process.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::ChildProcess;
using test::TempFolder;

constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGXFSZ};

void on_signal(int, siginfo_t*, void*) {}

CompileRequest request() {
  CompileRequest request;
  request.source =
      "#include <cuda_fp16.h>\n#pragma nv_hdrstop\n"
      "extern \"C\" __global__ void k(__half* p) { p[threadIdx.x] = __float2half(1.0F); }\n";
  request.plain_names = {"k"};
  request.arch = "sm_90a";
  return request;
}

bool same(const struct sigaction& a, const struct sigaction& b) {
  // Member by member: a mask's bits beyond the last signal are unspecified.
  for (int number = 1; number < NSIG; ++number) {
    if (sigismember(&a.sa_mask, number) != sigismember(&b.sa_mask, number)) return false;
  }
  return a.sa_sigaction == b.sa_sigaction && a.sa_flags == b.sa_flags;
}

using Actions = std::array<struct sigaction, kSignals.size()>;

Actions current_actions() {
  Actions actions{};
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions[i]);
  return actions;
}

bool unchanged(const Actions& before) {
  const Actions now = current_actions();
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (!same(before[i], now[i])) return false;
  }
  return true;
}

bool has_nvrtc() {
  // Checked in a child: nothing may load NVRTC here before a test forks.
  ChildProcess probe([](int) { (void)make_nvrtc_compiler(); });
  return probe.wait() == 0;
}

TEST(NvrtcSignals, ActionsStayAsTheyAreAllThroughTheFirstCompilation) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  ChildProcess application([](int out) {
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaddset(&action.sa_mask, SIGUSR1);
    for (const int number : kSignals) sigaction(number, &action, nullptr);
    const Actions before = current_actions();
    const auto compiler = make_nvrtc_compiler();
    std::atomic<bool> done{false};
    std::atomic<bool> started{false};
    int looks = 0;
    int changes = 0;
    std::thread watcher([&] {
      do {
        ++looks;
        changes += unchanged(before) ? 0 : 1;
        started = true;
      } while (!done);
    });
    while (!started) std::this_thread::yield();
    const CompileResult result = compiler->compile(request());
    done = true;
    watcher.join();
    if (!result.ok) throw std::runtime_error(result.log);
    if (looks < 100) throw std::runtime_error("hardly looked");
    const std::string text = changes == 0 && unchanged(before) ? "same" : "changed";
    (void)!::write(out, text.data(), text.size());
  });
  EXPECT_EQ(application.output(), "same");
  EXPECT_EQ(application.wait(), 0);
}

TEST(NvrtcSignals, HeadersThatCannotBePrecompiledAreParsedWithOneWarning) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const TempFolder folder;
  ChildProcess compiling([&](int out) {
    ::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
    int warnings = 0;
    const auto compiler =
        make_nvrtc_compiler("", SystemHeaders::precompile, [&](const std::string&) { ++warnings; });
    const rlimit limit{100'000, RLIM_INFINITY};  // precompiled headers take megabytes
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
    for (int i = 0; i < 2; ++i) {
      const CompileResult result = compiler->compile(request());
      if (!result.ok) throw std::runtime_error(result.log);
    }
    const std::string text = std::to_string(warnings) + " warning";
    (void)!::write(out, text.data(), text.size());
  });
  EXPECT_EQ(compiling.output(), "1 warning");
  EXPECT_EQ(compiling.wait(), 0) << "SIGXFSZ is " << SIGXFSZ;
  EXPECT_TRUE(std::filesystem::exists(folder.file("cache/kiln/tmp")));
}

TEST(NvrtcSignals, AKilledCompilerLeavesNothingWhereTemporaryFilesAreAndItsOwnFolderIsSwept) {
  if (!has_nvrtc()) GTEST_SKIP() << "no NVRTC here";
  const TempFolder folder;
  std::filesystem::create_directory(folder.file("tmp"));
  const auto use_folder = [&] {
    ::setenv("XDG_CACHE_HOME", folder.file("cache").c_str(), 1);
    ::setenv("TMPDIR", folder.file("tmp").c_str(), 1);
  };
  const auto headers = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.file("cache"))) {
      count += entry.path().extension() == ".pch" ? 1 : 0;
    }
    return count;
  };
  ChildProcess killed([&](int) {
    use_folder();
    const auto compiler =
        make_nvrtc_compiler("", SystemHeaders::precompile,
                            [](const std::string& text) { throw std::runtime_error(text); });
    if (!compiler->compile(request()).ok) throw std::runtime_error("does not compile");
    ::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(killed.wait())) << killed.output();
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("tmp")));
  EXPECT_EQ(headers(), 1) << "nothing to sweep";
  ChildProcess next([&](int) {
    use_folder();
    (void)make_nvrtc_compiler("", SystemHeaders::precompile);
  });
  EXPECT_EQ(next.wait(), 0) << next.output();
  EXPECT_EQ(headers(), 0);
}

}  // namespace
}  // namespace kiln
