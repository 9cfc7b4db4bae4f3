// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/records.hpp"

namespace kiln {

/// What must hold, beyond checked(), of rows that were made elsewhere and come from a file of lines
/// or another database. The problem is one that could be tuned here (check_declared). A speed is
/// believed, unless it contradicts itself or physics:
///   dates are between 2020 and a day ahead of this machine's clock, so that no row stays newest;
///   median and spread are those of the samples, by the code that computes them (statistics.hpp),
///   unless another autotuner reported them;
///   no time is shorter than least_time_ns().
/// Throws Error(usage) naming the field.
void check_offer(const Trial& trial);
void check_offer(const SessionRecord& session);

/// Throws Error(usage) unless the problem is one of its operation's as `tune` makes it: all sizes,
/// types and traits of the declaration, in its order and ranges, and no others. Nothing is known of
/// an operation that no file declares here, nor asked.
void check_declared(const Problem& problem);

}  // namespace kiln
