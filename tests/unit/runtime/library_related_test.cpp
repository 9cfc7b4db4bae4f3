// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What an application gets for problems that were never tuned, where others were.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/built_in_config.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {
namespace {

using ::testing::HasSubstr;

class LibraryRelated : public LibraryFixture {
 protected:
  const Gemm gemm_ = Gemm::of(DType::f16, 256, 256, 128);
  /// As good for small problems as any that gemm_wgmma calls usual, or better.
  const Config small_tiles_ = built_in_config(
      "gemm_wgmma", {{"tile_m", 64}, {"tile_n", 64}, {"stages", 12}, {"consumers", 1}});

  void forget_code() { std::filesystem::remove(folder_.file("cubins.db")); }
};

TEST_F(LibraryRelated, AnotherSizeIsTheNearestProblem) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::f16, 256, 512, 128));
  EXPECT_EQ(kernel.match(), Match::nearest_problem);
  EXPECT_EQ(kernel.config(), small_tiles_.canonical());
}

TEST_F(LibraryRelated, AnotherKindIsARelatedProblemAndItsCodeIsLoadedOnce) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::bf16, 256, 512, 128));
  EXPECT_EQ(kernel.match(), Match::related_problem);
  EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr("with different types"));
  // With other parts of k, which are no part of the code.
  const Kernel deep = library.get(Gemm::of(DType::bf16, 256, 512, 4096));
  EXPECT_EQ(deep.template_name(), kernel.template_name());
  EXPECT_NE(deep.config(), kernel.config());
  EXPECT_EQ(library.counters().compiles, 1U);
  EXPECT_EQ(device_->loads(), 1U);
}

TEST_F(LibraryRelated, AnUntunedEpilogueGetsTheKernelOfItsProduct) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  const Library library = open();
  Gemm finished = gemm_;
  finished.epilogue = Epilogue("relu(acc + bias[n])");
  const Kernel kernel = library.get(finished);
  EXPECT_EQ(kernel.match(), Match::nearest_problem);
  EXPECT_EQ(kernel.config(), small_tiles_.canonical());
  EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr("with different epilogue"));
  EXPECT_EQ(library.get(gemm_).match(), Match::exact);
}

TEST_F(LibraryRelated, WhatDoesNotBuildGivesWayToTheDefault) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  decide_ = [](const CompileRequest& request) {
    FakeCompilation result;
    result.ok = request.name_expressions[0].find("64") == std::string::npos;
    result.log = "planted error";
    return result;
  };
  const Library library = open();
  const Kernel kernel = library.get(Gemm::of(DType::bf16, 256, 512, 128));
  EXPECT_EQ(kernel.match(), Match::default_config);
  ASSERT_GE(warnings_.size(), 1U);
  EXPECT_THAT(warnings_[0], HasSubstr("planted error"));
}

FakeCompilation spilling(int bytes) {
  FakeCompilation result;
  result.resources.spill_store_bytes = bytes;
  return result;
}

TEST_F(LibraryRelated, AnUntunedKernelThatSpillsGivesWayToTheNextChoice) {
  const std::string first(open().get(gemm_).config());
  std::string refused;
  decide_ = [&](const CompileRequest& request) {
    if (refused.empty()) refused = request.name_expressions[0];
    // What a tuner lets pass is no reason to take another one.
    return spilling(request.name_expressions[0] == refused ? 257 : 256);
  };
  forget_code();
  const Library library = open();
  const Kernel kernel = library.get(gemm_);
  EXPECT_NE(kernel.config(), first);
  EXPECT_EQ(library.counters().compiles, 2U);
  // Known without another compilation for a problem with the same code.
  EXPECT_EQ(library.get(Gemm::of(DType::f16, 256, 256, 192)).config(), kernel.config());
  EXPECT_EQ(library.counters().compiles, 2U);
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(LibraryRelated, AnUntunedKernelWhoseCopiesAreSerialisedGivesWay) {
  int compilations = 0;
  decide_ = [&](const CompileRequest&) {
    FakeCompilation result;
    if (++compilations == 1) result.warnings = {"C7510 wgmma is serialised"};
    return result;
  };
  (void)open().get(gemm_);
  EXPECT_EQ(compilations, 2);
}

TEST_F(LibraryRelated, WhereEveryChoiceSpillsTheFirstIsTakenAndSaysSo) {
  const std::string first(open().get(gemm_).config());
  decide_ = [](const CompileRequest&) { return spilling(4000); };
  forget_code();
  const Library library = open();
  const Kernel kernel = library.get(gemm_);
  EXPECT_EQ(kernel.config(), first);
  EXPECT_THAT(std::string(kernel.match_reason()), HasSubstr("4000 bytes of spill stores"));
}

TEST_F(LibraryRelated, ATunedKernelIsTakenWhateverItSpills) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  std::string tuned;
  decide_ = [&](const CompileRequest& request) {
    if (tuned.empty()) tuned = request.name_expressions[0];
    return spilling(request.name_expressions[0] == tuned ? 4000 : 0);
  };
  EXPECT_EQ(open().get(gemm_).config(), small_tiles_.canonical());
}

TEST_F(LibraryRelated, RequireTakesNoneOfThem) {
  store_trial(gemm_, "gemm_wgmma", small_tiles_, 2000.0);
  mode_ = Mode::require;
  EXPECT_THROW(static_cast<void>(open().get(Gemm::of(DType::bf16, 256, 512, 128))), Error);
}

}  // namespace
}  // namespace kiln::testing
