// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/locations.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>

namespace kiln {
namespace {

/// Sets (or unsets) an environment variable for one test.
class ScopedEnvironment {
 public:
  ScopedEnvironment(const char* name, const char* value) : name_(name) {
    if (const char* before = ::getenv(name)) before_ = before;
    set(value);
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() { set(before_ ? before_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST(Locations, FlagThenVariableThenDefault) {
  const ScopedEnvironment data("XDG_DATA_HOME", "/data");
  const ScopedEnvironment cache("XDG_CACHE_HOME", "/cache");
  {
    const ScopedEnvironment db("KILN_DB", "/x/y.db");
    EXPECT_EQ(database_path("z.db").value, "z.db");
    EXPECT_EQ(database_path("z.db").origin, "flag");
    EXPECT_EQ(database_path("").value, "/x/y.db");
    EXPECT_EQ(database_path("").origin, "KILN_DB");
  }
  const ScopedEnvironment db("KILN_DB", nullptr);
  EXPECT_EQ(database_path("").value, "/data/kiln/tuning.db");
  EXPECT_EQ(database_path("").origin, "default");
  EXPECT_EQ(cubin_store_path("").value, "/cache/kiln/cubins.db");
  EXPECT_EQ(cubin_store_path("c.db").origin, "flag");
}

TEST(Locations, DefaultsLieBelowHome) {
  const ScopedEnvironment db("KILN_DB", "");
  const ScopedEnvironment home("HOME", "/home/someone");
  const ScopedEnvironment data("XDG_DATA_HOME", nullptr);
  const ScopedEnvironment cache("XDG_CACHE_HOME", "relative/is/ignored");
  EXPECT_EQ(database_path("").value, "/home/someone/.local/share/kiln/tuning.db");
  EXPECT_EQ(cubin_store_path("").value, "/home/someone/.cache/kiln/cubins.db");
}

TEST(Locations, WithoutHomeTheUserDatabaseKnowsOne) {
  const ScopedEnvironment db("KILN_DB", nullptr);
  const ScopedEnvironment home("HOME", nullptr);
  const ScopedEnvironment data("XDG_DATA_HOME", nullptr);
  EXPECT_EQ(database_path("").value.front(), '/');
}

TEST(Locations, SiteDatabasesExist) {
  for (const std::string& path : site_databases()) EXPECT_EQ(::access(path.c_str(), F_OK), 0);
}

}  // namespace
}  // namespace kiln
