// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/store/sqlite.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cache/files/file_size_signal.hpp"
#include "templates/printable.hpp"

namespace kiln::sqlite {
namespace {

struct Diagnosis {
  Cause cause;
  const char* what;
  const char* next_step;  ///< {0} is the file, as a word of a shell
};

constexpr const char* kDamageRemedy =
    "run `kiln doctor --db {0}` for details. Save the readable rows with `kiln export --database "
    "--db {0} -o sound.jsonl`, and move the file away. Then `kiln import sound.jsonl --db {0}` "
    "creates a new database";

Diagnosis diagnose(const SQLite::Exception& error) {
  if (error.getExtendedErrorCode() == SQLITE_READONLY_DBMOVED) {
    return {Cause::moved, "was moved or replaced while it was open", "try again"};
  }
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Cause::busy, "is locked by another process",
              "wait until the other process ends (`fuser {0}` shows the process) and try again"};
    case SQLITE_NOTADB:
      return {Cause::not_a_database, "is not an SQLite database",
              "move the file away, or set --db or KILN_DB to another file"};
    case SQLITE_CORRUPT:
      return {Cause::damaged, "is damaged", kDamageRemedy};
    case SQLITE_FULL:
      return {Cause::full, "cannot grow: the disk is full",
              "free some disk space (`df` shows the free space of each disk) and try again; the "
              "rows that were stored before are intact"};
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Cause::forbidden, "cannot be opened: the file or its folder denies access",
              "check the owner and the permissions of the file and its folder (the file needs mode "
              "0600, the folder 0700)"};
    case SQLITE_IOERR:
      return {Cause::full, "cannot be read or written",
              "check the free space (`df`), the quota and the file size limit (`ulimit -f`). If "
              "all are sufficient, check the disk for errors. The rows that were stored before are "
              "intact"};
    case SQLITE_INTERRUPT:
      return {Cause::damaged, "takes much longer to read than an intact file of this size",
              "move the file away, because the file is damaged or was manipulated; Kiln creates a "
              "new file"};
    case SQLITE_TOOBIG:
      return {Cause::other, "cannot hold a value of more than 256 MiB",
              "if a compiled kernel is larger than 256 MiB, make the kernel smaller. Otherwise the "
              "file is damaged: move the file away, and Kiln creates a new file"};
    default:
      return {Cause::other, "failed",
              "run `kiln doctor --db {0}`; if `kiln doctor` finds no fault, report this message"};
  }
}

[[noreturn]] void fail(const std::string& path, const SQLite::Exception& error) {
  const Diagnosis diagnosis = diagnose(error);
  throw DatabaseError(
      diagnosis.cause,
      fmt::format("database {} {} (SQLite: {}, code {}). Next: {}.", path, diagnosis.what,
                  error.what(), error.getExtendedErrorCode(),
                  fmt::format(fmt::runtime(diagnosis.next_step), shell_word(path))));
}

/// SQLite's own handle of a database file.
sqlite3_file* file_of(sqlite3* handle) {
  sqlite3_file* file = nullptr;
  const int result = sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (result != SQLITE_OK) throw SQLite::Exception("finding the database file", result);
  return file;
}

/// Calls SQLiteCpp and translates its exceptions into ours.
template <class Call>
decltype(auto) guarded(const std::string& path, Call&& call) {
  try {
    return std::forward<Call>(call)();
  } catch (const SQLite::Exception& error) {
    fail(path, error);
  }
}

/// The same for calls that may write. Even queries do: they roll back what a killed writer left.
template <class Call>
decltype(auto) guarded_writing(const std::string& path, Call&& call) {
  const FileSizeSignalHeld held;
  return guarded(path, std::forward<Call>(call));
}

/// Limits that no statement of Kiln's comes near, but that a file could reach. Attached databases:
/// none, so that no statement reaches another file.
constexpr std::array<std::pair<int, int>, 10> kLimits{{
    {SQLITE_LIMIT_LENGTH, 256 << 20},
    {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
    {SQLITE_LIMIT_COLUMN, 100},
    {SQLITE_LIMIT_EXPR_DEPTH, 100},
    {SQLITE_LIMIT_COMPOUND_SELECT, 20},
    {SQLITE_LIMIT_VDBE_OP, 100'000},
    {SQLITE_LIMIT_FUNCTION_ARG, 20},
    {SQLITE_LIMIT_ATTACHED, 0},
    {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
    {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
}};

constexpr std::int64_t kNoDeadline = std::numeric_limits<std::int64_t>::max();
/// Instructions of SQLite's VM between two checks of the clock: about 0.1 ms.
constexpr int kInstructionsPerLook = 5000;

std::int64_t thread_cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int is_late(void* deadline_ns) {
  const std::int64_t deadline = *static_cast<const std::int64_t*>(deadline_ns);
  return deadline != kNoDeadline && thread_cpu_ns() > deadline ? 1 : 0;
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
      // Some pragmas act when they are prepared, so each use prepares them again.
      if (sql.starts_with("PRAGMA")) return;
      idle_.emplace(std::move(sql), std::move(statement));
    } catch (const std::exception&) {
      // No memory to keep it: it is prepared again.
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
  // Queries ask for write access too: only then can SQLite roll back the journal that a killed
  // writer left. It falls back to reading by itself where the file system forbids writing.
  const int flags = SQLite::OPEN_READWRITE | SQLite::OPEN_NOFOLLOW | SQLite::OPEN_PRIVATECACHE;
  guarded_writing(
      path, [&] { database_ = std::make_unique<SQLite::Database>(path, flags, busy_timeout_ms); });
  protect();
  if (access == Access::inspect) return;
  harden();
  if (access == Access::query) execute("PRAGMA query_only = ON");
  if (access == Access::write) {
    // A rollback journal, not WAL: WAL needs shared memory, fails on network and read-only file
    // systems, and SQLite before 3.51.3 can damage a file when it resets the log.
    execute("PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL");
  }
  // No one else sees the file until it is complete, so a crash leaves nothing to roll back.
  if (access == Access::create) execute("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL");
}

Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&& other) noexcept {
  const FileSizeSignalHeld held;   // closing rolls back what was not committed
  pool_ = std::move(other.pool_);  // first: SQLite closes no database that has statements
  database_ = std::move(other.database_);
  deadline_ns_ = std::move(other.deadline_ns_);
  path_ = std::move(other.path_);
  return *this;
}
Connection::~Connection() {
  const FileSizeSignalHeld held;
  pool_.reset();
  database_.reset();
}

void Connection::protect() {
  guarded_writing(*path_, [&] {
    sqlite3* handle = database_->getHandle();
    deadline_ns_ = std::make_unique<std::int64_t>(kNoDeadline);
    sqlite3_progress_handler(handle, kInstructionsPerLook, is_late, deadline_ns_.get());
    for (const auto& [limit, value] : kLimits) sqlite3_limit(handle, limit, value);
    database_->check(sqlite3_extended_result_codes(handle, 1));
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr));
    database_->check(sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr));
  });
}

void Connection::harden() {
  guarded_writing(*path_, [&] {
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

void Connection::limit_value_bytes(int bytes) {
  sqlite3_limit(database_->getHandle(), SQLITE_LIMIT_LENGTH, bytes);
}

bool Connection::lock_exclusively() {
  return guarded(*path_, [&] {
    sqlite3_file* file = file_of(database_->getHandle());
    int result = SQLITE_OK;
    // SQLite's rule: a shared lock comes before any other.
    for (const int level : {SQLITE_LOCK_SHARED, SQLITE_LOCK_EXCLUSIVE}) {
      if (result == SQLITE_OK) result = file->pMethods->xLock(file, level);
    }
    if (result == SQLITE_OK) return true;
    // Two connections that kept the shared lock would wait for each other for ever.
    file->pMethods->xUnlock(file, SQLITE_LOCK_NONE);
    if ((result & 0xff) != SQLITE_BUSY) {
      throw SQLite::Exception("locking the database file", result);
    }
    return false;
  });
}

bool Connection::has_moved() const {
  return guarded(*path_, [&] {
    int moved = 0;
    database_->check(
        sqlite3_file_control(database_->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &moved));
    return moved != 0;
  });
}

std::string Connection::raw_bytes(std::int64_t offset, std::size_t count) const {
  return guarded(*path_, [&] {
    sqlite3_file* file = file_of(database_->getHandle());
    sqlite3_int64 size = 0;
    database_->check(file->pMethods->xFileSize(file, &size));
    const auto rest = static_cast<std::size_t>(std::max<std::int64_t>(0, size - offset));
    std::string bytes(std::min(count, rest), '\0');
    database_->check(
        file->pMethods->xRead(file, bytes.data(), static_cast<int>(bytes.size()), offset));
    return bytes;
  });
}

void Connection::replace_content(const std::string& bytes) {
  const FileSizeSignalHeld held;
  guarded(*path_, [&] {
    sqlite3_file* file = file_of(database_->getHandle());
    const auto write = [&](std::size_t begin, std::size_t end) {
      database_->check(file->pMethods->xWrite(file, bytes.data() + begin,
                                              static_cast<int>(end - begin),
                                              static_cast<std::int64_t>(begin)));
      database_->check(file->pMethods->xSync(file, SQLITE_SYNC_NORMAL));
    };
    constexpr std::size_t kHeaderBytes = 100;
    database_->check(file->pMethods->xTruncate(file, static_cast<std::int64_t>(bytes.size())));
    write(kHeaderBytes, bytes.size());
    write(0, kHeaderBytes);
  });
}

std::string Connection::content() const {
  return guarded(*path_, [&] {
    sqlite3_int64 size = 0;
    const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
        sqlite3_serialize(database_->getHandle(), "main", &size, 0), &sqlite3_free);
    if (bytes == nullptr) throw std::bad_alloc();
    return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
  });
}

Connection Connection::in_memory() {
  Connection connection;
  connection.path_ = std::make_unique<std::string>(":memory:");
  connection.pool_ = std::make_unique<StatementPool>();
  guarded(*connection.path_, [&] {
    connection.database_ = std::make_unique<SQLite::Database>(
        ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  });
  connection.protect();
  connection.harden();
  return connection;
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

WorkLimit::WorkLimit(const Connection& connection, double seconds)
    : deadline_ns_(*connection.deadline_ns_), before_(deadline_ns_) {
  const auto allowed_ns = static_cast<std::int64_t>(seconds * 1e9);
  deadline_ns_ = std::min(before_, thread_cpu_ns() + allowed_ns);
}

WorkLimit::~WorkLimit() {
  deadline_ns_ = before_;
}

double reading_seconds(const Connection& connection) {
  constexpr double kBaseSeconds = 3.0;
  constexpr double kSecondsPerPage = 0.002;  // a page of trials takes a tenth of that
  constexpr double kMostSeconds = 600.0;     // the file states its own number of pages
  const auto pages = static_cast<double>(connection.integer("PRAGMA page_count"));
  return std::min(kMostSeconds, kBaseSeconds + kSecondsPerPage * pages);
}

std::string remedy_for_damage(const std::string& path) {
  return fmt::format(fmt::runtime(kDamageRemedy), shell_word(path));
}

Transaction::Transaction(Connection& connection) : connection_(connection) {
  connection_.execute("BEGIN IMMEDIATE");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    connection_.execute("ROLLBACK");
  } catch (const Error&) {
    // SQLite has already rolled back (full disk, I/O error): nothing is left to undo.
  }
}

void Transaction::commit() {
  connection_.execute("COMMIT");
  open_ = false;
}

}  // namespace kiln::sqlite
