// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "kiln/error.hpp"

struct sqlite3;

/// What the tests of the cache share: a private folder, plausible records, plain SQLite.
namespace kiln::test {

/// A folder of mode 0700 that is removed with the object.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The database as seen by a person with `sqlite3`: no checks, no hardening.
class PlainSqlite {
 public:
  explicit PlainSqlite(const std::string& path);
  PlainSqlite(const PlainSqlite&) = delete;
  PlainSqlite& operator=(const PlainSqlite&) = delete;
  ~PlainSqlite();
  void execute(const std::string& sql);
  /// Rows of texts; NULL reads as "NULL".
  [[nodiscard]] std::vector<std::vector<std::string>> rows(const std::string& sql);
  [[nodiscard]] std::string value(const std::string& sql);

 private:
  sqlite3* handle_ = nullptr;
};

[[nodiscard]] Problem gemm_problem(std::int64_t m, std::int64_t n, std::int64_t k,
                                   DType type = DType::f16);
[[nodiscard]] DeviceClass h200();
[[nodiscard]] Environment environment(const std::string& driver = "580.1");
/// An ok, verified, measured trial of gemm_wmma for 4096^3 with tile_m = `tile`. Another database
/// accepts its time only from 36 us on.
[[nodiscard]] Trial good_trial(double median_ns, int tile = 128);
[[nodiscard]] SessionRecord session(const std::string& id);

/// An id that follows from the seed, as everything in a property test should.
[[nodiscard]] std::string random_hex(std::mt19937_64& random);
/// Few values for every field, so that collisions and ties happen. Times are in eighths of a
/// nanosecond, near each other.
[[nodiscard]] Trial random_trial(std::mt19937_64& random);
[[nodiscard]] std::vector<Trial> random_trials(std::mt19937_64& random, std::size_t count);

/// In the order of a store's answers.
[[nodiscard]] std::vector<Trial> oldest_first(std::vector<Trial> trials);

/// The text of the Error that `action` throws, after checking its kind; fails the test if none.
[[nodiscard]] std::string error_of(ErrorKind kind, const std::function<void()>& action);

[[nodiscard]] std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace kiln::test
