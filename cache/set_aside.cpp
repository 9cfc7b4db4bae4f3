// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/set_aside.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <string_view>
#include <thread>

#include "cache/file_guard.hpp"
#include "cache/records.hpp"
#include "cache/sqlite.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using sqlite::Cause;
using sqlite::Connection;
using sqlite::DatabaseError;
using std::chrono::milliseconds;

constexpr int kPatienceMs = 2'000;
/// How often to try for the lock. Two processes that find the damage at the same time hinder each
/// other until their pauses differ.
constexpr int kTries = 40;
/// More damaged files than that have to be looked at by a person.
constexpr int kMostAside = 10;

bool is_of_application(const std::string& header, std::int64_t application_id) {
  using namespace std::string_view_literals;
  constexpr std::size_t kApplicationIdAt = 68;  // big-endian, in SQLite's file format
  std::int64_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) {
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

/// The caller holds the exclusive lock of the file.
std::string rename_aside(const std::string& path) {
  for (int number = 1; number <= kMostAside; ++number) {
    const std::string aside = path + ".damaged" + (number == 1 ? "" : fmt::format("-{}", number));
    const std::string journal = path + "-journal";
    if (exists(aside) || exists(aside + "-journal")) continue;
    // The journal first: once the name is free, a new file may have one under it.
    if (exists(journal) && !file_guard::rename_without_replacing(journal, aside + "-journal")) {
      continue;
    }
    if (file_guard::rename_without_replacing(path, aside)) return aside;
  }
  throw Error(ErrorKind::database,
              fmt::format("database {0} is damaged, as were those beside it that were set aside. "
                          "Next: check the disk, then remove {0}.damaged and its like.",
                          path));
}

}  // namespace

std::optional<std::string> set_damaged_aside(const std::string& path, std::int64_t application_id,
                                             const SchemaText& own) {
  Connection connection(path, Connection::Access::inspect, kPatienceMs);
  if (!is_of_application(connection.raw_header(), application_id)) {
    throw Error(ErrorKind::database,
                fmt::format("{} is not recognisable as a file of Kiln's and stays as it is. Next: "
                            "move it away, or name another file.",
                            path));
  }
  if (!is_damaged(connection, own)) return std::nullopt;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (connection.lock_exclusively()) {
      // Whoever renames it holds this lock, so from here on the answer stands.
      if (connection.has_moved()) return std::nullopt;
      return rename_aside(path);
    }
    const auto pause = 1 + std::stoul(random_id().substr(0, 4), nullptr, 16) % 32;
    std::this_thread::sleep_for(milliseconds(pause));
  }
  throw DatabaseError(Cause::busy,
                      fmt::format("database {} is damaged and in use by another process. Next: "
                                  "wait until that ends (`fuser {}` shows it).",
                                  path, shell_word(path)));
}

}  // namespace kiln
