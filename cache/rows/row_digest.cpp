// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/row_digest.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>

#include "templates/digest.hpp"

namespace kiln {
namespace {

/// A digest builder that takes numbers: integers in decimal, reals as the hexadecimal of their
/// IEEE bits (decimal text could change with the formatting library).
class Fields {
 public:
  Fields& text(const std::string& value) {
    builder_.add(value);
    return *this;
  }
  Fields& integer(std::int64_t value) { return text(fmt::format_int(value).str()); }
  Fields& real(double value) {
    std::array<char, 16> digits{};
    char* const end =
        std::to_chars(digits.begin(), digits.end(), std::bit_cast<std::uint64_t>(value), 16).ptr;
    return text(std::string(digits.begin(), end));
  }

  Fields& add(const Problem& problem) { return text(problem.canonical()); }
  Fields& add(const DeviceClass& device) {
    text(device.name).text(device.arch).integer(device.sm_count).integer(device.l2_bytes);
    return text(device.mig_profile);
  }
  Fields& add(const Environment& environment) {
    return text(environment.driver).text(environment.toolkit).text(environment.policy);
  }
  Fields& add(const CandidateKey& key) {
    add(key.problem).add(key.device).text(key.template_name).text(key.template_digest);
    return text(key.config.canonical());
  }
  Fields& add(const KernelResources& used) {
    integer(used.registers).integer(used.spill_store_bytes).integer(used.spill_load_bytes);
    integer(used.stack_bytes).integer(used.smem_static_bytes).integer(used.smem_dynamic_bytes);
    return real(used.occupancy);
  }
  Fields& add(const Verification& verification) {
    integer(verification.passed ? 1 : 0).real(verification.worst_ratio);
    return text(verification.evidence);
  }
  Fields& add(const Timing& timing) {
    real(timing.median_ns).real(timing.spread_ns).integer(timing.sm_clock_mhz);
    real(timing.power_w).integer(timing.temperature_c);
    integer(static_cast<std::int64_t>(timing.samples_ns.size()));
    for (const double sample : timing.samples_ns) real(sample);
    return *this;
  }
  template <class T>
  Fields& add(const std::optional<T>& part) {
    return part ? text("+").add(*part) : text("-");
  }
  [[nodiscard]] std::string hex() const { return builder_.hex(); }

 private:
  DigestBuilder builder_;
};

}  // namespace

std::string row_digest(const Trial& trial) {
  Fields fields;
  fields.text("trial").text(trial.id).add(trial.key).add(trial.environment);
  fields.text(std::string(to_string(trial.provenance)));
  fields.text(std::string(to_string(trial.outcome))).text(trial.message);
  fields.add(trial.resources).add(trial.verification).add(trial.timing);
  fields.text(trial.rendered_digest).real(trial.compile_seconds).text(trial.session_id);
  fields.integer(trial.created_unix_ms);
  if (trial.timing && trial.timing->interleaved) fields.text("interleaved");       // since schema 2
  if (!trial.code_digest.empty()) fields.text("code").text(trial.code_digest);     // since schema 7
  if (!trial.shared_from.empty()) fields.text("shared").text(trial.shared_from);   // likewise
  if (!trial.judge_digest.empty()) fields.text("judge").text(trial.judge_digest);  // since 9
  if (trial.verification && trial.verification->checked) fields.text("checked");   // likewise
  if (trial.timing && trial.timing->energy_j > 0.0) {
    fields.text("energy").real(trial.timing->energy_j).real(trial.timing->energy_spread_j);
  }
  return fields.hex();
}

std::string row_digest(const SessionRecord& session) {
  Fields fields;
  fields.text("session").text(session.id).add(session.problem).add(session.device);
  fields.add(session.environment).text(session.strategy).text(session.budget);
  fields.integer(static_cast<std::int64_t>(session.space_size));
  fields.integer(static_cast<std::int64_t>(session.evaluated)).text(session.state);
  fields.integer(session.started_unix_ms).integer(session.ended_unix_ms);
  if (session.objective != "time") fields.text("objective").text(session.objective);
  return fields.hex();
}

std::string row_digest(const CandidateKey& attempt, const std::string& session_id) {
  return Fields().text("attempt").add(attempt).text(session_id).hex();
}

std::string row_digest(const Shortlist& shortlist, const ListTexts& lists, const Problem& problem,
                       const DeviceClass& device) {
  Fields fields;
  fields.text("shortlist").add(problem).add(device);
  fields.integer(static_cast<std::int64_t>(shortlist.trials));
  fields.integer(static_cast<std::int64_t>(shortlist.ok));
  fields.text(std::string(to_string(shortlist.provenance)));
  fields.text(lists[0]);
  for (std::size_t i = 1; i < lists.size(); ++i) {
    if (lists[i] != "[]") fields.text(std::string(kListedObjectives[i].name)).text(lists[i]);
  }
  return fields.hex();
}

std::string row_digest(const Family& family, const std::string& kind, const DeviceClass& device) {
  Fields fields;
  fields.text("family").text(kind).add(device);
  return fields.integer(family.problems).integer(static_cast<std::int64_t>(family.mark)).hex();
}

}  // namespace kiln
