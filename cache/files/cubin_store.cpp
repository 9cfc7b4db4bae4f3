// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/cubin_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <utility>

#include "cache/files/file_guard.hpp"
#include "cache/files/set_aside.hpp"
#include "cache/schema/schema_text.hpp"
#include "cache/store/sqlite.hpp"
#include "templates/digest.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using sqlite::Cause;
using sqlite::Connection;

constexpr std::int64_t kApplicationId = 0x4b494c43;  // "KILC"
constexpr int kVersion = 1;
/// Compiling again is cheaper than a long wait.
constexpr int kPatienceMs = 2'000;
/// How many damaged files one process replaces.
constexpr int kMostReplacements = 3;
/// Processor time for one kernel: pages of a hostile file can refer to each other endlessly.
constexpr double kEntrySeconds = 2.0;

constexpr const char* kTables = R"sql(
PRAGMA auto_vacuum = FULL;
CREATE TABLE cubins (
  entry_id        INTEGER PRIMARY KEY,
  key             TEXT NOT NULL UNIQUE,  -- canonical text of everything that decides the bytes
  cubin           BLOB NOT NULL,
  bytes           INTEGER NOT NULL,
  lowered_names   TEXT NOT NULL,         -- one a line
  registers       INTEGER NOT NULL,
  spill_store_bytes  INTEGER NOT NULL,
  spill_load_bytes   INTEGER NOT NULL,
  stack_bytes        INTEGER NOT NULL,
  smem_static_bytes  INTEGER NOT NULL,
  smem_dynamic_bytes INTEGER NOT NULL,
  occupancy       REAL NOT NULL,
  digest          TEXT NOT NULL,
  last_used       INTEGER NOT NULL       -- a counter, not a time: clocks may jump
) STRICT;
CREATE INDEX cubins_by_use ON cubins (last_used, bytes);
)sql";

void make_empty(Connection& fresh) {
  fresh.execute(kTables);
  fresh.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                            kVersion));
}

Connection empty_store() {
  Connection empty = Connection::in_memory();
  make_empty(empty);
  return empty;
}

/// A trigger, or a column that is computed, would decide what is found and how long it takes.
void require_cubin_schema(const Connection& connection) {
  const sqlite::WorkLimit limit(connection, kEntrySeconds);
  static const SchemaText own = SchemaText::of(empty_store());
  const std::vector<std::string> faults = SchemaText::of(connection).differences_from(own);
  if (faults.empty()) return;
  throw sqlite::DatabaseError(
      Cause::damaged, fmt::format("{} has an unexpected schema: {}. Next: move the file away.",
                                  connection.path(), faults.front()));
}

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  if (text.empty()) return lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string entry_digest(const std::string& key, std::span<const std::byte> cubin,
                         const std::string& names, const KernelResources& used) {
  return DigestBuilder()
      .add(key)
      .add({reinterpret_cast<const char*>(cubin.data()), cubin.size()})
      .add(names)
      .add(fmt::format("{} {} {} {} {} {} {:a}", used.registers, used.spill_store_bytes,
                       used.spill_load_bytes, used.stack_bytes, used.smem_static_bytes,
                       used.smem_dynamic_bytes, used.occupancy))
      .hex();
}

KernelResources read_resources(const sqlite::Statement& row, int first) {
  KernelResources used;
  used.registers = static_cast<int>(row.integer(first));
  used.spill_store_bytes = static_cast<int>(row.integer(first + 1));
  used.spill_load_bytes = static_cast<int>(row.integer(first + 2));
  used.stack_bytes = static_cast<int>(row.integer(first + 3));
  used.smem_static_bytes = row.integer(first + 4);
  used.smem_dynamic_bytes = row.integer(first + 5);
  used.occupancy = row.real(first + 6);
  return used;
}

}  // namespace

std::string CubinKey::canonical() const {
  std::string text = fmt::format("{} | {} | {} | {}", rendered_digest, arch, compiler, options);
  if (!headers.empty()) text += " | " + headers;
  return text;
}

/// Everything under one mutex. `connection_` is empty when the store keeps nothing.
class CubinStore::Impl {
 public:
  Impl(std::string path, std::int64_t limit_bytes, Warn warn)
      : path_(std::move(path)), limit_bytes_(limit_bytes), warn_(std::move(warn)) {
    given_up_ = path_.empty();
    guarded([] {});
  }

  std::optional<CubinRecord> get(const CubinKey& key) {
    std::optional<CubinRecord> record;
    guarded([&] {
      const sqlite::WorkLimit limit(*connection_, kEntrySeconds);
      record = find(key.canonical());
    });
    return record;
  }

  void put(const CubinKey& key, const CubinRecord& record) {
    if (static_cast<std::int64_t>(record.cubin.size()) > limit_bytes_) return;
    guarded([&] {
      const sqlite::WorkLimit limit(*connection_, kEntrySeconds);
      add(key.canonical(), record);
    });
  }

  std::int64_t query(const char* sql) {
    std::int64_t value = 0;
    guarded([&] {
      const sqlite::WorkLimit limit(*connection_, reading_seconds(*connection_));
      value = connection_->integer(sql);
    });
    return value;
  }

  std::int64_t shrink(std::int64_t limit_bytes, bool dry_run) {
    std::int64_t removed = 0;
    guarded([&] {
      const sqlite::WorkLimit limit(*connection_, reading_seconds(*connection_));
      sqlite::Transaction transaction(*connection_);
      removed = evict(limit_bytes);
      if (!dry_run) transaction.commit();  // or else all of it is undone
    });
    return removed;
  }

  [[nodiscard]] bool usable() const {
    const std::lock_guard lock(mutex_);
    return connection_.has_value();
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  /// Runs one step of work on the open store. Whatever fails becomes a miss.
  template <class Work>
  void guarded(Work&& work) noexcept {
    const std::lock_guard lock(mutex_);
    if (given_up_) return;
    try {
      if (!connection_) open();
      work();
    } catch (const sqlite::DatabaseError& error) {
      if (error.cause() == Cause::busy) {
        // Only this time; the next call may find it free.
        if (!connection_) warn(explained(error));
        return;
      }
      if (error.cause() == Cause::moved) {
        connection_.reset();  // it was moved: the next call opens a new one
      } else if (error.cause() == Cause::damaged || error.cause() == Cause::not_a_database) {
        replace();
      } else {
        give_up(explained(error));
      }
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  /// What went wrong, and what helps here: nothing in this file has to be saved.
  [[nodiscard]] std::string explained(const sqlite::DatabaseError& error) const {
    const auto& use = file_guard::kCubinStore;
    // Errors of SQLite's end with what helps a tuning database.
    std::string fault = error.what();
    fault.resize(std::min(fault.find(" Next: "), fault.size()));
    std::string next = fmt::format("run `rm {}`; Kiln then makes a new store and compiles again",
                                   shell_word(path_));
    if (error.cause() == Cause::busy) next = "wait until that process ends";
    if (error.cause() == Cause::full)
      next = "free some space (`df` shows the free space of each disk)";
    if (error.cause() == Cause::forbidden) {
      next =
          "check the owner and the permissions of the file and its folder (the file needs mode "
          "0600, the folder 0700)";
    }
    return fmt::format("{} Next: {}, or name another file with {}.", fault, next, use.setting);
  }

  void give_up(const std::string& text) noexcept {
    connection_.reset();
    given_up_ = true;
    warn(text);
  }

  void warn(const std::string& text) noexcept {
    say("Kiln does not store compiled kernels: " + text);
  }

  void say(const std::string& text) noexcept {
    if (std::exchange(warned_, true) || !warn_) return;
    try {
      warn_(text);
    } catch (...) {
      // A throwing listener must not turn a cache miss into a failure.
    }
  }

  void open() {
    // Only the constructor's attempt can change it: path() is read without the mutex.
    if (std::string full = file_guard::resolve(path_, true, file_guard::kCubinStore); full != path_)
      path_ = std::move(full);
    if (!file_guard::exists_and_is_safe(path_, file_guard::kCubinStore)) {
      file_guard::create_complete(
          path_,
          [](const std::string& temporary) {
            Connection fresh(temporary, Connection::Access::create, kPatienceMs);
            make_empty(fresh);
          },
          file_guard::kCubinStore);
    }
    Connection connection(path_, Connection::Access::write, kPatienceMs);
    if (connection.integer("PRAGMA application_id") != kApplicationId ||
        connection.integer("PRAGMA user_version") != kVersion) {
      throw Error(ErrorKind::database,
                  fmt::format("{} does not contain compiled kernels of this version of Kiln. Next: "
                              "move the file away, or name another file with {}.",
                              path_, file_guard::kCubinStore.setting));
    }
    require_cubin_schema(connection);
    // A lost entry is compiled again and a torn one is found by its digest: no need to wait for
    // the disk.
    connection.execute("PRAGMA synchronous = OFF");
    connection.ignore_programs_in_schema();
    connection_ = std::move(connection);
    given_up_ = false;
  }

  /// Starts a new store in place of a damaged or altered one, which is set aside.
  void replace() noexcept {
    connection_.reset();
    try {
      // A disk that damages every file, or a fault that no check finds: don't repeat this for ever.
      if (++replacements_ > kMostReplacements) {
        return give_up(fmt::format(
            "{} could not be read in {} attempts. Next: check the disk, then run `rm {}`; "
            "Kiln then makes a new store and compiles again.",
            path_, replacements_, shell_word(path_)));
      }
      if (!file_guard::exists_and_is_safe(path_, file_guard::kCubinStore)) return;
      const auto aside = set_damaged_aside(path_, kApplicationId, empty_store());
      open();
      if (aside) {
        say(
            fmt::format("{} was damaged or altered, so Kiln stores compiled kernels in a new file. "
                        "Next: `rm {}` frees the space of the old file.",
                        path_, shell_word(*aside)));
      }
    } catch (const sqlite::DatabaseError& error) {
      if (error.cause() == Cause::busy) return warn(explained(error));  // the next call tries again
      give_up(explained(error));
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }

  std::optional<CubinRecord> find(const std::string& key) {
    std::int64_t entry = 0;
    std::int64_t last_used = 0;
    CubinRecord record;
    bool sound = false;
    {
      sqlite::Statement rows = connection_->prepare(
          "SELECT entry_id, last_used, cubin, lowered_names, digest, registers, spill_store_bytes, "
          "spill_load_bytes, stack_bytes, smem_static_bytes, smem_dynamic_bytes, occupancy "
          "FROM cubins WHERE key = ?");
      rows.bind(key);
      if (!rows.step()) return std::nullopt;
      entry = rows.integer(0);
      last_used = rows.integer(1);
      const auto cubin = rows.blob(2);
      const std::string names = rows.text(3);
      record.resources = read_resources(rows, 5);
      sound = entry_digest(key, cubin, names, record.resources) == rows.text(4);
      record.cubin.assign(cubin.begin(), cubin.end());
      record.lowered_names = split_lines(names);
    }
    if (!sound) {
      connection_->prepare("DELETE FROM cubins WHERE entry_id = ?").bind(entry).run();
      return std::nullopt;
    }
    touch(entry, last_used);
    return record;
  }

  /// Marks an entry as the most recently used, which the most recent one is already.
  void touch(std::int64_t entry, std::int64_t last_used) {
    if (connection_->integer("SELECT max(last_used) FROM cubins") == last_used) return;
    try {
      connection_
          ->prepare(
              "UPDATE cubins SET last_used = (SELECT max(last_used) FROM cubins) + 1 "
              "WHERE entry_id = ?")
          .bind(entry)
          .run();
    } catch (const sqlite::DatabaseError&) {
      // Read-only or full: the kernel was found nevertheless.
    }
  }

  void add(const std::string& key, const CubinRecord& record) {
    const std::string names = joined(record.lowered_names);
    const KernelResources& used = record.resources;
    const std::span<const std::byte> cubin(record.cubin);
    sqlite::Transaction transaction(*connection_);
    connection_
        ->prepare(
            "INSERT OR REPLACE INTO cubins (key, cubin, bytes, lowered_names, registers, "
            "spill_store_bytes, spill_load_bytes, stack_bytes, smem_static_bytes, "
            "smem_dynamic_bytes, occupancy, digest, last_used) VALUES (?, ?, ?, ?, ?, ?, ?, "
            "?, ?, ?, ?, ?, (SELECT coalesce(max(last_used), 0) + 1 FROM cubins))")
        .bind(key, cubin, static_cast<std::int64_t>(cubin.size()), names, used.registers,
              used.spill_store_bytes, used.spill_load_bytes, used.stack_bytes,
              used.smem_static_bytes, used.smem_dynamic_bytes, used.occupancy,
              entry_digest(key, cubin, names, used))
        .run();
    evict(limit_bytes_);
    transaction.commit();
  }

  std::int64_t evict(std::int64_t limit_bytes) {
    std::int64_t total = connection_->integer("SELECT coalesce(sum(bytes), 0) FROM cubins");
    std::int64_t removed = 0;
    while (total > limit_bytes) {
      sqlite::Statement oldest =
          connection_->prepare("SELECT entry_id, bytes FROM cubins ORDER BY last_used LIMIT 1");
      if (!oldest.step()) break;
      const std::int64_t entry = oldest.integer(0);
      total -= oldest.integer(1);
      connection_->prepare("DELETE FROM cubins WHERE entry_id = ?").bind(entry).run();
      ++removed;
    }
    return removed;
  }

  mutable std::mutex mutex_;
  std::string path_;
  std::int64_t limit_bytes_;
  Warn warn_;
  std::optional<Connection> connection_;
  int replacements_ = 0;
  bool given_up_ = false;
  bool warned_ = false;
};

CubinStore::CubinStore(std::string path, std::int64_t limit_bytes, Warn warn)
    : impl_(std::make_unique<Impl>(std::move(path), limit_bytes, std::move(warn))) {}
CubinStore::CubinStore() : CubinStore("", 0, {}) {}
CubinStore::CubinStore(CubinStore&&) noexcept = default;
CubinStore& CubinStore::operator=(CubinStore&&) noexcept = default;
CubinStore::~CubinStore() = default;

std::optional<CubinRecord> CubinStore::get(const CubinKey& key) {
  return impl_->get(key);
}
void CubinStore::put(const CubinKey& key, const CubinRecord& record) {
  impl_->put(key, record);
}
std::int64_t CubinStore::total_bytes() {
  return impl_->query("SELECT coalesce(sum(bytes), 0) FROM cubins");
}
std::int64_t CubinStore::entries() {
  return impl_->query("SELECT count(*) FROM cubins");
}
std::int64_t CubinStore::shrink(std::int64_t limit_bytes, bool dry_run) {
  return impl_->shrink(limit_bytes, dry_run);
}
bool CubinStore::usable() const {
  return impl_->usable();
}
const std::string& CubinStore::path() const {
  return impl_->path();
}

}  // namespace kiln
