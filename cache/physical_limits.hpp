// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cache/records.hpp"

namespace kiln {

/// The shortest time, in nanoseconds, in which that device could run the problem if nothing but the
/// widths of its units held it back. Generous: a multiple of what the fastest kernels need, so that
/// only a time that nobody can have measured lies below. Never under 50 ns, which one access to
/// memory takes. A device of an unknown architecture counts as faster than any that was announced.
[[nodiscard]] double least_time_ns(const Problem& problem, const DeviceClass& device);

}  // namespace kiln
