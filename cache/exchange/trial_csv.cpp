// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/trial_csv.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace kiln {
namespace {

struct CsvColumn {
  std::string_view name;
  std::string (*text)(const Trial&);
};

/// Shortest text that reads back as the same number.
std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return fmt::format("{}", value);
}

template <class Part, class Field>
std::string part_text(const std::optional<Part>& part, Field Part::*field) {
  if (!part) return "";
  const auto& value = (*part).*field;
  if constexpr (std::is_same_v<Field, double>) {
    return number_text(value);
  } else if constexpr (std::is_same_v<Field, bool>) {
    return value ? "1" : "0";
  } else {
    return fmt::format("{}", value);
  }
}

const std::vector<CsvColumn>& csv_columns() {
  using T = const Trial&;
  static const std::vector<CsvColumn> columns{
      {"trial_id", [](T t) { return t.id; }},
      {"created_unix_ms", [](T t) { return std::to_string(t.created_unix_ms); }},
      {"operation", [](T t) { return t.key.problem.operation; }},
      {"kind", [](T t) { return t.key.problem.kind_text(); }},
      {"sizes", [](T t) { return t.key.problem.sizes_text(); }},
      {"device", [](T t) { return t.key.device.name; }},
      {"arch", [](T t) { return t.key.device.arch; }},
      {"sm_count", [](T t) { return std::to_string(t.key.device.sm_count); }},
      {"l2_bytes", [](T t) { return std::to_string(t.key.device.l2_bytes); }},
      {"mig_profile", [](T t) { return t.key.device.mig_profile; }},
      {"template", [](T t) { return t.key.template_name; }},
      {"template_digest", [](T t) { return t.key.template_digest; }},
      {"config", [](T t) { return t.key.config.canonical(); }},
      {"provenance", [](T t) { return std::string(to_string(t.provenance)); }},
      {"outcome", [](T t) { return std::string(to_string(t.outcome)); }},
      {"message", [](T t) { return t.message; }},
      {"median_ns", [](T t) { return part_text(t.timing, &Timing::median_ns); }},
      {"spread_ns", [](T t) { return part_text(t.timing, &Timing::spread_ns); }},
      {"samples_ns",
       [](T t) {
         return t.timing ? fmt::format("{}", fmt::join(t.timing->samples_ns, " ")) : std::string();
       }},
      {"interleaved", [](T t) { return part_text(t.timing, &Timing::interleaved); }},
      {"sm_clock_mhz", [](T t) { return part_text(t.timing, &Timing::sm_clock_mhz); }},
      {"power_w", [](T t) { return part_text(t.timing, &Timing::power_w); }},
      {"temperature_c", [](T t) { return part_text(t.timing, &Timing::temperature_c); }},
      {"verified", [](T t) { return part_text(t.verification, &Verification::passed); }},
      {"worst_ratio", [](T t) { return part_text(t.verification, &Verification::worst_ratio); }},
      {"checked", [](T t) { return part_text(t.verification, &Verification::checked); }},
      {"registers", [](T t) { return part_text(t.resources, &KernelResources::registers); }},
      {"spill_store_bytes",
       [](T t) { return part_text(t.resources, &KernelResources::spill_store_bytes); }},
      {"spill_load_bytes",
       [](T t) { return part_text(t.resources, &KernelResources::spill_load_bytes); }},
      {"stack_bytes", [](T t) { return part_text(t.resources, &KernelResources::stack_bytes); }},
      {"smem_static_bytes",
       [](T t) { return part_text(t.resources, &KernelResources::smem_static_bytes); }},
      {"smem_dynamic_bytes",
       [](T t) { return part_text(t.resources, &KernelResources::smem_dynamic_bytes); }},
      {"occupancy", [](T t) { return part_text(t.resources, &KernelResources::occupancy); }},
      {"compile_seconds", [](T t) { return number_text(t.compile_seconds); }},
      {"driver", [](T t) { return t.environment.driver; }},
      {"toolkit", [](T t) { return t.environment.toolkit; }},
      {"policy", [](T t) { return t.environment.policy; }},
      {"session_id", [](T t) { return t.session_id; }},
      {"code_digest", [](T t) { return t.code_digest; }},
      {"shared_from", [](T t) { return t.shared_from; }},
      {"judge_digest", [](T t) { return t.judge_digest; }},
  };
  return columns;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + '"';
}

std::string csv_header() {
  std::string line;
  for (const CsvColumn& column : csv_columns()) {
    if (!line.empty()) line += ',';
    line += column.name;
  }
  return line + "\r\n";
}

std::string csv_row(const Trial& trial) {
  std::string line;
  bool is_first = true;
  for (const CsvColumn& column : csv_columns()) {
    if (!is_first) line += ',';
    is_first = false;
    line += csv_field(column.text(trial));
  }
  return line + "\r\n";
}

}  // namespace kiln
