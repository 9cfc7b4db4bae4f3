// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/set_aside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>

#include "cache/files/file_guard.hpp"
#include "cache/files/file_size_signal.hpp"
#include "cache/records.hpp"
#include "cache/schema/schema_text.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using sqlite::Cause;
using sqlite::Connection;
using sqlite::DatabaseError;
using std::chrono::milliseconds;

constexpr int kPatienceMs = 2'000;
/// How often to try for the lock. Two processes that find the damage at the same time block each
/// other until their pauses differ.
constexpr int kTries = 40;
/// More damaged files than that need a person's attention.
constexpr int kMostAside = 10;

// Fields of SQLite's header, big-endian.
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kChangeCounterAt = 24;
constexpr std::size_t kSchemaCookieAt = 40;
constexpr std::size_t kApplicationIdAt = 68;
constexpr std::size_t kValidForAt = 92;  ///< the change counter for which other fields are valid
constexpr std::size_t kFieldBytes = 4;

bool is_of_application(const std::string& header, std::int64_t application_id) {
  using namespace std::string_view_literals;
  if (header.size() < kHeaderBytes) return false;
  std::int64_t id = 0;
  for (std::size_t i = 0; i < kFieldBytes; ++i) {
    id = id << 8 | static_cast<unsigned char>(header[kApplicationIdAt + i]);
  }
  return header.starts_with("SQLite format 3\0"sv) && id == application_id;
}

/// Reads all of it, and rolls back what a killed writer left; of a foreign schema only its text,
/// because the check would compute what it says.
bool is_damaged(const Connection& connection, const SchemaText& own) {
  try {
    const sqlite::WorkLimit limit(connection, reading_seconds(connection));
    if (!SchemaText::of(connection).differences_from(own).empty()) return true;
    sqlite::Statement check = connection.prepare("PRAGMA integrity_check(1)");
    return check.step() && check.text(0) != "ok";
  } catch (const DatabaseError& error) {
    if (error.cause() == Cause::damaged || error.cause() == Cause::not_a_database) return true;
    throw;
  }
}

bool exists(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0;
}

/// A new file that is removed again unless it was completed.
class NewFile {
 public:
  explicit NewFile(const std::string& path)
      : path_(path),
        file_(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600)) {}
  ~NewFile() {
    if (file_ < 0) return;
    ::close(file_);
    if (!complete_) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  [[nodiscard]] bool is_open() const { return file_ >= 0; }
  /// This and complete() return false, with errno, on failure.
  [[nodiscard]] bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto written = ::write(file_, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(0, written)));
    }
    return true;
  }
  [[nodiscard]] bool complete() { return complete_ = ::fsync(file_) == 0; }

 private:
  const std::string& path_;
  int file_;
  bool complete_ = false;
};

/// Copies the file to a new one; false if its name is taken. The caller holds the exclusive lock.
bool copy_to(const std::string& copy, const Connection& connection) {
  const FileSizeSignalHeld held;
  NewFile file(copy);
  if (!file.is_open() && errno == EEXIST) return false;
  bool good = file.is_open();
  constexpr std::size_t kChunk = 1U << 20U;
  std::int64_t offset = 0;
  for (std::string bytes; good; offset += static_cast<std::int64_t>(bytes.size())) {
    bytes = connection.raw_bytes(offset, kChunk);
    if (bytes.empty()) break;
    good = file.write(bytes);
  }
  if (good && file.complete()) return true;
  throw Error(ErrorKind::database,
              fmt::format("database {} is damaged, and Kiln cannot copy the file ({}). Next: free "
                          "some space, or move the file away.",
                          connection.path(), std::strerror(errno)));
}

/// The caller holds the exclusive lock, so a journal belongs to the damaged content.
std::string copy_aside(const Connection& connection) {
  const std::string& path = connection.path();
  for (int number = 1; number <= kMostAside; ++number) {
    const std::string aside = path + ".damaged" + (number == 1 ? "" : fmt::format("-{}", number));
    const std::string journal = path + "-journal";
    if (exists(aside + "-journal") || !copy_to(aside, connection)) continue;
    if (exists(journal)) {
      (void)file_guard::rename_without_replacing(journal, aside + "-journal");
    }
    return aside;
  }
  throw Error(
      ErrorKind::database,
      fmt::format(
          "database {0} is damaged again, and copies of earlier damaged files are still there. "
          "Next: check the disk, then remove these copies ({0}.damaged, {0}.damaged-2 and so on).",
          path));
}

/// Other connections consider what they have cached of the file valid while these fields are
/// unchanged.
std::string with_fresh_counters(std::string content) {
  const auto random = std::stoul(random_id().substr(0, 16), nullptr, 16);
  for (const std::size_t field : {kChangeCounterAt, kSchemaCookieAt, kValidForAt}) {
    for (std::size_t i = 0; i < kFieldBytes; ++i) {
      content[field + i] = static_cast<char>(random >> (8 * i));
    }
  }
  return content;
}

}  // namespace

std::optional<std::string> set_damaged_aside(const std::string& path, std::int64_t application_id,
                                             const Connection& empty) {
  Connection connection(path, Connection::Access::inspect, kPatienceMs);
  const std::string header = connection.raw_bytes(0, kHeaderBytes);
  if (!is_of_application(header, application_id)) {
    throw Error(ErrorKind::database,
                fmt::format("{} does not look like a file of Kiln, so Kiln did not change the "
                            "file. Next: move the file away, or name another file.",
                            path));
  }
  if (!is_damaged(connection, SchemaText::of(empty))) return std::nullopt;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (connection.lock_exclusively()) {
      // From here on nothing changes; what changed meanwhile has to be examined again.
      if (connection.has_moved() || connection.raw_bytes(0, kHeaderBytes) != header) {
        return std::nullopt;
      }
      std::string aside = copy_aside(connection);
      connection.replace_content(with_fresh_counters(empty.content()));
      return aside;
    }
    const auto pause = 1 + std::stoul(random_id().substr(0, 4), nullptr, 16) % 32;
    std::this_thread::sleep_for(milliseconds(pause));
  }
  throw DatabaseError(Cause::busy,
                      fmt::format("database {} is damaged and in use by another process. Next: "
                                  "wait until that process ends (`fuser {}` shows the process).",
                                  path, shell_word(path)));
}

}  // namespace kiln
