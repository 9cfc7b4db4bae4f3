// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Attempts: candidates that are on a device now, or were when their run was killed.
#include <fmt/format.h>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {
namespace {

/// A candidate by the row numbers of what it refers to.
struct CandidateRow {
  std::int64_t problem;
  std::int64_t device;
  std::int64_t kernel_template;
  std::string config;
};

CandidateRow intern_candidate(const sqlite::Connection& connection, const CandidateKey& key) {
  return {intern_problem(connection, key.problem), intern_device(connection, key.device),
          intern_template(connection, key.template_name, key.template_digest),
          key.config.canonical()};
}

constexpr const char* kSameCandidate =
    "problem_id = ? AND device_id = ? AND template_id = ? AND config = ?";

void put_attempt(const sqlite::Connection& connection, const CandidateRow& row,
                 const CandidateKey& key, const std::string& session_id) {
  connection
      .prepare(
          "INSERT OR REPLACE INTO attempts "
          "(problem_id, device_id, template_id, config, session_id, digest) "
          "VALUES (?, ?, ?, ?, ?, ?)")
      .bind(row.problem, row.device, row.kernel_template, row.config, session_id,
            row_digest(key, session_id))
      .run();
}

/// Whether another session measures the candidate, or has since this one started.
bool is_of_another(const sqlite::Connection& connection, const CandidateRow& row,
                   std::int64_t environment, const SessionRecord& session,
                   const std::function<bool(const std::string&)>& is_running) {
  sqlite::Statement since = connection.prepare(
      fmt::format("SELECT 1 FROM trials WHERE {} AND environment_id = ? AND session_id <> ? AND "
                  "created_unix_ms >= ? LIMIT 1",
                  kSameCandidate));
  since.bind(row.problem, row.device, row.kernel_template, row.config, environment, session.id,
             session.started_unix_ms);
  if (since.step()) return true;
  sqlite::Statement now = connection.prepare(
      fmt::format("SELECT session_id FROM attempts JOIN sessions USING (session_id, problem_id, "
                  "device_id) WHERE {} AND environment_id = ? AND session_id <> ?",
                  kSameCandidate));
  now.bind(row.problem, row.device, row.kernel_template, row.config, environment, session.id);
  while (now.step()) {
    if (is_running(now.text(0))) return true;
  }
  return false;
}

}  // namespace

void TuningStore::record_attempt(const CandidateKey& key, const std::string& session_id,
                                 const std::optional<Trial>& along) {
  impl_->require_write();
  check_key(key);
  sqlite::Transaction transaction(impl_->connection);
  if (along) impl_->insert(*along);
  put_attempt(impl_->connection, intern_candidate(impl_->connection, key), key, session_id);
  transaction.commit();
}

bool TuningStore::claim_attempt(const CandidateKey& key, const SessionRecord& session,
                                const std::function<bool(const std::string&)>& is_running,
                                const std::optional<Trial>& along) {
  impl_->require_write();
  check_key(key);
  const sqlite::Connection& connection = impl_->connection;
  sqlite::Transaction transaction(impl_->connection);
  if (along) impl_->insert(*along);
  const CandidateRow row = intern_candidate(connection, key);
  const std::int64_t environment = intern_environment(connection, session.environment);
  const bool is_free = !is_of_another(connection, row, environment, session, is_running);
  if (is_free) put_attempt(connection, row, key, session.id);
  transaction.commit();
  return is_free;
}

void TuningStore::withdraw_attempt(const CandidateKey& key, const std::string& session_id) {
  impl_->require_write();
  check_key(key);
  sqlite::Transaction transaction(impl_->connection);
  const CandidateRow row = intern_candidate(impl_->connection, key);
  impl_->connection
      .prepare(fmt::format("DELETE FROM attempts WHERE {} AND session_id = ?", kSameCandidate))
      .bind(row.problem, row.device, row.kernel_template, row.config, session_id)
      .run();
  transaction.commit();
}

std::vector<CandidateKey> TuningStore::Impl::attempts(
    const WhereClause& where, const std::function<bool(const std::string&)>& of_session) {
  sqlite::Statement rows = connection.prepare(
      fmt::format("SELECT p.kind, p.sizes, {}, m.name, m.digest, a.config, a.session_id, a.digest "
                  "FROM attempts a LEFT JOIN problems p USING (problem_id) LEFT JOIN devices d "
                  "USING (device_id) LEFT JOIN templates m USING (template_id){}",
                  kDeviceColumns, where.text()));
  where.bind_to(rows);
  std::vector<CandidateKey> attempts;
  while (rows.step()) {
    try {
      CandidateKey key{Problem::parse(rows.text(0) + " | " + rows.text(1)), read_device(rows, 2),
                       rows.text(7), rows.text(8), Config::parse(rows.text(9))};
      if (row_digest(key, rows.text(10)) == rows.text(11)) {
        if (!of_session || of_session(rows.text(10))) attempts.push_back(std::move(key));
        continue;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
    }
    corrupt.insert("attempt " + rows.text(9));
  }
  return attempts;
}

std::vector<CandidateKey> TuningStore::open_attempts(
    const Problem& problem, const DeviceClass& device,
    const std::function<bool(const std::string&)>& of_session) const {
  const auto problem_id = find_problem(impl_->connection, problem);
  const auto device_id = find_device(impl_->connection, device);
  if (!problem_id || !device_id) return {};
  WhereClause where;
  where.add("a.problem_id = ? AND a.device_id = ?", {*problem_id, *device_id});
  return impl_->attempts(where, of_session);
}

}  // namespace kiln
