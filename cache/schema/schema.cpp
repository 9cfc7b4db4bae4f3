// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/schema/schema.hpp"

#include <fmt/format.h>

#include "cache/schema/schema_text.hpp"
#include "templates/catalog.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"
#include "templates/printable.hpp"

namespace kiln {

/// The .sql files of this folder, compiled in.
[[nodiscard]] const FileSet& schema_files();

namespace {

const std::string& sql_of(std::string_view file) {
  return schema_files().find(file)->second;
}

void create_tables(sqlite::Connection& connection, int version) {
  connection.execute(sql_of("schema.sql"));
  connection.execute(sql_of("shortlists.sql"));
  connection.execute(sql_of("views.sql"));
  if (version >= 2) connection.execute(sql_of("schema_2.sql"));
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kTuningApplicationId, version));
}

SchemaText text_of_schema(int version) {
  sqlite::Connection empty = sqlite::Connection::in_memory();
  create_tables(empty, version);
  return SchemaText::of(empty);
}

/// What Kiln creates for a file of the same schema.
const SchemaText& own_schema(const sqlite::Connection& connection) {
  if (schema_version_of(connection) == 1) {
    static const SchemaText first = text_of_schema(1);
    return first;
  }
  static const SchemaText present = text_of_schema(kSchemaVersion);
  return present;
}

std::vector<std::string> foreign_parts(const sqlite::Connection& connection) {
  return SchemaText::of(connection).differences_from(own_schema(connection));
}

std::string some_of(const std::vector<std::string>& faults) {
  constexpr std::size_t kMost = 3;
  if (faults.size() <= kMost) return fmt::format("{}", fmt::join(faults, ", "));
  return fmt::format("{} and {} more", fmt::join(faults.begin(), faults.begin() + kMost, ", "),
                     faults.size() - kMost);
}

[[noreturn]] void refuse_schema(const std::string& path, const std::vector<std::string>& faults,
                                const std::string& rescue) {
  throw Error(
      ErrorKind::database,
      fmt::format(
          "database {} has an unexpected schema: {}. Next: {}undo the schema changes "
          "(`sqlite3 {} .schema` shows the current schema). You can also move the file away; Kiln "
          "then creates a new database.",
          path, some_of(faults), rescue, shell_word(path)));
}

/// Whether its trials and sessions can be read by columns that are Kiln's.
bool is_readable(const sqlite::Connection& connection) {
  return SchemaText::of(connection).stores_columns_of(own_schema(connection), kRowTables);
}

}  // namespace

std::optional<double> flops_of(const std::string& kind, const std::string& sizes) {
  try {
    const Problem problem = Problem::parse(kind + " | " + sizes);
    const Operation* operation = find_operation(problem.operation);
    if (operation == nullptr) return std::nullopt;
    return operation->flops(problem);
  } catch (const Error&) {
    return std::nullopt;  // a damaged row, or an operation with rules this version does not know
  }
}

void create_schema(sqlite::Connection& connection) {
  sqlite::Transaction transaction(connection);
  create_tables(connection, kSchemaVersion);
  transaction.commit();
}

int schema_version_of(const sqlite::Connection& connection) {
  return static_cast<int>(connection.integer("PRAGMA user_version"));
}

bool has_energy(const sqlite::Connection& connection) {
  return schema_version_of(connection) >= 2;
}

void upgrade_schema(sqlite::Connection& connection) {
  sqlite::Transaction transaction(connection);
  if (!has_energy(connection)) {
    connection.execute(sql_of("schema_2.sql"));
    connection.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  }
  transaction.commit();
}

sqlite::Connection empty_database() {
  sqlite::Connection empty = sqlite::Connection::in_memory();
  create_schema(empty);
  return empty;
}

void require_known_schema(const sqlite::Connection& connection) {
  // The first read: this is where SQLite notices a file that is none of its own.
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const int version = schema_version_of(connection);
  if (application == kUnreleasedApplicationId) {
    const std::string file = shell_word(connection.path());
    throw Error(
        ErrorKind::database,
        fmt::format("database {} is from a pre-release version of Kiln, and this version cannot "
                    "read the file. Next: run `kiln export --database --db {} -o trials.jsonl` "
                    "with the old version. Then run `kiln import trials.jsonl` with this version "
                    "and another --db. The file was not changed.",
                    connection.path(), file));
  }
  if (application != kTuningApplicationId || version < 1) {
    throw Error(ErrorKind::database,
                fmt::format("database {} belongs to another application (application id {:#x}, "
                            "Kiln's is {:#x}). Next: set --db or KILN_DB to another file.",
                            connection.path(), application, kTuningApplicationId));
  }
  if (version > kSchemaVersion) {
    throw Error(
        ErrorKind::database,
        fmt::format("database {} has schema {}, made by a newer Kiln; this version reads "
                    "schemas up to {}. Next: update Kiln, or set --db or KILN_DB to another "
                    "file. The file was not changed.",
                    connection.path(), version, kSchemaVersion));
  }
}

void require_own_schema(const sqlite::Connection& connection) {
  const std::vector<std::string> faults = foreign_parts(connection);
  if (faults.empty()) return;
  const bool readable = is_readable(connection);
  refuse_schema(
      connection.path(), faults,
      readable
          ? fmt::format("copy the intact rows to a new database with `kiln merge NEW.db {}`, or ",
                        shell_word(connection.path()))
          : "");
}

std::string foreign_schema(const sqlite::Connection& connection) {
  const std::vector<std::string> faults = foreign_parts(connection);
  if (!faults.empty() && !is_readable(connection)) {
    refuse_schema(connection.path(), faults, "");
  }
  return some_of(faults);
}

std::vector<std::string> altered_views(const sqlite::Connection& connection) {
  return SchemaText::of(connection).altered_views(own_schema(connection));
}

}  // namespace kiln
