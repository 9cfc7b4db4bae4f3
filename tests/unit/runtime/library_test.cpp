// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which kernel a library hands out, and what it does if the best one is unavailable.
#include "kiln/library.hpp"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "templates/operation/gemm_problem.hpp"
#include "tests/support/built_in_config.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class LibraryTest : public LibraryFixture {
 protected:
  const Gemm gemm_ = Gemm::of(DType::f16, 256, 256, 128);
  const Config config_ = other_config("gemm_wmma", gemm_);
  /// As good for small problems as any that gemm_wgmma calls usual, or better.
  const Config small_tiles_ = built_in_config(
      "gemm_wgmma", {{"tile_m", 64}, {"tile_n", 64}, {"stages", 12}, {"consumers", 1}});

  /// What the library throws for the test's problem.
  ErrorKind error_of(const Library& library, std::string& text) const {
    try {
      static_cast<void>(library.get(gemm_));
    } catch (const Error& error) {
      text = error.what();
      return error.kind();
    }
    ADD_FAILURE() << "a kernel was found";
    return ErrorKind::internal;
  }
};

TEST_F(LibraryTest, UntunedProblemGetsWhatTheModelExpectsToBeFast) {
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f16, 1024, 1024, 1024));
  EXPECT_EQ(kernel.match(), Match::default_config);
  EXPECT_EQ(kernel.template_name(), "gemm_wgmma");
  EXPECT_THAT(std::string(kernel.match_reason()),
              AllOf(HasSubstr("\"usual\""), HasSubstr("gemm_wgmma"), HasSubstr("predicted")));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LibraryTest, TemplateOrderFollowsWhatTheyCanCompute) {
  const Library library = open();
  EXPECT_EQ(library.get(Gemm::of(DType::f32, 1024, 1024, 1024)).template_name(), "gemm_simt");
}

TEST_F(LibraryTest, LoadedProblemCostsNothingMore) {
  const Library library = open();
  static_cast<void>(library.get(gemm_));
  const LibraryCounters before = library.counters();
  static_cast<void>(library.get(gemm_));
  const LibraryCounters after = library.counters();
  EXPECT_EQ(before.compiles, 1U);
  EXPECT_EQ(after.compiles, 1U);
  EXPECT_EQ(after.database_reads, before.database_reads);
  EXPECT_EQ(device_->loads(), 1U);
}

TEST_F(LibraryTest, OtherSizesShareTheLoadedModule) {
  const Library library = open();
  static_cast<void>(library.get(gemm_));
  static_cast<void>(library.get(Gemm::of(DType::f16, 512, 128, 128)));
  EXPECT_EQ(library.counters().compiles, 1U);
  EXPECT_EQ(device_->loads(), 1U);
}

TEST_F(LibraryTest, TunedProblemIsExact) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  const Library library = open();
  const Kernel kernel = library.get(gemm_);
  EXPECT_EQ(kernel.match(), Match::exact);
  EXPECT_EQ(kernel.config(), config_.canonical());
  EXPECT_EQ(library.counters().database_reads, 1U);
}

TEST_F(LibraryTest, AnotherDriverIsTheSameDeviceClass) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0, "98.0");
  EXPECT_EQ(open().get(gemm_).match(), Match::same_device_class);
}

TEST_F(LibraryTest, CodeOfAnotherCompilerThanTheMeasuredIsNoExactMatch) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  // The store remembers the compiler of the measurement, but has lost the kernel.
  static_cast<void>(open().get(Gemm::of(DType::f32, 64, 64, 64)));
  compiler_identity_ = "nvrtc 99.1";
  const Library library = open();
  const Kernel kernel = library.get(gemm_);
  EXPECT_EQ(kernel.match(), Match::same_device_class);
  EXPECT_EQ(kernel.config(), config_.canonical());
  EXPECT_THAT(std::string(kernel.match_reason()),
              HasSubstr("toolkit nvrtc 99.0 (now in use: nvrtc 99.1)"));
}

TEST_F(LibraryTest, DefaultOnlyIgnoresTheDatabase) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  mode_ = Mode::default_only;
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  EXPECT_EQ(library.counters().database_reads, 0U);
}

TEST_F(LibraryTest, RequireSaysHowToTune) {
  mode_ = Mode::require;
  cuda_include_ = "/the headers";
  const Library library = open();
  std::string text;
  EXPECT_EQ(error_of(library, text), ErrorKind::not_found);
  EXPECT_THAT(text, HasSubstr("kiln tune gemm --m 256 --n 256 --k 128"));
  EXPECT_THAT(text, HasSubstr("--cuda-include '/the headers'")) << "to be pasted into a shell";
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  EXPECT_EQ(library.get(gemm_).match(), Match::exact);
}

TEST_F(LibraryTest, WhatCannotBeTunedIsThereInEveryMode) {
  for (const Mode mode : {Mode::use, Mode::require, Mode::tune_on_miss, Mode::default_only}) {
    mode_ = mode;
    const Library library = open();
    const Kernel scaling = library.get(Gemm::of(DType::f16, 8, 8, 0));
    EXPECT_EQ(scaling.match(), Match::exact);
    EXPECT_THAT(scaling.match_reason(), HasSubstr("nothing to tune: k is 0"));
    EXPECT_EQ(scaling.template_name(), "gemm_naive") << "the plainest";
    const Kernel none = library.get(Gemm::of(DType::f16, 8, 0, 8));
    EXPECT_THAT(none.match_reason(), HasSubstr(" elements"));
    EXPECT_EQ(library.counters().database_reads, 0U);
  }
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(LibraryTest, RequireDoesNotTakeTheNearest) {
  mode_ = Mode::require;
  store_trial(Gemm::of(DType::f16, 256, 512, 128), "gemm_wmma", config_, 1000.0);
  std::string text;
  EXPECT_EQ(error_of(open(), text), ErrorKind::not_found);
}

TEST_F(LibraryTest, APredictionIsUsedButIsNoTuningWhereTimesAreMeasured) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0, "emulated", Provenance::modelled);
  {
    const Library library = open();
    EXPECT_EQ(library.get(gemm_).config(), config_.canonical());
    EXPECT_THAT(std::string(library.get(gemm_).match_reason()), HasSubstr("predicted"));
  }
  mode_ = Mode::require;
  std::string text;
  EXPECT_EQ(error_of(open(), text), ErrorKind::not_found);
  device_options_.info = fake_device_info();
  device_options_.info.provenance = Provenance::modelled;
  device_options_.info.driver = "emulated";
  EXPECT_EQ(open().get(gemm_).match(), Match::exact);
}

TEST_F(LibraryTest, BrokenBestGivesWayToTheNextBestWithOneWarning) {
  const Config next = other_config("gemm_tiled", gemm_);
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  store_trial(gemm_, "gemm_tiled", next, 2000.0);
  decide_ = [](const CompileRequest& request) {
    FakeCompilation result;
    result.ok = !request.name_expressions[0].starts_with("gemm_wmma");
    result.log = "planted error";
    return result;
  };
  const Library library = open();
  const Kernel kernel = library.get(gemm_);
  EXPECT_EQ(kernel.template_name(), "gemm_tiled");
  EXPECT_EQ(kernel.config(), next.canonical());
  EXPECT_EQ(kernel.match(), Match::exact);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("planted error")));
}

TEST_F(LibraryTest, UnloadableCubinGivesWayToOthersAndThenToTheDefaults) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  decide_ = [](const CompileRequest& request) {
    FakeCompilation result;
    for (const char* const name : {"gemm_wgmma", "gemm_wmma", "gemm_mma"}) {
      if (request.name_expressions[0].starts_with(name)) {
        result.cubin.behaviour = kBehaveLoadFailed;
      }
    }
    return result;
  };
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  EXPECT_EQ(library.get(gemm_).template_name(), "gemm_tiled");
  EXPECT_EQ(warnings_.size(), 11U)
      << "one for the tuned candidate, for seven that looked fast, for each default before this";
}

TEST_F(LibraryTest, ABetterKernelWhoseTemplateIsGoneIsNamedOnce) {
  Trial trial = store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  trial.id.clear();
  trial.key.template_name = "gemm_dot";
  trial.timing->median_ns = 100.0;
  TuningStore::open(database_, OpenMode::read_write).record(trial);
  const std::string unavailable = "gemm_dot";
  {
    const Library library = open();
    EXPECT_EQ(library.get(gemm_).match(), Match::exact);
    EXPECT_THAT(std::string(library.get(gemm_).match_reason()), HasSubstr(unavailable));
    Gemm near = gemm_;
    near.m *= 2;
    EXPECT_EQ(library.get(near).match(), Match::nearest_problem);
    ASSERT_EQ(warnings_.size(), 1U) << "one, however many problems it concerns";
    EXPECT_THAT(warnings_[0], HasSubstr(unavailable));
  }
  // Even if only the default is left.
  trial.key.problem = to_problem(Gemm::of(DType::f32, 64, 64, 64));
  trial.id.clear();
  TuningStore::open(database_, OpenMode::read_write).record(trial);
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f32, 64, 64, 64));
  EXPECT_EQ(kernel.match(), Match::default_config);
  EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr(unavailable));
}

TEST_F(LibraryTest, AStoredCubinThatTheDeviceRefusesIsCompiledAfreshAndReplaced) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  const Gemm untuned = Gemm::of(DType::f32, 1024, 1024, 1024);
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.cubin.behaviour = kBehaveLoadFailed;
    return result;
  };
  {
    const Library library = open();
    EXPECT_THROW(static_cast<void>(library.get(gemm_)), Error);
    EXPECT_THROW(static_cast<void>(library.get(untuned)), Error);
  }
  decide_ = nullptr;
  warnings_.clear();
  for (const std::uint64_t compiles : {2U, 0U}) {
    const Library library = open();
    EXPECT_EQ(library.get(gemm_).config(), config_.canonical());
    EXPECT_EQ(library.get(gemm_).match(), Match::exact);
    EXPECT_EQ(library.get(untuned).template_name(), "gemm_simt");
    EXPECT_EQ(library.counters().compiles, compiles);
  }
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LibraryTest, ACubinOfAnotherCompilerThatTheDeviceRefusesIsReplacedOnce) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.cubin.behaviour = kBehaveLoadFailed;
    return result;
  };
  EXPECT_THROW(static_cast<void>(open().get(gemm_)), Error);
  decide_ = nullptr;
  compiler_identity_ = "nvrtc 99.1";
  for (const std::uint64_t compiles : {1U, 0U}) {
    const Library library = open();
    EXPECT_EQ(library.get(gemm_).config(), config_.canonical());
    EXPECT_EQ(library.get(gemm_).match(), Match::same_device_class);
    EXPECT_EQ(library.counters().compiles, compiles);
  }
}

TEST_F(LibraryTest, AfterEightFailingCandidatesTheDefaultIsTaken) {
  const ParamSpace space =
      catalog_.at("gemm_naive").space(to_problem(gemm_), fake_device_info().limits);
  double time_ns = 1000.0;
  ASSERT_GT(space.count(), 12U);
  space.for_each([&](const Config& config) {
    store_trial(gemm_, "gemm_naive", config, time_ns += 100.0);
    return true;
  });
  int tries = 0;
  decide_ = [&tries](const CompileRequest& request) {
    FakeCompilation result;
    result.ok = !request.name_expressions[0].starts_with("gemm_naive");
    result.log = "planted error";
    if (!result.ok) ++tries;
    return result;
  };
  EXPECT_EQ(open().get(gemm_).match(), Match::default_config);
  EXPECT_EQ(tries, 8);
  mode_ = Mode::require;
  std::string text;
  EXPECT_EQ(error_of(open(), text), ErrorKind::not_found);
  EXPECT_THAT(text, HasSubstr("tried 8 tuned kernels for "));
  EXPECT_THAT(text, HasSubstr("planted error"));
  EXPECT_THAT(text, HasSubstr("kiln tune gemm"));
}

TEST_F(LibraryTest, WhatItSaysOfFilesIsFitForATerminal) {
  // The compiler quotes a template, which contains terminal control characters.
  decide_ = [](const CompileRequest&) {
    return FakeCompilation{.ok = false, .log = "planted \x1b]0;owned\x07 error"};
  };
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  mode_ = Mode::require;
  std::string text;
  EXPECT_EQ(error_of(open(), text), ErrorKind::not_found);
  const std::string shown = "planted \\u001b]0;owned\\u0007 error";
  EXPECT_THAT(text, HasSubstr(shown));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(shown)));
}

TEST_F(LibraryTest, NothingWorksIsNotFoundAndListsReasons) {
  decide_ = [](const CompileRequest&) { return FakeCompilation{.ok = false, .log = "no"}; };
  std::string text;
  EXPECT_EQ(error_of(open(), text), ErrorKind::not_found);
  EXPECT_THAT(text, HasSubstr("gemm_naive"));
}

TEST_F(LibraryTest, ALostDeviceIsNoCandidatesFault) {
  decide_ = [](const CompileRequest&) {
    FakeCompilation result;
    result.cubin.behaviour = kBehaveIllegalAddress;
    return result;
  };
  const Library library = open();
  Gemm other = gemm_;
  other.storage_b = Storage::t;
  const Kernel kernel = library.get(other);
  alignas(256) static std::byte memory[256];
  kernel.launch(nullptr, {.a = memory, .b = memory, .d = memory});
  EXPECT_TRUE(device_->synchronize().sticky);
  std::string text;
  EXPECT_EQ(error_of(library, text), ErrorKind::device);
  EXPECT_THAT(text, HasSubstr("restarted"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LibraryTest, UnsupportedTypesAreNotFound) {
  Gemm gemm = gemm_;
  gemm.a = DType::s8;
  gemm.b = DType::f64;
  const Library library = open();
  EXPECT_THROW(static_cast<void>(library.get(gemm)), Error);
}

TEST_F(LibraryTest, ImpossibleProblemNamesTheField) {
  Gemm gemm = gemm_;
  gemm.lda = 5;
  const Library library = open();
  try {
    static_cast<void>(library.get(gemm));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("lda"));
  }
}

TEST_F(LibraryTest, WhatIsNoEnumeratorIsRefused) {
  const Library library = open();
  const auto refused = [&](const Gemm& gemm) {
    try {
      static_cast<void>(library.get(gemm));
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
  };
  EXPECT_TRUE(refused(Gemm::of(DType(77), 64, 64, 64)));
  Gemm gemm = gemm_;
  gemm.storage_b = Storage(9);
  EXPECT_TRUE(refused(gemm));
}

TEST_F(LibraryTest, ForeignFileAsDatabaseIsOneWarningAndAKernel) {
  std::ofstream(database_) << "this is no database, and long enough to be read as one\n";
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  EXPECT_EQ(library.get(Gemm::of(DType::f32, 8, 8, 8)).match(), Match::default_config);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(database_)));
}

TEST_F(LibraryTest, ADatabaseThatCouldNotBeOpenedIsTriedAgain) {
  std::ofstream(database_) << "this is no database, and long enough to be read as one\n";
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  std::filesystem::remove(database_);
  const Gemm other = Gemm::of(DType::f16, 512, 512, 128);
  store_trial(other, "gemm_wmma", config_, 1000.0);
  EXPECT_EQ(library.get(other).match(), Match::exact);
  EXPECT_EQ(warnings_.size(), 1U);
}

TEST_F(LibraryTest, NoHomeFolderIsOneWarningAndAKernel) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become a user without a home folder";
  const auto without_home = [&] {
    constexpr uid_t kNobodyWeKnow = 54321;
    if (::seteuid(kNobodyWeKnow) != 0) std::_Exit(2);
    for (const char* name : {"HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "KILN_DB"}) {
      ::unsetenv(name);
    }
    detail::LibraryParts parts;
    parts.device = std::make_unique<FakeDevice>();
    parts.compiler = {[] { return std::make_unique<FakeCompiler>(); },
                      [](const CompileRequest&) { return std::string("options"); }};
    parts.warnings = std::make_shared<detail::WarningSink>(
        [this](std::string_view text) { warnings_.emplace_back(text); }, "");
    detail::locate_files(parts, {});
    const Library library = detail::LibraryState::make_library(std::move(parts));
    const bool kernel = library.get(gemm_).match() == Match::default_config;
    const bool warned = warnings_.size() == 2 && warnings_[1].starts_with("not tuned") &&
                        warnings_[0].find("HOME") != std::string::npos;
    std::_Exit(kernel && warned ? 0 : 1);
  };
  EXPECT_EXIT(without_home(), ::testing::ExitedWithCode(0), "");
}

TEST_F(LibraryTest, StaleTemplateIsIgnored) {
  Trial trial = store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  trial.id.clear();
  trial.key.config = other_config("gemm_naive", gemm_);
  trial.key.template_name = "gemm_naive";
  trial.key.template_digest = std::string(32, '0');
  trial.timing->median_ns = 1.0;
  TuningStore::open(database_, OpenMode::read_write).record(trial);
  EXPECT_EQ(open().get(gemm_).template_name(), "gemm_wmma");
}

TEST_F(LibraryTest, SecondProcessCompilesNothingAndLoadsNoCompiler) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  const Gemm untuned = Gemm::of(DType::f32, 64, 64, 64);
  {
    const Library first = open();
    static_cast<void>(first.get(gemm_));
    static_cast<void>(first.get(untuned));
    EXPECT_EQ(first.counters().compiles, 2U);
  }
  compilers_made_ = 0;
  const Library second = open();
  EXPECT_EQ(second.get(gemm_).match(), Match::exact);
  EXPECT_EQ(second.get(untuned).match(), Match::default_config);
  EXPECT_EQ(second.counters().compiles, 0U);
  EXPECT_EQ(second.counters().cubin_hits, 2U);
  EXPECT_EQ(compilers_made_, 0);
}

TEST_F(LibraryTest, OtherHeadersAreAnotherKernel) {
  static_cast<void>(open().get(gemm_));
  cuda_include_ = "/other/headers";
  const Library library = open();
  static_cast<void>(library.get(gemm_));
  EXPECT_EQ(library.counters().compiles, 1U);
}

TEST_F(LibraryTest, TunerIsAskedOncePerProblemAndItsFailureIsAWarning) {
  mode_ = Mode::tune_on_miss;
  tuner_program_ = folder_.file("tuner");
  const std::string called = folder_.file("called");
  std::ofstream(tuner_program_) << "#!/bin/sh\necho \"$@\" >> " << called
                                << "\necho to standard output\necho sorry >&2\nexit 3\n";
  std::filesystem::permissions(tuner_program_, std::filesystem::perms::owner_all);
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  EXPECT_THAT(warnings_,
              ElementsAre(::testing::AllOf(HasSubstr(tuner_program_ + " now tunes the problem"),
                                           HasSubstr("25 s")),
                          ::testing::AllOf(HasSubstr("exit code 3"), HasSubstr("sorry"))));
  EXPECT_EQ(library.get(gemm_).match(), Match::default_config);
  std::ifstream file(called);
  std::string line;
  EXPECT_TRUE(std::getline(file, line));
  EXPECT_THAT(line, HasSubstr("tune gemm --m 256 --n 256 --k 128 --a f16"));
  EXPECT_THAT(line, HasSubstr("--db " + database_));
  EXPECT_THAT(line, HasSubstr("--cubin-store " + folder_.file("cubins.db")));
  EXPECT_THAT(line, HasSubstr("--cuda-include /the/headers"));
  EXPECT_FALSE(std::getline(file, line));
}

TEST_F(LibraryTest, ResultsOfAnotherDriverAreNoMiss) {
  store_trial(gemm_, "gemm_wmma", config_, 1000.0, "98.0");
  mode_ = Mode::tune_on_miss;  // there is no tuner: starting it would be a warning
  EXPECT_EQ(open().get(gemm_).match(), Match::same_device_class);
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(LibraryTest, WhatTheTunerStoredIsUsed) {
  // The "tuner" moves a prepared database into place.
  const std::string wanted = database_;
  database_ = folder_.file("prepared.db");
  store_trial(gemm_, "gemm_wmma", config_, 1000.0);
  mode_ = Mode::tune_on_miss;
  tuner_program_ = folder_.file("tuner");
  std::ofstream(tuner_program_) << "#!/bin/sh\nmv " << database_ << " " << wanted << "\n";
  std::filesystem::permissions(tuner_program_, std::filesystem::perms::owner_all);
  database_ = wanted;
  const Library library = open();
  EXPECT_EQ(library.get(gemm_).match(), Match::exact);
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr(tuner_program_)));
}

TEST_F(LibraryTest, OtherProblemsGoOnWhileOneIsTunedAndTheSameOneWaits) {
  mode_ = Mode::tune_on_miss;
  tuner_program_ = folder_.file("tuner");
  const std::string started = folder_.file("started");
  const std::string go_on = folder_.file("go-on");
  // Waits for the test, but not for ever.
  std::ofstream(tuner_program_) << "#!/bin/sh\ncase \"$*\" in *\"--m 256 \"*) echo x >> " << started
                                << "; i=0; while [ ! -e " << go_on
                                << " ] && [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done;; esac\n";
  std::filesystem::permissions(tuner_program_, std::filesystem::perms::owner_all);
  const Gemm other = Gemm::of(DType::f16, 512, 512, 256);
  store_trial(other, "gemm_wmma", config_, 1000.0);
  const Library library = open();
  std::atomic<int> answered{0};
  const auto ask = [&] {
    static_cast<void>(library.get(gemm_));
    ++answered;
  };
  std::thread first(ask);
  while (!std::filesystem::exists(started)) std::this_thread::yield();
  std::thread second(ask);
  EXPECT_EQ(library.get(other).match(), Match::exact);
  EXPECT_EQ(answered, 0) << "the other problem had to wait for the tuner";
  std::ofstream(go_on) << "x";
  first.join();
  second.join();
  EXPECT_EQ(answered, 2);
  EXPECT_EQ(std::filesystem::file_size(started), 2U) << "once, including the newline";
}

TEST_F(LibraryTest, TunersOfOneProcessRunOneAfterTheOther) {
  mode_ = Mode::tune_on_miss;
  tuner_program_ = folder_.file("tuner");
  const std::string device = folder_.file("device");
  // As `kiln tune --no-wait`: fails when another one has the device.
  std::ofstream(tuner_program_) << "#!/bin/sh\nmkdir " << device << " || exit 4\nsleep 0.3\nrmdir "
                                << device << "\n";
  std::filesystem::permissions(tuner_program_, std::filesystem::perms::owner_all);
  const Library library = open();
  {
    std::vector<std::jthread> threads;
    for (const std::int64_t m : {256, 512, 1024}) {
      threads.emplace_back(
          [&library, m] { static_cast<void>(library.get(Gemm::of(DType::f16, m, 256, 128))); });
    }
  }
  EXPECT_THAT(warnings_, ::testing::SizeIs(3));
  EXPECT_THAT(warnings_, ::testing::Each(HasSubstr(tuner_program_)));
}

TEST_F(LibraryTest, DescribesItsDevice) {
  EXPECT_EQ(open().device_description(), "Fake H200, sm_90a, 132 SMs");
}

TEST_F(LibraryTest, OneThatWasMovedFromThrowsAndDescribesNothing) {
  Library library = open();
  const Library moved = std::move(library);
  // NOLINTBEGIN(bugprone-use-after-move): what is tested
  const std::vector<std::function<void()>> calls{
      [&] { static_cast<void>(library.get(gemm_)); },
      [&] {
        static_cast<void>(library.get(OperationProblem{"softmax", {}, {}}));
      },
      [&] { library.prepare(std::vector<Gemm>{gemm_}); },
      [&] { library.prepare(std::vector<OperationProblem>{}); },
      [&] { static_cast<void>(library.allocate(16)); },
      [&] { library.synchronize(); },
      [&] { static_cast<void>(library.device_description()); }};
  for (const auto& call : calls) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), HasSubstr("this Library object is empty"));
    }
  }
  EXPECT_FALSE(library.is_emulated());
  EXPECT_EQ(library.counters().compiles, 0U);
  library = open();
  EXPECT_NE(library.get(gemm_).template_name(), "");
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(LibraryTest, KernelsStayValidWhenTheLibraryMoves) {
  Library library = open();
  const Kernel kernel = library.get(gemm_);
  const std::string name(kernel.template_name());
  const Library moved = std::move(library);
  EXPECT_EQ(kernel.template_name(), name);
  EXPECT_EQ(moved.get(gemm_).config(), kernel.config());
}

}  // namespace
}  // namespace kiln::testing
