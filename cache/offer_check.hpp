// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/records.hpp"

namespace kiln {

/// What must hold, beyond checked(), of rows that were made elsewhere and come from a file of lines
/// or another database. A speed is believed, unless it contradicts itself or physics:
///   dates are between 2020 and a day ahead of this machine's clock, so that no row stays newest;
///   median and spread are those of the samples, by the code that computes them (statistics.hpp);
///   no time is shorter than least_time_ns().
/// Throws Error(usage) naming the field.
void check_offer(const Trial& trial);
void check_offer(const SessionRecord& session);

}  // namespace kiln
