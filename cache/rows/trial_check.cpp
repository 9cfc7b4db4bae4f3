// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/trial_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxTextBytes = 64 << 10;
constexpr std::size_t kMaxKeyBytes = 4 << 10;
/// All names that a template's configuration may have, with their values, and more.
constexpr std::size_t kMaxConfigBytes = 16 << 10;
constexpr std::size_t kMaxSamples = 100000;

[[noreturn]] void refuse(std::string_view field, std::string_view fault) {
  throw Error(ErrorKind::usage, fmt::format("trial field '{}' {}", field, fault));
}

/// Length of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates and values beyond Unicode show in the second byte.
  const unsigned second = byte(1);
  if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
      (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return length;
}

/// Compiler logs may contain any bytes; people and JSON want text.
std::string clean_text(const std::string& text) {
  std::string clean;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t length = utf8_length(rest);
    if (clean.size() + std::max<std::size_t>(length, 1) > kMaxTextBytes) break;
    clean += length == 0 ? "?" : rest.substr(0, length);
    rest.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

void check_name(std::string_view field, const std::string& text, bool may_be_empty,
                std::size_t most_bytes = kMaxKeyBytes) {
  if (text.empty() && !may_be_empty) refuse(field, "is empty");
  if (text.size() > most_bytes) refuse(field, "is too long");
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    if (length == 0 || static_cast<unsigned char>(rest[0]) < 0x20) {
      refuse(field, "contains unprintable characters");
    }
    rest.remove_prefix(length);
  }
}

double checked_number(std::string_view field, double value) {
  if (!std::isfinite(value) || value < 0.0) {
    refuse(field, fmt::format("is {}, but must be 0 or more", value));
  }
  return value + 0.0;  // SQLite stores minus zero as zero; the digest must not differ
}

void check_count(std::string_view field, std::int64_t value) {
  if (value < 0) refuse(field, fmt::format("is negative ({})", value));
}

void check_date(std::string_view field, std::int64_t unix_ms) {
  if (!is_date(unix_ms))
    refuse(field, fmt::format("is {}, but must be a date from 1970 to 2099", unix_ms));
}

/// Declarations have no other names, and whatever shows a row prints them.
void check_identifier(const std::string& name) {
  if (is_identifier(name) && name.size() <= kMostNameCharacters) return;
  refuse("problem",
         fmt::format("contains the name \"{}\"; a name can have only letters, digits and "
                     "underscores, and at most {} characters",
                     printable(name.substr(0, kMostNameCharacters)), kMostNameCharacters));
}

void check_problem(const Problem& problem) {
  check_identifier(problem.operation);
  for (const NamedValue& size : problem.sizes) check_identifier(size.name);
  for (const NamedType& type : problem.types) check_identifier(type.slot);
  for (const NamedValue& trait : problem.traits) check_identifier(trait.name);
  check_name("problem epilogue", problem.epilogue, true);
  bool round_trip = false;
  try {
    round_trip = Problem::parse(problem.canonical()) == problem;
  } catch (const Error& error) {
    refuse("problem", error.what());
  }
  if (!round_trip) {
    refuse(
        "problem",
        fmt::format(
            "cannot be stored as \"{}\", because Kiln would read this text as a different problem",
            printable(problem.canonical())));
  }
  for (const NamedValue& size : problem.sizes) {
    if (size.value < 1) refuse("problem", fmt::format("has {}={}", size.name, size.value));
  }
}

void check_device(const DeviceClass& device) {
  check_name("device", device.name, false);
  check_name("device arch", device.arch, false);
  check_name("device mig_profile", device.mig_profile, true);
  check_count("device sm_count", device.sm_count);
  check_count("device l2_bytes", device.l2_bytes);
}

void check_environment(const Environment& environment) {
  check_name("driver", environment.driver, true);
  check_name("toolkit", environment.toolkit, true);
  check_name("policy", environment.policy, true);
}

void check_resources(KernelResources& used) {
  check_count("registers", used.registers);
  check_count("spill_store_bytes", used.spill_store_bytes);
  check_count("spill_load_bytes", used.spill_load_bytes);
  check_count("stack_bytes", used.stack_bytes);
  check_count("smem_static_bytes", used.smem_static_bytes);
  check_count("smem_dynamic_bytes", used.smem_dynamic_bytes);
  used.occupancy = checked_number("occupancy", used.occupancy);
}

void check_digests(const Trial& trial) {
  if (!trial.code_digest.empty() && !is_id(trial.code_digest)) {
    refuse("code_digest", "is not 32 hexadecimal digits");
  }
  if (!trial.judge_digest.empty() && !is_id(trial.judge_digest)) {
    refuse("judge_digest", "is not 32 hexadecimal digits");
  }
  if (trial.shared_from.empty()) return;
  if (!is_id(trial.shared_from)) refuse("shared_from", "is not a trial id (32 hexadecimal digits)");
  if (trial.shared_from == trial.id)
    refuse("shared_from", "names the trial itself, but must name another trial");
  if (trial.code_digest.empty())
    refuse("shared_from", "is set, but 'code_digest' is empty; set 'code_digest', too");
}

/// Kiln has neither compiled nor run it, so it must not look as if it had.
void check_imported(const Trial& trial) {
  if (trial.provenance != Provenance::imported) return;
  if (trial.verification || trial.resources) {
    refuse("provenance", "is 'imported', but the trial has a verification or resources of Kiln");
  }
  if (!trial.code_digest.empty() || !trial.judge_digest.empty()) {
    refuse("provenance", "is 'imported', but the trial has a code_digest or judge_digest");
  }
}

void check_timing(Timing& timing) {
  timing.median_ns = checked_number("median_ns", timing.median_ns);
  timing.spread_ns = checked_number("spread_ns", timing.spread_ns);
  timing.power_w = checked_number("power_w", timing.power_w);
  timing.energy_j = checked_number("energy_j", timing.energy_j);
  timing.energy_spread_j = checked_number("energy_spread_j", timing.energy_spread_j);
  if (timing.energy_j == 0.0 && timing.energy_spread_j != 0.0) {
    refuse("energy_spread_j", "is set, but 'energy_j' is 0; set 'energy_j', too");
  }
  check_count("sm_clock_mhz", timing.sm_clock_mhz);
  if (timing.samples_ns.size() > kMaxSamples)
    refuse("samples_ns", fmt::format("has more than {} entries", kMaxSamples));
  for (double& sample : timing.samples_ns) sample = checked_number("samples_ns", sample);
}

}  // namespace

bool is_id(const std::string& text) {
  return text.size() == 32 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::int64_t unix_ms_now() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             system_clock::now().time_since_epoch())
      .count();
}

void check_key(const CandidateKey& key) {
  check_problem(key.problem);
  check_device(key.device);
  check_name("template", key.template_name, false);
  check_name("template_digest", key.template_digest, true);
  const std::string config = key.config.canonical();
  check_name("config", config, true, kMaxConfigBytes);
  if (!config.empty() && Config::parse(config) != key.config) {
    refuse("config", fmt::format("cannot be stored as \"{}\", because Kiln would read this text as "
                                 "a different configuration",
                                 config));
  }
}

Trial checked(Trial trial) {
  if (trial.id.empty()) trial.id = random_id();
  if (!is_id(trial.id)) refuse("id", "is not 32 hexadecimal digits");
  check_key(trial.key);
  check_environment(trial.environment);
  check_name("rendered_digest", trial.rendered_digest, true);
  check_name("session_id", trial.session_id, true);
  check_digests(trial);
  check_imported(trial);
  trial.message = clean_text(trial.message);
  if (trial.resources) check_resources(*trial.resources);
  if (trial.verification) {
    double& ratio = trial.verification->worst_ratio;
    if (std::isnan(ratio)) ratio = std::numeric_limits<double>::infinity();
    if (ratio < 0.0) refuse("worst_ratio", fmt::format("is {}", ratio));
    ratio += 0.0;
    trial.verification->evidence = clean_text(trial.verification->evidence);
  }
  if (trial.timing) check_timing(*trial.timing);
  trial.compile_seconds = checked_number("compile_seconds", trial.compile_seconds);
  if (trial.created_unix_ms == 0) trial.created_unix_ms = next_unix_ms();
  check_date("created_unix_ms", trial.created_unix_ms);
  return trial;
}

SessionRecord checked(SessionRecord session) {
  check_name("session id", session.id, false);
  check_problem(session.problem);
  check_device(session.device);
  check_environment(session.environment);
  check_name("strategy", session.strategy, true);
  check_name("budget", session.budget, true);
  check_name("objective", session.objective, false);
  static constexpr std::array<std::string_view, 6> kStates{"running", "complete",    "converged",
                                                           "budget",  "interrupted", "failed"};
  if (std::find(kStates.begin(), kStates.end(), session.state) == kStates.end()) {
    refuse("session state", fmt::format("is '{}'", session.state));
  }
  // SQLite's integers are signed; a saturated count stays the largest there is.
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  session.space_size = std::min(session.space_size, kMost);
  session.evaluated = std::min(session.evaluated, kMost);
  if (session.started_unix_ms == 0) session.started_unix_ms = next_unix_ms();
  check_date("session started_unix_ms", session.started_unix_ms);
  check_date("session ended_unix_ms", session.ended_unix_ms);
  return session;
}

}  // namespace kiln
