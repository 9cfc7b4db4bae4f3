// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A connection does no more than Kiln ever needs, whatever a file or a statement says.
#include <gtest/gtest.h>

#include "cache/store/sqlite.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln::sqlite {
namespace {

Cause cause_of(const Connection& connection, const std::string& sql) {
  try {
    Statement rows = connection.prepare(sql);
    while (rows.step()) {
    }
  } catch (const DatabaseError& error) {
    EXPECT_NE(std::string(error.what()).find("Next: "), std::string::npos) << error.what();
    return error.cause();
  }
  ADD_FAILURE() << sql << " was executed";
  return Cause::other;
}

const std::string kEndless =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n";

TEST(SqliteLimits, EndlessWorkIsBrokenOff) {
  const Connection connection = Connection::in_memory();
  const WorkLimit limit(connection, 0.05);
  EXPECT_EQ(cause_of(connection, kEndless), Cause::damaged);
}

TEST(SqliteLimits, TheEarlierEndHoldsAndThenTheOuterOneAgain) {
  const Connection connection = Connection::in_memory();
  const WorkLimit outer(connection, 0.1);
  {
    const WorkLimit inner(connection, 1e6);
    EXPECT_EQ(cause_of(connection, kEndless), Cause::damaged);
  }
  EXPECT_EQ(cause_of(connection, kEndless), Cause::damaged);
}

TEST(SqliteLimits, WithoutALimitNothingIsBrokenOff) {
  const Connection connection = Connection::in_memory();
  { const WorkLimit limit(connection, 0.0); }
  EXPECT_EQ(connection.integer("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
                               "WHERE i < 100000) SELECT max(i) FROM n"),
            100000);
}

TEST(SqliteLimits, LongValuesOtherFilesAndLongStatementsAreRefused) {
  const test::TempFolder folder;
  Connection connection = Connection::in_memory();
  EXPECT_EQ(cause_of(connection, "SELECT zeroblob(300000000)"), Cause::other);
  connection.limit_value_bytes(1000);
  EXPECT_EQ(cause_of(connection, "SELECT hex(zeroblob(600))"), Cause::other);
  EXPECT_EQ(cause_of(connection, "ATTACH '" + folder.file("x.db") + "' AS other"), Cause::other);
  EXPECT_FALSE(std::filesystem::exists(folder.file("x.db")));
  std::string sum = "SELECT 1";
  for (int i = 0; i < 200; ++i) sum += " + 1";
  EXPECT_EQ(cause_of(connection, sum), Cause::other);
}

}  // namespace
}  // namespace kiln::sqlite
