// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "cache/objective.hpp"
#include "cache/records.hpp"
#include "tools/output/table.hpp"

namespace kiln::tools {

/// Lines about one trial: template, config, time, rate, verification, resources, environment.
/// `unchecked` says why a device with checks did not look at it, where that is known.
void add_trial_facts(FactSheet& sheet, const Trial& trial, const std::string& unchecked = "");

/// The worst error of any result, as a fraction of the error that its rule allows: "largest error
/// 0.98 of the allowed error", or "no errors" if all results are exact.
[[nodiscard]] std::string error_text(double worst_ratio);
/// "1.234 mJ +- 0.010 mJ per run, 512.0 W"; "" if the energy was not measured.
[[nodiscard]] std::string energies_text(const Timing& timing);
/// The trial's value by the objective: "1.234 mJ" for energy, a number for an expression; "" if it
/// has none.
[[nodiscard]] std::string objective_value_text(const Objective& objective, const Trial& trial);
/// "310.2 us +- 0.4 us"
[[nodiscard]] std::string spread_text(const Timing& timing);
/// "168 registers, no spills, 48.0 KiB shared memory, 25.0 % occupancy"
[[nodiscard]] std::string resources_text(const KernelResources& resources);
/// "290 ok, 12 rejected, 1 crashed"; "nothing" when all are zero.
[[nodiscard]] std::string outcomes_text(const std::map<Outcome, std::uint64_t>& counts);
/// "NVIDIA H200, sm_90a, 132 SMs"
[[nodiscard]] std::string device_text(const DeviceClass& device);
/// What the trial is judged by: its time ("310.2 us", "310.2 us modelled"), or its occupancy when
/// it was only compiled.
[[nodiscard]] std::string merit_text(const Trial& trial);

}  // namespace kiln::tools
