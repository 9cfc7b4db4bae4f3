// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/trial_rows.hpp"

#include <fmt/format.h>

#include <charconv>

#include "cache/rows/candidate_rows.hpp"
#include "cache/rows/row_digest.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/schema/schema.hpp"

namespace kiln {
namespace {

/// Columns of a trial after those of its key, as stored and as read.
enum Column : int {
  kTrialId,
  kKind,
  kSizes,
  kDevice,
  kTemplate = kDevice + 5,
  kTemplateDigest,
  kConfig,
  kEnvironment,
  kProvenance = kEnvironment + 3,
  kOutcome,
  kMessage,
  kRegisters,
  kSpillStore,
  kSpillLoad,
  kStack,
  kSmemStatic,
  kSmemDynamic,
  kOccupancy,
  kVerified,
  kWorstRatio,
  kEvidence,
  kMedian,
  kSpread,
  kSamples,
  kClock,
  kPower,
  kTemperature,
  kEnergy,
  kEnergySpread,
  kInterleaved,
  kCode,
  kSharedFrom,
  kJudge,
  kChecked,
  kRenderedDigest,
  kCompileSeconds,
  kSession,
  kCreated,
  kDigest,
};

constexpr const char* kPayloadColumns =
    "provenance, outcome, message, registers, spill_store_bytes, spill_load_bytes, stack_bytes, "
    "smem_static_bytes, smem_dynamic_bytes, occupancy, verified, worst_ratio, evidence, median_ns, "
    "spread_ns, samples_ns, sm_clock_mhz, power_w, temperature_c, energy_j, energy_spread_j, "
    "interleaved, code_digest, "
    "shared_from, judge_digest, checked, rendered_digest, compile_seconds, session_id, "
    "created_unix_ms, "
    "digest";

/// Without energy, which schema 1 does not have, NULL stands in its place.
std::string joined_trials(bool with_energy) {
  std::string payload = kPayloadColumns;
  for (std::size_t at = payload.find(", "); at != std::string::npos; at = payload.find(", ", at)) {
    payload.replace(at, 2, ", t.");
    at += 4;
  }
  if (!with_energy) {
    constexpr std::string_view kEnergyColumns = "t.energy_j, t.energy_spread_j";
    payload.replace(payload.find(kEnergyColumns), kEnergyColumns.size(), "NULL, NULL");
  }
  // Left joins, so that a trial whose problem or device is gone shows as damaged instead of just
  // missing.
  return fmt::format(
      "SELECT t.trial_id, p.kind, p.sizes, {}, m.name, m.digest, t.config, {}, t.{} FROM trials t "
      "LEFT JOIN problems p USING (problem_id) LEFT JOIN devices d USING (device_id) "
      "LEFT JOIN templates m USING (template_id) LEFT JOIN environments e USING (environment_id)",
      kDeviceColumns, kEnvironmentColumns, payload);
}

int small(const sqlite::Statement& row, int column) {
  return static_cast<int>(row.integer(column));
}

std::optional<KernelResources> read_resources(const sqlite::Statement& row) {
  if (row.is_null(kRegisters)) return std::nullopt;
  KernelResources used;
  used.registers = small(row, kRegisters);
  used.spill_store_bytes = small(row, kSpillStore);
  used.spill_load_bytes = small(row, kSpillLoad);
  used.stack_bytes = small(row, kStack);
  used.smem_static_bytes = row.integer(kSmemStatic);
  used.smem_dynamic_bytes = row.integer(kSmemDynamic);
  used.occupancy = row.real(kOccupancy);
  return used;
}

std::optional<Verification> read_verification(const sqlite::Statement& row) {
  if (row.is_null(kVerified)) return std::nullopt;
  return Verification{row.integer(kVerified) == 1, row.real(kWorstRatio), row.text(kEvidence),
                      row.integer(kChecked) == 1};
}

std::optional<Timing> read_timing(const sqlite::Statement& row) {
  if (row.is_null(kMedian)) return std::nullopt;
  Timing timing;
  timing.samples_ns = parse_samples(row.text(kSamples));
  timing.median_ns = row.real(kMedian);
  timing.spread_ns = row.real(kSpread);
  timing.sm_clock_mhz = small(row, kClock);
  timing.power_w = row.real(kPower);
  timing.temperature_c = small(row, kTemperature);
  timing.interleaved = row.integer(kInterleaved) == 1;
  if (!row.is_null(kEnergy)) {
    timing.energy_j = row.real(kEnergy);
    timing.energy_spread_j = row.real(kEnergySpread);
  }
  return timing;
}

template <class Enum>
Enum require(std::optional<Enum> value, const char* what) {
  if (!value) throw Error(ErrorKind::usage, fmt::format("unknown {}", what));
  return *value;
}

/// Each member of an optional part, or NULL.
template <class Part, class Member>
std::optional<Member> part(const std::optional<Part>& whole, Member Part::*member) {
  if (!whole) return std::nullopt;
  return (*whole).*member;
}

std::optional<Trial> find_trial(const sqlite::Connection& connection, const std::string& id) {
  std::set<std::string> corrupt;
  sqlite::Statement rows = connection.prepare(select_trials(connection) + " WHERE t.trial_id = ?");
  rows.bind(id);
  return rows.step() ? TrialReader(corrupt).read(rows) : std::nullopt;
}

/// False when the id is taken.
bool try_insert(sqlite::Connection& connection, const Trial& trial) {
  static const std::string sql = fmt::format(
      "INSERT INTO trials (trial_id, problem_id, device_id, template_id, config, environment_id, "
      "{}) "
      "VALUES (?,?,?,?,?,?, ?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
      "ON CONFLICT (trial_id) DO NOTHING",
      kPayloadColumns);
  const std::int64_t problem = intern_problem(connection, trial.key.problem);
  const std::int64_t device = intern_device(connection, trial.key.device);
  const std::int64_t kernel_template =
      intern_template(connection, trial.key.template_name, trial.key.template_digest);
  const std::int64_t environment = intern_environment(connection, trial.environment);
  std::optional<std::string> samples;
  if (trial.timing) samples = samples_text(trial.timing->samples_ns);
  sqlite::Statement insert = connection.prepare(sql);
  insert.bind(trial.id, problem, device, kernel_template, trial.key.config.canonical(),
              environment);
  insert.bind(to_string(trial.provenance), to_string(trial.outcome), trial.message);
  insert.bind(part(trial.resources, &KernelResources::registers),
              part(trial.resources, &KernelResources::spill_store_bytes),
              part(trial.resources, &KernelResources::spill_load_bytes),
              part(trial.resources, &KernelResources::stack_bytes),
              part(trial.resources, &KernelResources::smem_static_bytes),
              part(trial.resources, &KernelResources::smem_dynamic_bytes),
              part(trial.resources, &KernelResources::occupancy));
  insert.bind(part(trial.verification, &Verification::passed),
              part(trial.verification, &Verification::worst_ratio),
              part(trial.verification, &Verification::evidence));
  insert.bind(part(trial.timing, &Timing::median_ns), part(trial.timing, &Timing::spread_ns),
              samples, part(trial.timing, &Timing::sm_clock_mhz),
              part(trial.timing, &Timing::power_w), part(trial.timing, &Timing::temperature_c));
  const bool has_energy = trial.timing && trial.timing->energy_j > 0.0;
  const std::optional<Timing> energy = has_energy ? trial.timing : std::nullopt;
  insert.bind(part(energy, &Timing::energy_j), part(energy, &Timing::energy_spread_j),
              trial.timing && trial.timing->interleaved);
  insert.bind(trial.code_digest, trial.shared_from, trial.judge_digest,
              trial.verification && trial.verification->checked);
  insert.bind(trial.rendered_digest, trial.compile_seconds, trial.session_id, trial.created_unix_ms,
              row_digest(trial));
  insert.run();
  if (connection.changes() == 0) return false;

  connection
      .prepare(
          "DELETE FROM attempts WHERE problem_id = ? AND device_id = ? AND template_id = ? "
          "AND config = ?")
      .bind(problem, device, kernel_template, trial.key.config.canonical())
      .run();
  return true;
}

}  // namespace

const std::string& select_trials(const sqlite::Connection& connection) {
  static const std::string first = joined_trials(false);
  static const std::string present = joined_trials(true);
  return has_energy(connection) ? present : first;
}

Trial TrialReader::decode(const sqlite::Statement& row) {
  Trial trial;
  trial.id = row.text(kTrialId);
  const std::string canonical = row.text(kKind) + " | " + row.text(kSizes);
  auto known = problems_.find(canonical);
  if (known == problems_.end()) {
    known = problems_.emplace(canonical, Problem::parse(canonical)).first;
  }
  trial.key.problem = known->second;
  trial.key.device = read_device(row, kDevice);
  trial.key.template_name = row.text(kTemplate);
  trial.key.template_digest = row.text(kTemplateDigest);
  trial.key.config = Config::parse(row.text(kConfig));
  trial.environment = read_environment(row, kEnvironment);
  trial.provenance = require(parse_provenance(row.text(kProvenance)), "provenance");
  trial.outcome = require(parse_outcome(row.text(kOutcome)), "outcome");
  trial.message = row.text(kMessage);
  trial.resources = read_resources(row);
  trial.verification = read_verification(row);
  trial.timing = read_timing(row);
  trial.code_digest = row.text(kCode);
  trial.shared_from = row.text(kSharedFrom);
  trial.judge_digest = row.text(kJudge);
  trial.rendered_digest = row.text(kRenderedDigest);
  trial.compile_seconds = row.real(kCompileSeconds);
  trial.session_id = row.text(kSession);
  trial.created_unix_ms = row.integer(kCreated);
  if (!is_date(trial.created_unix_ms)) throw Error(ErrorKind::usage, "impossible date");
  return trial;
}

std::optional<Trial> TrialReader::read(const sqlite::Statement& row) {
  try {
    Trial trial = decode(row);
    if (row_digest(trial) == row.text(kDigest)) return trial;
  } catch (const Error& error) {
    // A field that cannot be parsed is damage, like a digest mismatch.
    if (error.kind() != ErrorKind::usage) throw;
  }
  corrupt_.insert("trial " + row.text(kTrialId));
  return std::nullopt;
}

InsertResult insert_trial(sqlite::Connection& connection, const Trial& trial) {
  if (try_insert(connection, trial)) return InsertResult::written;
  if (const auto stored = find_trial(connection, trial.id)) {
    return *stored == trial ? InsertResult::present : InsertResult::conflict;
  }
  // The stored twin is damaged: this intact copy replaces it.
  connection.prepare("DELETE FROM trials WHERE trial_id = ?").bind(trial.id).run();
  try_insert(connection, trial);
  return InsertResult::repaired;
}

std::string samples_text(const std::vector<double>& samples) {
  return fmt::format("[{}]", fmt::join(samples, ","));
}

std::vector<double> parse_samples(const std::string& text) {
  const auto malformed = [] { return Error(ErrorKind::usage, "malformed samples"); };
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') throw malformed();
  std::vector<double> samples;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at != end) {
    double value = 0.0;
    const auto [next, status] = std::from_chars(at, end, value);
    if (status != std::errc{}) throw malformed();
    samples.push_back(value);
    at = next;
    if (at == end) break;
    if (*at != ',' || ++at == end) throw malformed();
  }
  return samples;
}

}  // namespace kiln
