// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/schema.hpp"

#include <fmt/format.h>

#include "templates/catalog.hpp"
#include "templates/operation.hpp"
#include "templates/problem.hpp"

namespace kiln {

/// The .sql files of this folder, compiled in.
[[nodiscard]] const FileSet& schema_files();

namespace {

const std::string& sql_of(std::string_view file) {
  return schema_files().find(file)->second;
}

int version_of(const sqlite::Connection& connection) {
  return static_cast<int>(connection.integer("PRAGMA user_version"));
}

void fill_flops(sqlite::Connection& connection) {
  sqlite::Statement rows = connection.prepare("SELECT problem_id, kind, sizes FROM problems");
  sqlite::Statement update =
      connection.prepare("UPDATE problems SET flops = ? WHERE problem_id = ?");
  while (rows.step()) {
    update.bind(flops_of(rows.text(1), rows.text(2)), rows.integer(0)).run();
  }
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
  connection.execute(sql_of("schema.sql"));
  connection.execute(sql_of("shortlists.sql"));
  connection.execute(sql_of("views.sql"));
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}",
                                 kTuningApplicationId, kSchemaVersion));
  transaction.commit();
}

int require_known_schema(const sqlite::Connection& connection) {
  // The first read: this is where SQLite notices a file that is none of its own.
  const std::int64_t application = connection.integer("PRAGMA application_id");
  const int version = version_of(connection);
  if (application != kTuningApplicationId || version < 1) {
    throw Error(ErrorKind::database,
                fmt::format("database {} belongs to another application (application id {:#x}, "
                            "Kiln's is {:#x}). Next: name another file with --db or KILN_DB.",
                            connection.path(), application, kTuningApplicationId));
  }
  if (version > kSchemaVersion) {
    throw Error(ErrorKind::database,
                fmt::format("database {} has schema {}, made by a newer Kiln; this one knows up to "
                            "schema {}. Next: update Kiln, or name another file with --db or "
                            "KILN_DB. The file is left as it is.",
                            connection.path(), version, kSchemaVersion));
  }
  return version;
}

void migrate(sqlite::Connection& connection) {
  sqlite::Transaction transaction(connection);
  // Asked again under the lock: two processes may have opened the same old file.
  const int version = version_of(connection);
  if (version == kSchemaVersion) return;
  if (version < 2) {
    connection.execute(sql_of("migrate_1_to_2.sql"));
    fill_flops(connection);
  }
  if (version < 3) connection.execute(sql_of("migrate_2_to_3.sql"));
  if (version < 5) {
    connection.execute(sql_of("migrate_4_to_5.sql"));
    connection.execute(sql_of("shortlists.sql"));
  }
  connection.execute(sql_of("views.sql"));
  connection.execute(fmt::format("PRAGMA user_version = {}", kSchemaVersion));
  transaction.commit();
}

}  // namespace kiln
