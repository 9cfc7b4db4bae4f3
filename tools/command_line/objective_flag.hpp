// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace kiln::tools {

/// `--objective OBJECTIVE`, described by `what`, a sentence without its end, and by what it may be.
inline void add_objective(CLI::App& verb, std::string& objective, const std::string& what) {
  verb.add_option("--objective", objective,
                  what +
                      ". OBJECTIVE is `time`, `energy`, `energy_delay` (energy times time), or an "
                      "expression of time_ns, time_s, energy_j, power_w, registers, spill_bytes, "
                      "stack_bytes, smem_bytes, occupancy")
      ->type_name("OBJECTIVE");
}

}  // namespace kiln::tools
