// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sessions.
#include <fmt/format.h>

#include <tuple>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/rows/where_clause.hpp"
#include "cache/schema/schema.hpp"
#include "cache/store/store_impl.hpp"

namespace kiln {
namespace {

/// A query for many reads the table itself ("NOT INDEXED"): an index may have lost some.
std::string select_sessions(const sqlite::Connection& connection, const char* way) {
  return fmt::format(
      "SELECT s.session_id, p.kind, p.sizes, {}, {}, s.strategy, s.budget, s.space_size, "
      "s.evaluated, s.state, s.started_unix_ms, s.ended_unix_ms, s.digest, s.problem_id, "
      "s.device_id, {} FROM sessions s {} LEFT JOIN problems p USING (problem_id) "
      "LEFT JOIN devices d USING (device_id) LEFT JOIN environments e USING (environment_id)",
      kDeviceColumns, kEnvironmentColumns, has_energy(connection) ? "s.objective" : "'time'", way);
}

SessionRecord decode(const sqlite::Statement& row) {
  SessionRecord session;
  session.id = row.text(0);
  session.problem = Problem::parse(row.text(1) + " | " + row.text(2));
  session.device = read_device(row, 3);
  session.environment = read_environment(row, 8);
  session.strategy = row.text(11);
  session.budget = row.text(12);
  session.space_size = static_cast<std::uint64_t>(row.integer(13));
  session.evaluated = static_cast<std::uint64_t>(row.integer(14));
  session.state = row.text(15);
  session.started_unix_ms = row.integer(16);
  session.ended_unix_ms = row.integer(17);
  session.objective = row.text(21);
  if (!is_date(session.started_unix_ms) || !is_date(session.ended_unix_ms)) {
    throw Error(ErrorKind::usage, "impossible date");
  }
  return session;
}

std::optional<SessionRecord> read_session(const sqlite::Statement& row,
                                          std::set<std::string>& corrupt) {
  try {
    SessionRecord session = decode(row);
    if (row_digest(session) == row.text(18)) return session;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
  }
  corrupt.insert("session " + row.text(0));
  return std::nullopt;
}

void put_session(const sqlite::Connection& connection, const SessionRecord& session) {
  connection
      .prepare(
          "INSERT INTO sessions (session_id, problem_id, device_id, environment_id, strategy, "
          "budget, space_size, evaluated, state, started_unix_ms, ended_unix_ms, digest, "
          "objective) "
          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
          "ON CONFLICT (session_id) DO UPDATE SET problem_id = excluded.problem_id, "
          "device_id = excluded.device_id, environment_id = excluded.environment_id, "
          "strategy = excluded.strategy, budget = excluded.budget, "
          "space_size = excluded.space_size, evaluated = excluded.evaluated, "
          "state = excluded.state, started_unix_ms = excluded.started_unix_ms, "
          "ended_unix_ms = excluded.ended_unix_ms, digest = excluded.digest, "
          "objective = excluded.objective")
      .bind(session.id, intern_problem(connection, session.problem),
            intern_device(connection, session.device),
            intern_environment(connection, session.environment), session.strategy, session.budget,
            static_cast<std::int64_t>(session.space_size),
            static_cast<std::int64_t>(session.evaluated), session.state, session.started_unix_ms,
            session.ended_unix_ms, row_digest(session), session.objective)
      .run();
}

std::optional<SessionRecord> find_session(const sqlite::Connection& connection,
                                          const std::string& id, std::set<std::string>& corrupt) {
  sqlite::Statement rows =
      connection.prepare(select_sessions(connection, "") + " WHERE s.session_id = ?");
  rows.bind(id);
  return rows.step() ? read_session(rows, corrupt) : std::nullopt;
}

/// Which of two states of one session is the later: an order, so that merging commutes.
bool supersedes(const SessionRecord& left, const SessionRecord& right) {
  const auto progress = [](const SessionRecord& s) {
    return std::make_tuple(s.ended_unix_ms != 0, s.evaluated, s.ended_unix_ms, row_digest(s));
  };
  return progress(left) > progress(right);
}

}  // namespace

void TuningStore::begin_session(const SessionRecord& session) {
  impl_->require_write();
  const SessionRecord row = checked(session);
  sqlite::Transaction transaction(impl_->connection);
  put_session(impl_->connection, row);
  transaction.commit();
}

void TuningStore::end_session(const std::string& id, const std::string& state,
                              std::uint64_t evaluated) {
  impl_->require_write();
  sqlite::Transaction transaction(impl_->connection);
  auto session = find_session(impl_->connection, id, impl_->corrupt);
  if (!session) {
    throw Error(ErrorKind::usage, fmt::format("database {} has no session {}", impl_->path, id));
  }
  session->state = state;
  session->evaluated = evaluated;
  session->ended_unix_ms = unix_ms_now();
  put_session(impl_->connection, checked(*session));
  transaction.commit();
}

std::map<Pair, SessionRecord> TuningStore::Impl::last_sessions(
    std::optional<std::int64_t> problem_id) {
  // The table may have lost some; its index knows how many there were.
  if (connection.integer("SELECT count(*) FROM sessions NOT INDEXED") !=
      connection.integer("SELECT count(*) FROM sessions INDEXED BY sqlite_autoindex_sessions_1")) {
    corrupt.insert("index of sessions");
  }
  sqlite::Statement rows = connection.prepare(select_sessions(connection, "NOT INDEXED") +
                                              (problem_id ? " WHERE s.problem_id = ?" : ""));
  if (problem_id) rows.bind(*problem_id);
  std::map<Pair, SessionRecord> newest;
  while (rows.step()) {
    const Pair pair{rows.integer(19), rows.integer(20)};
    const auto known = newest.find(pair);
    if (known != newest.end() &&
        std::make_pair(rows.integer(16), rows.text(0)) <
            std::make_pair(known->second.started_unix_ms, known->second.id)) {
      continue;
    }
    if (auto session = read_session(rows, corrupt)) {
      newest.insert_or_assign(pair, std::move(*session));
    }
  }
  return newest;
}

std::vector<SessionRecord> TuningStore::sessions(const TrialFilter& filter) const {
  const sqlite::WorkLimit limit(impl_->connection, reading_seconds(impl_->connection));
  WhereClause where;
  if (filter.problem) {
    where.add("p.kind = ? AND p.sizes = ?",
              {filter.problem->kind_text(), filter.problem->sizes_text()});
  }
  if (!filter.operation.empty()) where.add("p.operation = ?", {filter.operation});
  if (!filter.kind_text.empty()) where.add("p.kind = ?", {filter.kind_text});
  if (!filter.session_id.empty()) where.add("s.session_id = ?", {filter.session_id});
  sqlite::Statement rows =
      impl_->connection.prepare(select_sessions(impl_->connection, "NOT INDEXED") + where.text() +
                                " ORDER BY s.started_unix_ms, s.session_id");
  where.bind_to(rows);
  std::vector<SessionRecord> sessions;
  while (rows.step()) {
    auto session = read_session(rows, impl_->corrupt);
    if (!session || (filter.problem && session->problem != *filter.problem) ||
        (filter.device && session->device != *filter.device)) {
      continue;
    }
    sessions.push_back(std::move(*session));
  }
  if (filter.limit > 0 && sessions.size() > static_cast<std::size_t>(filter.limit)) {
    sessions.erase(sessions.begin(), sessions.end() - filter.limit);
  }
  return sessions;
}

RecordCount TuningStore::adopt_sessions(const std::vector<SessionRecord>& sessions) {
  impl_->require_write();
  RecordCount count;
  sqlite::Transaction transaction(impl_->connection);
  for (const SessionRecord& session : sessions) {
    const SessionRecord row = checked(session);
    const auto known = find_session(impl_->connection, row.id, impl_->corrupt);
    if (known && !supersedes(row, *known)) {
      ++count.present;
      continue;
    }
    put_session(impl_->connection, row);
    ++count.written;
  }
  transaction.commit();
  return count;
}

}  // namespace kiln
