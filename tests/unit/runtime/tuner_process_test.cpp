// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/tuner_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "runtime/library/gemm_kernels.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::detail {
namespace {

using ::testing::HasSubstr;

TEST(TunerProcessTest, CommandSaysTheWholeProblem) {
  Gemm gemm = Gemm::of(DType::bf16, 7, 8, 9, Storage::n, Storage::t);
  gemm.ldd = 12;
  gemm.alignment_a = 2;
  const auto command = tuner_command("kiln", gemm_tuner_words(normalised(gemm)),
                                     {.database = "/db", .device = "cuda:1"});
  EXPECT_EQ(fmt::format("{}", fmt::join(command, " ")),
            "kiln tune gemm --m 7 --n 8 --k 9 --a bf16 --b bf16 --c bf16 --d bf16 --acc f32 "
            "--layout nt --lda 9 --ldb 9 --ldd 12 --align-a 2 --align-b 16 --align-d 16 "
            "--db /db --device cuda:1 --quiet");
}

TEST(TunerProcessTest, ReadingCIsSaidByBetaAndPlacesByTheirFlags) {
  Gemm gemm = Gemm::of(DType::f32, 7, 8, 9);
  gemm.reads_c = true;
  gemm.ldc = 10;
  const auto command = tuner_command("kiln", gemm_tuner_words(normalised(gemm)),
                                     {.database = "/db",
                                      .cubin_store = "/cubins",
                                      .device = "cuda:0",
                                      .template_path = {"/x", "/y"},
                                      .cuda_include = "/include"});
  const std::string text = fmt::format("{}", fmt::join(command, " "));
  EXPECT_THAT(text, HasSubstr("--ldc 10 --align-c 16 --beta 1 "));
  EXPECT_THAT(text, HasSubstr("--db /db --cubin-store /cubins --device cuda:0 "
                              "--template-path /x:/y --cuda-include /include --quiet"));
}

TEST(TunerProcessTest, TheObjectiveIsPassedOn) {
  const auto command = tuner_command("kiln", {"softmax"}, {.objective = "energy_j * time_s"});
  EXPECT_THAT(command, ::testing::IsSupersetOf({"--objective", "energy_j * time_s"}));
}

TEST(TunerProcessTest, SuccessIsSilent) {
  EXPECT_EQ(run_program({"true"}), "");
}

TEST(TunerProcessTest, FailureQuotesTheLastWords) {
  EXPECT_EQ(run_program({"/bin/sh", "-c", "echo out; echo err >&2; exit 4"}), "exit code 4: err");
  EXPECT_THAT(run_program({"/bin/sh", "-c", "kill -9 $$"}), HasSubstr("signal 9"));
  EXPECT_THAT(run_program({"/nonexistent/program"}), HasSubstr("cannot start"));
}

TEST(TunerProcessTest, AnApplicationThatIgnoresItsChildrenIsToldWhatTheySaid) {
  auto* const before = std::signal(SIGCHLD, SIG_IGN);
  const std::string success = run_program({"true"});
  const std::string failure = run_program({"/bin/sh", "-c", "echo no device >&2; exit 4"});
  std::signal(SIGCHLD, before);
  EXPECT_EQ(success, "");
  EXPECT_EQ(failure, "no device");
}

TEST(TunerProcessTest, TheChildGetsNoneOfTheApplicationsSignalsAndFiles) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  auto* const interrupt = std::signal(SIGINT, SIG_IGN);
  auto* const pipe = std::signal(SIGPIPE, SIG_IGN);
  constexpr int kOpen = 77;
  ASSERT_EQ(::dup2(STDIN_FILENO, kOpen), kOpen);
  const std::string text = run_program({"/bin/sh", "-c",
                                        "while read name value; do case $name in SigBlk:|SigIgn:) "
                                        "echo $name $value >&2;; esac; done < /proc/$$/status; "
                                        "[ -e /proc/$$/fd/77 ] && echo open >&2; exit 1"});
  ::close(kOpen);
  std::signal(SIGPIPE, pipe);
  std::signal(SIGINT, interrupt);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const auto signals = [&](const std::string& name) {
    const auto at = text.find(name);
    // Beyond these are two that the C library reserves.
    constexpr unsigned long long kFirst31 = 0x7fffffff;
    return at == std::string::npos
               ? ~0ULL
               : std::stoull(text.substr(at + name.size()), nullptr, 16) & kFirst31;
  };
  EXPECT_EQ(signals("SigBlk: "), 0U) << text;
  EXPECT_EQ(signals("SigIgn: "), 0U) << text;
  EXPECT_THAT(text, ::testing::Not(HasSubstr("open")));
}

TEST(TunerProcessTest, TheTunerIsThatOfTheSameInstallationBeforePath) {
  const testing::TemporaryFolder folder;
  const auto place = [&](const char* where) {
    const std::filesystem::path file = folder.file(where);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    return file;
  };
  const auto find = [&](const char* library) {
    return find_tuner(folder.file(library), folder.file("application"));
  };
  EXPECT_EQ(find("lib"), "kiln");
  const auto beside = place("application/kiln");
  EXPECT_EQ(find("lib"), "kiln") << "no program";
  std::filesystem::permissions(beside, std::filesystem::perms::owner_all);
  EXPECT_EQ(find("lib"), beside);
  std::filesystem::permissions(place("bin/kiln"), std::filesystem::perms::owner_all);
  EXPECT_EQ(find("lib"), folder.file("bin/kiln"));
  EXPECT_EQ(find("lib/x86_64-linux-gnu"), folder.file("bin/kiln"));
  EXPECT_EQ(find("application"), beside);
  // Unknown folders are not the working folder.
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.file(""));
  EXPECT_EQ(find_tuner("", ""), "kiln");
  std::filesystem::current_path(before);
}

TEST(TunerProcessTest, LongComplaintsAreCutAtTheirBeginning) {
  const std::string text = run_program({"/bin/sh", "-c",
                                        "i=0; while [ $i -lt 900 ]; do echo line $i >&2; "
                                        "i=$((i+1)); done; exit 1"});
  EXPECT_LT(text.size(), 2100U);
  EXPECT_THAT(text, HasSubstr("line 899"));
}

}  // namespace
}  // namespace kiln::detail
