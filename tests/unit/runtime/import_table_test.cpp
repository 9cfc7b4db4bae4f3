// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/process/import_table.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace kiln {
namespace {

char answer[] = "redirected";

char* always(const char*) {
  return answer;
}

TEST(ImportTableTest, RedirectsTheOneLibraryAndNothingElse) {
  void* const library = ::dlopen(KILN_IMPORTING_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const auto ask = reinterpret_cast<const char* (*)()>(::dlsym(library, "ask_environment"));
  ASSERT_NE(ask, nullptr);
  ::setenv("KILN_IMPORT_TEST", "from the environment", 1);
  EXPECT_STREQ(ask(), "from the environment");
  const std::array redirections{Redirection{"getenv", reinterpret_cast<void*>(&always)},
                                Redirection{"not_imported", reinterpret_cast<void*>(&always)}};
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(redirect_imports(library, redirections), "");
    EXPECT_STREQ(ask(), "redirected");
    EXPECT_STREQ(std::getenv("KILN_IMPORT_TEST"), "from the environment");
  }
}

TEST(ImportTableTest, ThreadsMayRedirectAtOnce) {
  void* const library = ::dlopen(KILN_IMPORTING_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  const std::array redirections{Redirection{"getenv", reinterpret_cast<void*>(&::getenv)}};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int time = 0; time < 2000; ++time)
        EXPECT_EQ(redirect_imports(library, redirections), "");
    });
  }
}

}  // namespace
}  // namespace kiln
