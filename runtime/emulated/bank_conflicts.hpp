// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/program.hpp"

namespace kiln::emulated {

/// How often shared memory has to work for one instruction of a warp: its wavefronts.
///
/// Shared memory has 32 banks of 4 bytes; a wavefront serves one word of each. Lanes that want the
/// same word share it. What belongs to one wavefront depends on the bytes per lane:
///
///     up to 4   all 32 lanes together
///     8         each half-warp by itself
///     16        each quarter-warp by itself; so do the 8 rows of each matrix of ldmatrix/stmatrix
///
/// Loads (not stores, not matrix loads) of 8 and 16 bytes take two parts together, so that halves
/// become the whole warp and quarters become halves, if everywhere in the warp the lanes i and
/// i ^ 1 have the same address, or everywhere the lanes i and i ^ 2; a lane that takes no part
/// agrees with any. Each part costs as many wavefronts as the fullest bank has words; the whole at
/// least one. docs/emulation.md says how this was measured on an H200, and how well it fits.
[[nodiscard]] int shared_wavefronts(const std::uint64_t (&addresses)[kLanes], LaneMask lanes,
                                    int bytes, bool plain_load);

/// The least that so many lanes of so many bytes can cost, all at different addresses.
[[nodiscard]] int fewest_wavefronts(LaneMask lanes, int bytes);

/// Distinct pieces of 32 bytes that the lanes touch: what a cache is asked for.
[[nodiscard]] int sectors(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes);

/// Distinct lines of 128 bytes that the lanes touch.
[[nodiscard]] int cache_lines(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes);

/// Clocks for which a global access looks up lines of 128 bytes in the first-level cache. It has
/// two halves, for even and odd lines, and each takes one line at a time.
[[nodiscard]] int cache_lookups(const std::uint64_t (&addresses)[kLanes], LaneMask lanes,
                                int bytes);

}  // namespace kiln::emulated
