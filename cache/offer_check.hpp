// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/records.hpp"

namespace kiln {

/// What must hold beyond checked() of rows that were made elsewhere, and come in a file of lines or
/// another database. A speed is believed, but not one that contradicts itself or physics:
///   dates lie between 2020 and a day after this machine's clock, so that no row stays the newest;
///   median and spread are those of the samples, by the code that made them (cache/statistics.hpp);
///   no time is shorter than least_time_ns().
/// Throws Error(usage) naming the field.
void check_offer(const Trial& trial);
void check_offer(const SessionRecord& session);

}  // namespace kiln
