// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cache/exchange/salvage.hpp"
#include "cache/files/file_guard.hpp"
#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/shortlist_rows.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/rows/trial_rows.hpp"
#include "cache/schema/schema.hpp"
#include "cache/store/store_impl.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using sqlite::Connection;

/// A tuning run can wait for another one's commit; an application that starts up should not.
constexpr int kWriterPatienceMs = 30'000;
constexpr int kReaderPatienceMs = 5'000;

/// A file that appears under its name only when its schema is complete, so that two processes that
/// start at once never see each other's half-made tables.
void create_database(const std::string& path) {
  file_guard::create_complete(path, [](const std::string& temporary) {
    Connection connection(temporary, Connection::Access::create, kWriterPatienceMs);
    create_schema(connection);
  });
}

/// SQLite takes an empty file for an empty database; here it is a leftover of something.
void refuse_empty(const Connection& connection) {
  if (connection.integer("PRAGMA page_count") != 0) return;
  throw Error(ErrorKind::database, fmt::format("database {} is empty (0 bytes). Next: remove the "
                                               "file with `rm {}`; Kiln creates a new one.",
                                               connection.path(), shell_word(connection.path())));
}

/// Longer than any row: 100,000 samples of 24 characters, texts of 64 KiB.
constexpr int kMostValueBytes = 8 << 20;
/// Enough for a look at the schema, however slow the machine.
constexpr double kOpeningSeconds = 3.0;

/// SQLite needs a second or two to walk through a million trials, and a tuning run should start
/// sooner: in a larger file the table of trials is left to `kiln doctor`, and to the digests
/// of the rows that are read.
constexpr std::int64_t kCheckedWholeBytes = std::int64_t{64} << 20;

/// The first fault of the structure of the table, or of all of them for "1"; or "ok".
std::string quick_check(const Connection& connection, const std::string& table) {
  sqlite::Statement check = connection.prepare("PRAGMA quick_check('" + table + "')");
  return check.step() ? check.text(0) : "ok";
}

void require_sound(const Connection& connection) {
  const sqlite::WorkLimit limit(connection, reading_seconds(connection));
  const bool small =
      connection.integer("PRAGMA page_count") * connection.integer("PRAGMA page_size") <=
      kCheckedWholeBytes;
  std::string fault = "ok";
  if (small) {
    fault = quick_check(connection, "1");
  } else {
    sqlite::Statement tables = connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'trials' ORDER BY name");
    while (fault == "ok" && tables.step()) fault = quick_check(connection, tables.text(0));
  }
  if (fault == "ok") return;
  throw Error(ErrorKind::database,
              fmt::format("database {} is damaged ({}). Next: {}.", connection.path(), fault,
                          sqlite::remedy_for_damage(connection.path())));
}

/// The shortlists that follow from the trials of one transaction.
class ShortlistUpdates {
 public:
  void add(const Connection& connection, const Trial& trial, InsertResult result) {
    if (result == InsertResult::present || result == InsertResult::conflict) return;
    const Pair pair{intern_problem(connection, trial.key.problem),
                    intern_device(connection, trial.key.device)};
    Change& change = changes_[pair];
    change.trials.push_back(trial);
    change.anew = change.anew || result == InsertResult::repaired;
  }

  /// A few trials are added quickly however many there are; with many, rebuilding is faster.
  void write(const Connection& connection) {
    for (const auto& [pair, change] : changes_) {
      if (change.anew || change.trials.size() > kAddedOneByOne) {
        rebuild_shortlist(connection, pair);
      } else {
        add_to_shortlist(connection, pair, change.trials);
      }
    }
  }

 private:
  static constexpr std::size_t kAddedOneByOne = 8;
  struct Change {
    std::vector<Trial> trials;
    bool anew = false;
  };
  std::map<Pair, Change> changes_;
};

bool need_mending(const Connection& connection) {
  const sqlite::WorkLimit limit(connection, reading_seconds(connection));
  return shortlists_need_mending(connection);
}

/// What SQLite finds when it compares rows and indexes; "" if nothing is wrong.
std::string integrity_fault(const Connection& connection) {
  try {
    const sqlite::WorkLimit limit(connection, reading_seconds(connection));
    sqlite::Statement check = connection.prepare("PRAGMA integrity_check(1)");
    return check.step() && check.text(0) != "ok" ? "is damaged: " + check.text(0) : "";
  } catch (const sqlite::DatabaseError& error) {
    if (!error.may_be_local()) throw;
    return "is damaged: SQLite cannot read the whole file";
  }
}

/// What must hold before anything is read: nothing here evaluates what the file defines. Returns
/// why rows have to be saved one by one; "" if they need not.
std::string inspect(const Connection& connection, OpenMode mode) {
  const sqlite::WorkLimit limit(connection, kOpeningSeconds);
  refuse_empty(connection);
  require_known_schema(connection);
  if (mode != OpenMode::salvage) {
    require_own_schema(connection);
    return "";
  }
  const std::string foreign = foreign_schema(connection);
  return foreign.empty() ? "" : "contains tables or views that Kiln did not create: " + foreign;
}

}  // namespace

TuningStore TuningStore::open(const std::string& name, OpenMode mode) {
  const bool write = mode == OpenMode::read_write;
  const std::string path = file_guard::resolve(name, write);
  const bool exists = file_guard::exists_and_is_safe(path);
  if (!exists && !write) {
    throw Error(ErrorKind::database,
                fmt::format("database {} does not exist. Next: create the database with `kiln "
                            "tune`, or set --db or KILN_DB to another database.",
                            path));
  }
  if (write) {
    file_guard::require_writable(path);
    if (!exists) create_database(path);
  }

  Connection connection(path, write ? Connection::Access::write : Connection::Access::query,
                        write ? kWriterPatienceMs : kReaderPatienceMs);
  connection.limit_value_bytes(kMostValueBytes);
  std::string salvage_fault = inspect(connection, mode);
  // A caller that saves rows wants to know whether these are all; a foreign schema must not be
  // computed.
  if (mode == OpenMode::salvage && salvage_fault.empty()) {
    salvage_fault = integrity_fault(connection);
  }
  if (write) {
    // Only before writing: rows that are read carry digests, and a look-up must be quick.
    require_sound(connection);
    if (schema_version_of(connection) < kSchemaVersion) upgrade_schema(connection);
  } else if (!salvage_fault.empty()) {
    connection = salvage(connection);
  }
  connection.ignore_programs_in_schema();
  if (write && need_mending(connection)) {
    sqlite::Transaction transaction(connection);
    repair_shortlists(connection);
    transaction.commit();
  }
  const bool has_shortlists = salvage_fault.empty();
  auto impl = std::make_unique<Impl>(std::move(connection), path, write, has_shortlists);
  impl->salvage_fault = std::move(salvage_fault);
  return TuningStore(std::move(impl));
}

TuningStore::TuningStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TuningStore::TuningStore(TuningStore&&) noexcept = default;
TuningStore& TuningStore::operator=(TuningStore&&) noexcept = default;
TuningStore::~TuningStore() = default;

void TuningStore::Impl::require_write() const {
  if (writable) return;
  throw Error(ErrorKind::usage,
              fmt::format("Kiln cannot change database {}: the program opened the database for "
                          "reading only. Next: open the database with OpenMode::read_write",
                          path));
}

std::int64_t TuningStore::date_after(const CandidateKey& key) const {
  const Connection& connection = impl_->connection;
  const std::int64_t now = next_unix_ms();
  const auto problem = find_problem(connection, key.problem);
  const auto device = find_device(connection, key.device);
  if (!problem || !device) return now;
  sqlite::Statement newest = connection.prepare(
      "SELECT max(created_unix_ms) FROM trials WHERE problem_id = ? AND device_id = ? AND "
      "config = ? AND template_id = (SELECT template_id FROM templates WHERE name = ? AND "
      "digest = ?) AND created_unix_ms < ?");
  newest.bind(*problem, *device, key.config.canonical(), key.template_name, key.template_digest,
              kEndOfDatesUnixMs - 1);
  return newest.step() && !newest.is_null(0) ? std::max(now, newest.integer(0) + 1) : now;
}

std::string TuningStore::Impl::insert(const Trial& trial) {
  const Trial row = checked(trial);
  const InsertResult result = insert_trial(connection, row);
  if (result == InsertResult::conflict) {
    throw Error(ErrorKind::usage, fmt::format("database {} already has a different trial with the "
                                              "id {}. Next: give the new trial another id",
                                              path, row.id));
  }
  ShortlistUpdates updates;
  updates.add(connection, row, result);
  updates.write(connection);
  return row.id;
}

std::string TuningStore::record(const Trial& trial) {
  impl_->require_write();
  sqlite::Transaction transaction(impl_->connection);
  std::string id = impl_->insert(trial);
  transaction.commit();
  return id;
}

RecordCount TuningStore::record_all(const std::vector<Trial>& trials) {
  impl_->require_write();
  RecordCount count;
  ShortlistUpdates updates;
  sqlite::Transaction transaction(impl_->connection);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial row = checked(trials[i]);
    const InsertResult result = insert_trial(impl_->connection, row);
    updates.add(impl_->connection, row, result);
    switch (result) {
      case InsertResult::written:
      case InsertResult::repaired:
        ++count.written;
        break;
      case InsertResult::present:
        ++count.present;
        break;
      case InsertResult::conflict:
        count.conflicts.push_back(i);
        break;
    }
  }
  updates.write(impl_->connection);
  transaction.commit();
  return count;
}

const std::string& TuningStore::salvage_fault() const {
  return impl_->salvage_fault;
}
const std::string& TuningStore::path() const {
  return impl_->path;
}
int TuningStore::schema_version() const {
  return schema_version_of(impl_->connection);
}
std::uint64_t TuningStore::corrupt_rows() const {
  return impl_->corrupt.size();
}

}  // namespace kiln
