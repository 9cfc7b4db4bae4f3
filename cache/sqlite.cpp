// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/sqlite.hpp"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include <map>
#include <string>
#include <utility>

#include "cache/file_size_signal.hpp"
#include "templates/printable.hpp"

namespace kiln::sqlite {
namespace {

struct Diagnosis {
  Cause cause;
  const char* what;
  const char* next_step;  ///< {0} is the file
};

Diagnosis diagnose(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Cause::busy, "is locked by another process",
              "wait until that ends (`fuser` with the file's name shows it) and try again"};
    case SQLITE_NOTADB:
      return {Cause::not_a_database, "is not an SQLite database",
              "move the file away, or name another one with --db or KILN_DB"};
    case SQLITE_CORRUPT:
      return {
          Cause::damaged, "is damaged",
          "run `kiln doctor --db {0}` for details, save what is readable with `kiln export "
          "--database --db {0} -o sound.jsonl`, move the file away (Kiln makes a new one), then "
          "`kiln import sound.jsonl --db {0}`"};
    case SQLITE_FULL:
      return {Cause::full, "cannot grow: the disk is full",
              "free some space (`df` shows where) and try again; what was stored before is intact"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Cause::forbidden, "cannot be opened for this",
              "check owner and permissions of the file and its folder (file 0600, folder 0700)"};
    case SQLITE_IOERR:
      return {Cause::full, "cannot be read or written",
              "check free space, quota and file size limit (`df`, `ulimit -f`), then the disk; "
              "what was stored before is intact"};
    default:
      return {Cause::other, "failed",
              "run `kiln doctor --db {0}`; if it finds nothing, report this text"};
  }
}

[[noreturn]] void fail(const std::string& path, const SQLite::Exception& error) {
  const Diagnosis diagnosis = diagnose(error.getErrorCode());
  throw DatabaseError(
      diagnosis.cause,
      fmt::format("database {} {} (SQLite: {}, code {}). Next: {}.", path, diagnosis.what,
                  error.what(), error.getExtendedErrorCode(),
                  fmt::format(fmt::runtime(diagnosis.next_step), shell_word(path))));
}

/// Calls SQLiteCpp and turns its exceptions into ours.
template <class Call>
decltype(auto) guarded(const std::string& path, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const SQLite::Exception& error) {
    fail(path, error);
  }
}

/// The same for calls that may write. Also queries do: they roll back what a killed writer left.
template <class Call>
decltype(auto) guarded_writing(const std::string& path, Call&& call) {
  const FileSizeSignalHeld held;
  return guarded(path, std::forward<Call>(call));
}

}  // namespace

class StatementPool {
 public:
  std::unique_ptr<SQLite::Statement> take(const std::string& sql) {
    const auto found = idle_.find(sql);
    if (found == idle_.end()) return nullptr;
    std::unique_ptr<SQLite::Statement> statement = std::move(found->second);
    idle_.erase(found);
    return statement;
  }

  void give_back(std::unique_ptr<SQLite::Statement> statement) noexcept {
    try {
      // A statement that is not reset would keep its lock on the file.
      if (statement->tryReset() != SQLITE_OK || idle_.size() >= kMost) return;
      statement->clearBindings();
      std::string sql = statement->getQuery();
      // Some pragmas act when they are prepared, so each use prepares them anew.
      if (sql.starts_with("PRAGMA")) return;
      idle_.emplace(std::move(sql), std::move(statement));
    } catch (const std::exception&) {
      // No memory to remember it: it is prepared again.
    }
  }

 private:
  /// Kiln's own queries are fewer; texts that list identifiers must not pile up.
  static constexpr std::size_t kMost = 64;
  std::multimap<std::string, std::unique_ptr<SQLite::Statement>> idle_;
};

Statement::Statement(std::unique_ptr<SQLite::Statement> statement, const std::string* path,
                     StatementPool* pool)
    : statement_(std::move(statement)), path_(path), pool_(pool) {}
Statement::Statement(Statement&&) noexcept = default;
Statement::~Statement() {
  if (statement_) pool_->give_back(std::move(statement_));
}

bool Statement::step() {
  const auto next = [&] { return statement_->executeStep(); };
  // Rows after the first are read under the lock that the first has taken.
  return statement_->hasRow() ? guarded(*path_, next) : guarded_writing(*path_, next);
}

void Statement::run() {
  guarded_writing(*path_, [&] {
    while (statement_->executeStep()) {
    }
    statement_->reset();
  });
  next_ = 1;
}

void Statement::rewind() {
  guarded(*path_, [&] { statement_->reset(); });
  next_ = 1;
}

bool Statement::is_null(int column) const {
  return statement_->getColumn(column).isNull();
}
std::int64_t Statement::integer(int column) const {
  return statement_->getColumn(column).getInt64();
}
double Statement::real(int column) const {
  return statement_->getColumn(column).getDouble();
}
std::string Statement::text(int column) const {
  return statement_->getColumn(column).getString();
}
std::span<const std::byte> Statement::blob(int column) const {
  const SQLite::Column value = statement_->getColumn(column);
  const auto* data = static_cast<const std::byte*>(value.getBlob());
  return {data, data == nullptr ? 0 : static_cast<std::size_t>(value.getBytes())};
}

void Statement::bind_next(std::int64_t value) {
  guarded(*path_, [&] { statement_->bind(next_++, static_cast<int64_t>(value)); });
}
void Statement::bind_next(double value) {
  guarded(*path_, [&] { statement_->bind(next_++, value); });
}
void Statement::bind_next(std::string_view value) {
  guarded(*path_, [&] { statement_->bind(next_++, std::string(value)); });
}
void Statement::bind_next(std::span<const std::byte> value) {
  guarded(*path_, [&] {
    // A null pointer would bind NULL, not an empty blob.
    statement_->bind(next_++, value.empty() ? "" : static_cast<const void*>(value.data()),
                     static_cast<int>(value.size()));
  });
}
void Statement::bind_next(std::nullopt_t) {
  guarded(*path_, [&] { statement_->bind(next_++); });
}

Connection::Connection(const std::string& path, Access access, int busy_timeout_ms)
    : path_(std::make_unique<std::string>(path)), pool_(std::make_unique<StatementPool>()) {
  // Also queries ask for write access: only then can SQLite roll back the journal that a killed
  // writer left. It falls back to reading by itself where the file system forbids writing.
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_NOFOLLOW | SQLite::OPEN_PRIVATECACHE;
  guarded_writing(
      path, [&] { database_ = std::make_unique<SQLite::Database>(path, flags, busy_timeout_ms); });
  harden();
  if (access == Access::query) execute("PRAGMA query_only = ON");
  if (access == Access::write) {
    // A rollback journal, not WAL: WAL needs shared memory, fails on network and read-only file
    // systems, and SQLite before 3.51.3 can damage a file when it resets the log.
    execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL");
  }
  // Nobody else sees the file until it is complete, so a crash leaves nothing to roll back.
  if (access == Access::create) execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL");
}

Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept {
  const FileSizeSignalHeld held;  // closing rolls back what was not committed
  pool_ = std::move(other.pool_);  // first: SQLite closes no database that has statements
  database_ = std::move(other.database_);
  path_ = std::move(other.path_);
  return *this;
}
Connection::~Connection() {
  const FileSizeSignalHeld held;
  pool_.reset();
  database_.reset();
}

void Connection::harden() {
  guarded_writing(*path_, [&] {
    sqlite3* handle = database_->getHandle();
    database_->check(sqlite3_extended_result_codes(handle, 1));
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
    // Memory-mapped reads turn a disk fault or a truncation by others into SIGBUS.
    database_->exec(
        "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA foreign_keys = ON;"
        "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384");
  });
}

void Connection::ignore_programs_in_schema() {
  guarded(*path_, [&] {
    sqlite3* handle = database_->getHandle();
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr));
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr));
  });
}

Connection Connection::copy_in_memory() const {
  Connection copy;
  copy.path_ = std::make_unique<std::string>(*path_);
  copy.pool_ = std::make_unique<StatementPool>();
  guarded(*path_, [&] {
    copy.database_ = std::make_unique<SQLite::Database>(
        ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup backup(*copy.database_, *database_);
    // A database that stays locked is an answer of executeStep, not an exception.
    const int result = backup.executeStep();
    if (result != SQLITE_DONE) throw SQLite::Exception("copying the database", result);
  });
  copy.harden();
  return copy;
}

void Connection::execute(const std::string& sql) {
  guarded_writing(*path_, [&] { database_->exec(sql); });
}

Statement Connection::prepare(const std::string& sql) const {
  auto statement = pool_->take(sql);
  if (!statement) {
    guarded_writing(*path_,
                    [&] { statement = std::make_unique<SQLite::Statement>(*database_, sql); });
  }
  return {std::move(statement), path_.get(), pool_.get()};
}

std::int64_t Connection::integer(const std::string& sql) const {
  Statement statement = prepare(sql);
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Connection::last_row_id() const {
  return database_->getLastInsertRowid();
}
std::int64_t Connection::changes() const {
  return database_->getChanges();
}
bool Connection::is_writable() const {
  return sqlite3_db_readonly(database_->getHandle(), "main") == 0;
}

std::pair<std::int64_t, std::int64_t> Connection::change_stamp() const {
  return {integer("PRAGMA data_version"), database_->getTotalChanges()};
}

Snapshot::Snapshot(const Connection& connection) : connection_(connection) {
  connection_.prepare("SAVEPOINT reading").run();
}

Snapshot::~Snapshot() {
  try {
    connection_.prepare("RELEASE reading").run();
  } catch (const Error&) {
    // Nothing was written: there is nothing to lose.
  }
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has rolled back by itself (full disk, I/O error): nothing is left to undo.
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  open_ = false;
}

}  // namespace kiln::sqlite
