// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

/// The only door to SQLite: a connection with every safety setting on, statements, and errors whose
/// text says what to do. Private to this folder; only sqlite.cpp includes SQLiteCpp.
namespace kiln::sqlite {

/// The kind of failure, for callers that react rather than report.
enum class Cause : std::uint8_t {
  busy,
  damaged,
  not_a_database,
  full,
  moved,  ///< the open file no longer has its name
  forbidden,
  other
};

class DatabaseError : public Error {
 public:
  DatabaseError(Cause cause, const std::string& text)
      : Error(ErrorKind::database, text), cause_(cause) {}
  [[nodiscard]] Cause cause() const noexcept { return cause_; }
  /// Whether only what was just read may be at fault (a page, a value, a sector of the disk), so
  /// that something else in the file may still be readable.
  [[nodiscard]] bool may_be_local() const noexcept {
    return cause_ == Cause::damaged || cause_ == Cause::full || cause_ == Cause::other;
  }

 private:
  Cause cause_;
};

/// Prepared statements that are not in use, by their text: preparing one takes longer
/// than most of Kiln's queries.
class StatementPool;

/// One prepared statement. Parameters are bound in order, by position; columns count from 0. It
/// goes back to its connection, which must still be there, when it is destroyed.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  template <class... Values>
  Statement& bind(const Values&... values) {
    (bind_next(values), ...);
    return *this;
  }
  /// Moves to the next row; false after the last.
  bool step();
  /// Runs a statement that yields no rows, and makes it ready to be bound again.
  void run();
  /// Makes the statement ready to be bound and stepped again.
  void rewind();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Valid until the next step.
  [[nodiscard]] std::span<const std::byte> blob(int column) const;

 private:
  friend class Connection;
  Statement(std::unique_ptr<SQLite::Statement> statement, const std::string* path,
            StatementPool* pool);
  void bind_next(std::int64_t value);
  void bind_next(int value) { bind_next(static_cast<std::int64_t>(value)); }
  void bind_next(bool value) { bind_next(static_cast<std::int64_t>(value)); }
  void bind_next(double value);
  void bind_next(std::string_view value);
  void bind_next(const std::string& value) { bind_next(std::string_view(value)); }
  void bind_next(const char* value) { bind_next(std::string_view(value)); }
  void bind_next(std::span<const std::byte> value);
  void bind_next(std::nullopt_t);
  template <class T>
  void bind_next(const std::optional<T>& value) {
    if (value) {
      bind_next(*value);
    } else {
      bind_next(std::nullopt);
    }
  }

  std::unique_ptr<SQLite::Statement> statement_;
  const std::string* path_;
  StatementPool* pool_;
  int next_ = 1;
};

class Connection {
 public:
  enum class Access : std::uint8_t {
    query,    ///< never changes content, but may roll back what a killed writer left
    write,    ///< the file must exist
    create,   ///< a fresh, private file that no one else knows yet
    inspect,  ///< perhaps damaged, or no database: nothing is read before the first statement
  };
  Connection(const std::string& path, Access access, int busy_timeout_ms);
  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  /// An empty database without a file.
  [[nodiscard]] static Connection in_memory();

  /// One or several statements that yield no rows.
  void execute(const std::string& sql);
  [[nodiscard]] Statement prepare(const std::string& sql) const;
  [[nodiscard]] std::int64_t integer(const std::string& sql) const;
  [[nodiscard]] std::int64_t last_row_id() const;
  [[nodiscard]] std::int64_t changes() const;
  /// Differs from an earlier one if anything was changed since, by this connection or another.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> change_stamp() const;
  /// From here on this connection ignores views and triggers, which Kiln's own code never needs:
  /// nothing that a file written by others could run is left.
  void ignore_programs_in_schema();
  /// From here on no value and no row may be longer, not even one that SQL computes. (The initial
  /// limit is 256 MiB.)
  void limit_value_bytes(int bytes);

  // For setting a damaged file aside. These go through SQLite's own descriptor: opening and closing
  // the file by other means would drop the locks that this process has on it.

  /// Shuts everyone else out of the file, intact or not, until this connection is closed; only
  /// between two statements. False if another connection is using it.
  [[nodiscard]] bool lock_exclusively();
  /// Whether the path now leads to another file, or to none.
  [[nodiscard]] bool has_moved() const;
  /// Raw bytes of the file; fewer at its end.
  [[nodiscard]] std::string raw_bytes(std::int64_t offset, std::size_t count) const;
  /// Gives the file other content, for the holder of lock_exclusively(). The header comes last, so
  /// that a file whose writer dies half-way is still what it was before: damaged.
  void replace_content(const std::string& bytes);
  /// The bytes of the file that a database in memory would be.
  [[nodiscard]] std::string content() const;
  [[nodiscard]] const std::string& path() const { return *path_; }

 private:
  friend class WorkLimit;
  Connection() = default;
  /// Disables whatever a file could do merely by its schema. Reads nothing.
  void protect();
  void harden();
  std::unique_ptr<std::string> path_;  ///< on the heap: statements refer to it across moves
  /// Processor time of a thread, in ns, at which work is aborted; likewise on the heap, because
  /// SQLite keeps its address. It must outlive the database.
  std::unique_ptr<std::int64_t> deadline_ns_;
  std::unique_ptr<SQLite::Database> database_;
  std::unique_ptr<StatementPool> pool_;  ///< after database_: statements go before their database
};

/// Everything read while it lives is of one state of the file. Nests, also in a Transaction.
class Snapshot {
 public:
  explicit Snapshot(const Connection& connection);
  ~Snapshot();
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

 private:
  const Connection& connection_;
};

/// While it lives, statements of the connection may take that much processor time of this thread;
/// then they fail with DatabaseError(damaged). Pages of a damaged or hostile file can refer to each
/// other so that reading them never ends. Processor time, because waiting for a lock or a slow disk
/// is no fault of the file's. If two are alive, the earlier limit applies.
class WorkLimit {
 public:
  WorkLimit(const Connection& connection, double seconds);
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  ~WorkLimit();

 private:
  std::int64_t& deadline_ns_;
  std::int64_t before_;
};

/// Processor time, in seconds, that reading the whole file may take: many times what its pages
/// need, so that only a file whose pages refer to each other in circles uses it up.
[[nodiscard]] double reading_seconds(const Connection& connection);

/// What to do about a damaged database, in words with commands, for the end of a message.
[[nodiscard]] std::string remedy_for_damage(const std::string& path);

/// BEGIN IMMEDIATE (a deferred transaction that turns into a writer fails at once when another one
/// writes, whatever the busy timeout). Rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Connection& connection);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  void commit();

 private:
  Connection& connection_;
  bool open_ = true;
};

}  // namespace kiln::sqlite
