// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/records.hpp"

namespace kiln {

/// A session's sign of life: a file beside the database, "tuning.db-session-ID", that the process
/// of the session keeps locked (flock) and removes at the end. When the process is killed the
/// system drops the lock, so a row that says "running" is true exactly while this lock is held.
/// Copies of the row in merged or exported databases have no such file: there nothing runs.
class SessionLock {
 public:
  /// `database` is TuningStore::path(). Throws Error(database) if the file cannot be created.
  SessionLock(const std::string& database, const std::string& session_id);
  ~SessionLock();
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;

 private:
  std::string path_;
  int file_ = -1;
};

/// Whether a process holds the lock of that session. Also true if this user may not check.
[[nodiscard]] bool session_is_alive(const std::string& database, const std::string& session_id);

/// The state to show to people: a row that says "running" for a session whose process is gone is
/// "interrupted".
[[nodiscard]] std::string state_now(const std::string& database, const SessionRecord& session);

/// Removes the files of sessions whose process is gone.
void remove_dead_session_locks(const std::string& database);

}  // namespace kiln
