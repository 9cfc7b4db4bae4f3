// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/records.hpp"

namespace kiln {

/// The shortest time, in nanoseconds, in which that device could run the problem if nothing but the
/// widths of its units limited it. Generous: several times faster than the fastest kernels, so that
/// only a time that cannot have been measured is below it. Never under 50 ns, which one access to
/// memory takes. A device of an unknown architecture counts as faster than any announced so far.
[[nodiscard]] double least_time_ns(const Problem& problem, const DeviceClass& device);

}  // namespace kiln
