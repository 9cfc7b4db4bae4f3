// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/session_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "cache/rows/trial_check.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
/// Network file systems give an exclusive lock only through a descriptor that is open for writing.
constexpr int kToLock = kFlags | O_RDWR;
constexpr int kToLook = kFlags | O_RDONLY;

std::string lock_prefix(const std::string& database) {
  return database + "-session-";
}

int lock(int file, int how) {
  int result = 0;
  do {
    result = ::flock(file, how);
  } while (result != 0 && errno == EINTR);
  return result;
}

/// Whether the name still leads to the open file.
bool is_in_place(int file, const std::string& path) {
  struct stat open_file {};
  struct stat named {};
  return ::fstat(file, &open_file) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino;
}

}  // namespace

SessionLock::SessionLock(const std::string& database, const std::string& session_id)
    : path_(lock_prefix(database) + session_id) {
  // A process that cleans up may briefly lock the new file, and mistake it for a dead session's.
  do {
    if (file_ >= 0) ::close(file_);
    file_ = ::open(path_.c_str(), kToLock | O_CREAT, 0600);
    if (file_ < 0 || lock(file_, LOCK_EX) != 0) {
      const std::string reason = std::generic_category().message(errno);
      if (file_ >= 0) ::close(file_);
      throw Error(ErrorKind::database,
                  fmt::format("Kiln cannot create and lock {} ({}). Without this lock file, other "
                              "runs do not notice this run. Next: keep the database on a local "
                              "file system, in a writable folder.",
                              path_, reason));
    }
  } while (!is_in_place(file_, path_));
}

SessionLock::~SessionLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

bool session_is_alive(const std::string& database, const std::string& session_id) {
  // Ids come from rows that anyone may have written, and become part of a path.
  if (!is_id(session_id)) return false;
  const std::string path = lock_prefix(database) + session_id;
  const int file = ::open(path.c_str(), kToLook);
  if (file < 0) return errno != ENOENT;
  const bool alive = lock(file, LOCK_SH | LOCK_NB) != 0;
  ::close(file);
  return alive;
}

std::string state_now(const std::string& database, const SessionRecord& session) {
  if (session.state != "running" || session_is_alive(database, session.id)) return session.state;
  return "interrupted";
}

void remove_dead_session_locks(const std::string& database) {
  const std::string prefix = lock_prefix(database);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(database).parent_path(), error)) {
    const std::string path = entry.path().string();
    if (!path.starts_with(prefix) || !is_id(path.substr(prefix.size()))) continue;
    const int file = ::open(path.c_str(), kToLock);
    if (file < 0) continue;
    if (lock(file, LOCK_EX | LOCK_NB) == 0 && is_in_place(file, path)) ::unlink(path.c_str());
    ::close(file);
  }
}

}  // namespace kiln
