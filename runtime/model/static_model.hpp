// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cache/records.hpp"
#include "runtime/model/device_profile.hpp"
#include "templates/kernel_template.hpp"

namespace kiln {

/// Roughly how long a configuration takes, in ns, from only its template's cost lines: nothing is
/// rendered, compiled or run. Good for ordering configurations, not for their times.
///
/// As many blocks as fit on a multiprocessor (threads, shared memory, stated registers) make a
/// wave. A wave lasts as long as the busiest unit needs for all of them, or as one block needs by
/// itself if that is longer: its work on its own share of the units and its waits one after
/// another, or its trips to memory if nothing else held it up; small shares of what overlaps are
/// added, and what nothing overlaps: its first trip and its tail. Clusters leave multiprocessors
/// idle (resident_blocks()). Waves follow each other, the last with what is left over; no launch
/// beats the DRAM traffic of its operands. Every launch adds its start, and several the workspace
/// that one writes and the next reads.
///
/// Nothing if the template states no costs; infinity for a launch that the device cannot do.
/// Throws Error(template_) if a cost is undefined. Precondition: `config` is valid. `bindings`: as
/// of KernelTemplate::plan().
[[nodiscard]] std::optional<double> static_time_ns(const KernelTemplate& kernel_template,
                                                   const Config& config, const Problem& problem,
                                                   const DeviceProfile& profile,
                                                   std::vector<std::int64_t> bindings = {});

}  // namespace kiln
