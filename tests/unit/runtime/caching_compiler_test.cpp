// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/lazy_compiler.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {
namespace {

CompileRequest request_of(const std::string& digest) {
  CompileRequest request;
  request.source = "text";
  request.source_digest = digest;
  request.name_expressions = {"kernel<1>"};
  request.arch = "sm_90a";
  return request;
}

class CachingCompilerTest : public ::testing::Test {
 protected:
  std::shared_ptr<CubinStore> store() {
    return std::make_shared<CubinStore>(folder_.file("cubins.db"), 1 << 20,
                                        [](const std::string& text) { ADD_FAILURE() << text; });
  }
  TemporaryFolder folder_;
};

TEST_F(CachingCompilerTest, CompilesOnceAndRemembersAcrossProcesses) {
  const auto fake = std::make_shared<FakeCompiler>();
  CachingCompiler compiler(fake, store());
  const CompileResult first = compiler.compile(request_of("a"));
  EXPECT_TRUE(first.ok);
  EXPECT_FALSE(first.from_store);
  CachingCompiler later(fake, store());
  const CompileResult second = later.compile(request_of("a"));
  EXPECT_TRUE(second.from_store);
  EXPECT_EQ(second.cubin, first.cubin);
  EXPECT_EQ(second.lowered_names, first.lowered_names);
  EXPECT_EQ(second.resources, first.resources);
  EXPECT_EQ(fake->compilations(), 1);
  EXPECT_EQ(compiler.compiles(), 1U);
  EXPECT_EQ(later.compiles(), 0U);
  EXPECT_EQ(later.hits(), 1U);
}

TEST_F(CachingCompilerTest, ThreadsThatAskForTheSameCompileItOnce) {
  const auto fake = std::make_shared<FakeCompiler>([](const CompileRequest&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return FakeCompilation();
  });
  CachingCompiler compiler(fake, store());
  std::vector<std::future<CompileResult>> results;
  for (int i = 0; i < 8; ++i) {
    results.push_back(std::async(std::launch::async, [&compiler, i] {
      return compiler.compile(request_of(i % 2 == 0 ? "a" : "b"));
    }));
  }
  for (auto& result : results) EXPECT_TRUE(result.get().ok);
  EXPECT_EQ(fake->compilations(), 2);
}

TEST_F(CachingCompilerTest, GivingUpEndsTheWaitForTheSameAsWell) {
  const auto patient = std::make_shared<PatientCompiler>(
      [](const CompileRequest& request) { return request.source_digest == "endless"; });
  CachingCompiler compiler(patient, store());
  std::atomic<bool> stop{false};
  CompileRequest endless = request_of("endless");
  endless.give_up = [&] { return stop.load(); };
  std::vector<std::future<CompileResult>> results;
  for (int i = 0; i < 3; ++i) {
    results.push_back(std::async(std::launch::async, [&] { return compiler.compile(endless); }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until all three wait
  stop = true;
  for (auto& result : results) EXPECT_TRUE(result.get().given_up);
  EXPECT_EQ(patient->compilations(), 1);
  EXPECT_TRUE(compiler.compile(request_of("short")).ok);
}

TEST_F(CachingCompilerTest, WhateverDecidesTheBytesIsInTheKey) {
  const auto fake = std::make_shared<FakeCompiler>();
  CachingCompiler compiler(fake, store());
  static_cast<void>(compiler.compile(request_of("a")));
  CompileRequest other = request_of("a");
  other.arch = "sm_80";
  EXPECT_FALSE(compiler.compile(other).from_store);
  other = request_of("a");
  other.line_info = true;
  EXPECT_FALSE(compiler.compile(other).from_store);
  EXPECT_FALSE(compiler.compile(request_of("b")).from_store);
  CachingCompiler newer(std::make_shared<FakeCompiler>(FakeCompiler::Decide(), "nvrtc 99.1"),
                        store());
  EXPECT_FALSE(newer.compile(request_of("a")).from_store);
  CachingCompiler elsewhere(fake, store(), "headers=/opt/cuda/include 1");
  EXPECT_FALSE(elsewhere.compile(request_of("a")).from_store);
  EXPECT_TRUE(elsewhere.compile(request_of("a")).from_store);
}

TEST_F(CachingCompilerTest, FailuresAndWarningsAreNotStored) {
  const auto fake = std::make_shared<FakeCompiler>([](const CompileRequest& request) {
    FakeCompilation result;
    result.ok = request.source_digest != "bad";
    result.warnings = {"C7508 text"};
    return result;
  });
  CachingCompiler compiler(fake, store());
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(compiler.compile(request_of("bad")).ok);
    EXPECT_EQ(compiler.compile(request_of("warned")).warnings.size(), 1U);
  }
  EXPECT_EQ(compiler.compiles(), 4U);
}

TEST_F(CachingCompilerTest, StoredAsksForAnotherCompilersWork) {
  {
    CachingCompiler older(std::make_shared<FakeCompiler>(FakeCompiler::Decide(), "nvrtc 98.0"),
                          store());
    static_cast<void>(older.compile(request_of("a")));
  }
  CachingCompiler compiler(std::make_shared<FakeCompiler>(), store());
  EXPECT_FALSE(compiler.stored(request_of("a"), "nvrtc 97.0"));
  EXPECT_TRUE(compiler.stored(request_of("a"), "nvrtc 98.0"));
  EXPECT_EQ(remembered_compiler(*store()), "nvrtc 98.0");
}

TEST_F(CachingCompilerTest, CompilingAfreshReplacesWhatIsStored) {
  double time_ns = 1.0;
  CachingCompiler compiler(std::make_shared<FakeCompiler>([&](const CompileRequest&) {
                             FakeCompilation result;
                             result.cubin.time_ns = time_ns;
                             return result;
                           }),
                           store());
  const CompileResult old = compiler.compile(request_of("a"));
  time_ns = 2.0;
  const CompileResult fresh = compiler.compile_afresh(request_of("a"));
  EXPECT_FALSE(fresh.from_store);
  EXPECT_NE(fresh.cubin, old.cubin);
  EXPECT_EQ(compiler.compile(request_of("a")).cubin, fresh.cubin);
  EXPECT_EQ(compiler.compiles(), 2U);
}

TEST_F(CachingCompilerTest, WithoutAStoreEverythingIsCompiled) {
  CachingCompiler compiler(std::make_shared<FakeCompiler>(), std::make_shared<CubinStore>());
  static_cast<void>(compiler.compile(request_of("a")));
  EXPECT_FALSE(compiler.compile(request_of("a")).from_store);
  EXPECT_EQ(compiler.compiles(), 2U);
}

TEST(LazyCompilerTest, IsMadeByTheFirstCompilation) {
  int made = 0;
  LazyCompiler compiler({[&made] {
                           ++made;
                           return std::make_unique<FakeCompiler>();
                         },
                         [](const CompileRequest&) { return std::string("options"); }},
                        "nvrtc 98.0");
  EXPECT_EQ(compiler.identity(), "nvrtc 98.0");
  EXPECT_EQ(compiler.options_text(request_of("a")), "options");
  EXPECT_EQ(made, 0);
  EXPECT_TRUE(compiler.compile(request_of("a")).ok);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(compiler.identity(), "nvrtc 99.0") << "what it really is";
}

TEST(LazyCompilerTest, MissingCompilerFailsOnlyWhenItIsNeeded) {
  LazyCompiler compiler(
      {[]() -> std::unique_ptr<Compiler> { throw Error(ErrorKind::compiler, "none here"); },
       [](const CompileRequest&) { return std::string(); }},
      "");
  EXPECT_EQ(compiler.identity(), "");
  EXPECT_THROW(static_cast<void>(compiler.compile(request_of("a"))), Error);
}

}  // namespace
}  // namespace kiln::testing
