// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/trial_text.hpp"

#include <fmt/format.h>

#include "tools/output/units.hpp"

namespace kiln::tools {

std::string error_text(double worst_ratio) {
  if (worst_ratio == 0.0) return "no errors";
  if (worst_ratio < 0.005) return "largest error below 0.01 of the allowed error";
  return fmt::format("largest error {:.2f} of the allowed error", worst_ratio);
}

std::string spread_text(const Timing& timing) {
  return fmt::format("{} +- {}", time_text(timing.median_ns), time_text(timing.spread_ns));
}

std::string energies_text(const Timing& timing) {
  if (timing.energy_j <= 0.0) return "";
  return fmt::format("{} +- {} per run, {}", energy_text(timing.energy_j),
                     energy_text(timing.energy_spread_j), power_text(timing.power_w));
}

std::string objective_value_text(const Objective& objective, const Trial& trial) {
  if (!trial.timing) return "";
  const auto value = objective.value_of(trial);
  if (!value) return "";
  switch (objective.kind()) {
    case Objective::Kind::time:
      return time_text(value->value);
    case Objective::Kind::energy:
      return energy_text(value->value);
    case Objective::Kind::energy_delay:
      return si_text(value->value, "J s");
    case Objective::Kind::expression:
      break;
  }
  return fmt::format("{:.6g}", value->value);
}

std::string resources_text(const KernelResources& resources) {
  const int spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  return fmt::format("{} registers, {}, {} shared memory, {} occupancy", resources.registers,
                     spilled == 0 ? "no spills" : fmt::format("{} B spilled", spilled),
                     bytes_text(resources.smem_static_bytes + resources.smem_dynamic_bytes),
                     percent_text(resources.occupancy));
}

std::string outcomes_text(const std::map<Outcome, std::uint64_t>& counts) {
  std::string text;
  for (const auto& [outcome, count] : counts) {
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count_text(count), to_string(outcome));
  }
  return text.empty() ? "nothing" : text;
}

std::string device_text(const DeviceClass& device) {
  // Files of other autotuners do not say how many there are.
  return fmt::format("{}, {}{}{}", device.name, device.arch,
                     device.sm_count == 0 ? "" : fmt::format(", {} SMs", device.sm_count),
                     device.mig_profile.empty() ? "" : ", MIG " + device.mig_profile);
}

std::string merit_text(const Trial& trial) {
  if (trial.timing) {
    return time_text(trial.timing->median_ns) +
           (trial.provenance == Provenance::modelled ? " modelled" : "");
  }
  if (trial.resources) return percent_text(trial.resources->occupancy) + " occupancy";
  return "";
}

namespace {

/// What the verification looked at.
std::string checks_text(const Trial& trial) {
  if (trial.verification->checked) {
    return "no findings; Kiln checked bounds, alignment, uninitialised reads, races, waits, "
           "fences, barriers";
  }
  return "the results of two runs, and the memory around the operands; `kiln verify` also looks "
         "for races and missing waits";
}

std::string verified_text(const Trial& trial, const std::string& unchecked) {
  const Verification& verification = *trial.verification;
  if (!verification.passed) return fmt::format("NO: {}", verification.evidence);
  std::string text = fmt::format("{}{}{}", error_text(verification.worst_ratio),
                                 verification.evidence.empty() ? "" : "; ", verification.evidence);
  // A device with checks, which did not look at this one.
  if (trial.provenance == Provenance::modelled && !verification.checked) {
    return fmt::format(
        "results only, {}. Kiln did not check for races, missing waits and similar faults{}{}",
        text, unchecked.empty() ? "" : ": ", unchecked);
  }
  return "yes, " + text;
}

}  // namespace

void add_trial_facts(FactSheet& sheet, const Trial& trial, const std::string& unchecked) {
  sheet.add("template", trial.key.template_name);
  sheet.add("config", trial.key.config.canonical());
  if (trial.timing) {
    sheet.add("time", trial.provenance == Provenance::modelled
                          ? fmt::format("{}, modelled: predicted, not measured",
                                        time_text(trial.timing->median_ns))
                          : spread_text(*trial.timing));
    sheet.add("rate",
              rates_text(trial.key.problem, trial.timing->median_ns, trial.timing->energy_j));
    if (const auto energy = energies_text(*trial.timing); !energy.empty()) {
      sheet.add("energy", energy);
    }
  } else {
    sheet.add("time", "not measured: compiled only");
  }
  if (trial.verification) {
    sheet.add("verified", verified_text(trial, unchecked));
    if (trial.verification->passed) sheet.add("checks", checks_text(trial));
  }
  if (trial.resources) sheet.add("resources", resources_text(*trial.resources));
  if (!trial.shared_from.empty()) {
    sheet.add("outcome", fmt::format("copied from trial {}, which has the same machine code",
                                     trial.shared_from));
  }
}

}  // namespace kiln::tools
