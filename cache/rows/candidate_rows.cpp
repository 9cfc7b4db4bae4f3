// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/candidate_rows.hpp"

#include "cache/schema/schema.hpp"

namespace kiln {
namespace {

std::optional<std::int64_t> first_integer(sqlite::Statement statement) {
  if (!statement.step()) return std::nullopt;
  return statement.integer(0);
}

}  // namespace

std::optional<std::int64_t> find_problem(const sqlite::Connection& connection,
                                         const Problem& problem) {
  return first_integer(
      std::move(connection.prepare("SELECT problem_id FROM problems WHERE kind = ? AND sizes = ?")
                    .bind(problem.kind_text(), problem.sizes_text())));
}

std::optional<std::int64_t> find_device(const sqlite::Connection& connection,
                                        const DeviceClass& device) {
  return first_integer(std::move(
      connection
          // There are few, and an index may have lost one.
          .prepare("SELECT device_id FROM devices NOT INDEXED WHERE name = ? AND arch = ? AND "
                   "sm_count = ? AND l2_bytes = ? AND mig_profile = ?")
          .bind(device.name, device.arch, device.sm_count, device.l2_bytes, device.mig_profile)));
}

std::int64_t intern_problem(const sqlite::Connection& connection, const Problem& problem) {
  if (const auto known = find_problem(connection, problem)) return *known;
  const std::string kind = problem.kind_text();
  const std::string sizes = problem.sizes_text();
  connection.prepare("INSERT INTO problems (operation, kind, sizes, flops) VALUES (?, ?, ?, ?)")
      .bind(problem.operation, kind, sizes, flops_of(kind, sizes))
      .run();
  return connection.last_row_id();
}

std::int64_t intern_device(const sqlite::Connection& connection, const DeviceClass& device) {
  if (const auto known = find_device(connection, device)) return *known;
  connection
      .prepare(
          "INSERT INTO devices (name, arch, sm_count, l2_bytes, mig_profile) "
          "VALUES (?, ?, ?, ?, ?)")
      .bind(device.name, device.arch, device.sm_count, device.l2_bytes, device.mig_profile)
      .run();
  return connection.last_row_id();
}

std::int64_t intern_template(const sqlite::Connection& connection, const std::string& name,
                             const std::string& digest) {
  const auto known = first_integer(std::move(
      connection.prepare("SELECT template_id FROM templates WHERE name = ? AND digest = ?")
          .bind(name, digest)));
  if (known) return *known;
  connection.prepare("INSERT INTO templates (name, digest) VALUES (?, ?)").bind(name, digest).run();
  return connection.last_row_id();
}

std::int64_t intern_environment(const sqlite::Connection& connection,
                                const Environment& environment) {
  const auto known = first_integer(
      std::move(connection
                    .prepare("SELECT environment_id FROM environments "
                             "WHERE driver = ? AND toolkit = ? AND policy = ?")
                    .bind(environment.driver, environment.toolkit, environment.policy)));
  if (known) return *known;
  connection.prepare("INSERT INTO environments (driver, toolkit, policy) VALUES (?, ?, ?)")
      .bind(environment.driver, environment.toolkit, environment.policy)
      .run();
  return connection.last_row_id();
}

DeviceClass read_device(const sqlite::Statement& row, int first_column) {
  DeviceClass device;
  device.name = row.text(first_column);
  device.arch = row.text(first_column + 1);
  device.sm_count = static_cast<int>(row.integer(first_column + 2));
  device.l2_bytes = row.integer(first_column + 3);
  device.mig_profile = row.text(first_column + 4);
  return device;
}

Environment read_environment(const sqlite::Statement& row, int first_column) {
  return {row.text(first_column), row.text(first_column + 1), row.text(first_column + 2)};
}

}  // namespace kiln
