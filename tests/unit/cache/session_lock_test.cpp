// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/session_lock.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

class SessionLocks : public testing::Test {
 protected:
  [[nodiscard]] std::string lock_file(const std::string& name) const {
    return database + "-session-" + name;
  }
  test::TempFolder folder;
  std::string database = folder.file("tuning.db");
  std::string id = random_id();
};

TEST_F(SessionLocks, ASessionIsAliveWhileItsLockIsHeld) {
  SessionRecord session = test::session(id);
  EXPECT_EQ(state_now(database, session), "interrupted") << "the lock is free";
  {
    const SessionLock lock(database, id);
    EXPECT_TRUE(session_is_alive(database, id));
    EXPECT_FALSE(session_is_alive(database, random_id()));
    EXPECT_FALSE(session_is_alive(folder.file("copy.db"), id)) << "nothing runs in a copy";
    EXPECT_EQ(state_now(database, session), "running");
    session.state = "complete";
    EXPECT_EQ(state_now(database, session), "complete");
  }
  EXPECT_FALSE(session_is_alive(database, id));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing stays behind";
}

TEST_F(SessionLocks, WhatAKilledSessionLeftIsDeadAndGoes) {
  test::write_file(lock_file(id), "");
  test::write_file(lock_file("no-id"), "someone's");
  EXPECT_FALSE(session_is_alive(database, id));
  const std::string living = random_id();
  const SessionLock lock(database, living);
  remove_dead_session_locks(database);
  EXPECT_FALSE(std::filesystem::exists(lock_file(id)));
  EXPECT_TRUE(std::filesystem::exists(lock_file("no-id")));
  EXPECT_TRUE(session_is_alive(database, living));
}

TEST_F(SessionLocks, AnIdNeverLeadsElsewhere) {
  const SessionLock lock(database, id);
  EXPECT_FALSE(session_is_alive(folder.file("x"), "a/../../" + id));
  EXPECT_FALSE(session_is_alive(database, ""));
}

}  // namespace
}  // namespace kiln
