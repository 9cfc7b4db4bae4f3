// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"

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
/// least one. docs/explanation/emulator.md says how well this fits an H200.
[[nodiscard]] int shared_wavefronts(const std::uint64_t (&addresses)[kLanes], LaneMask lanes,
                                    int bytes, bool plain_load);

/// The same for an access to shared memory of any kind. Copies (cp.async) have rules of their own.
///
/// Through the first-level cache (.ca), which shares its banks with shared memory: the lanes of
/// each part, as above, are told apart by the word that they write in each bank, as in a store, and
/// then once more by the bank that they read; nobody shares what is read.
///
/// Past it (.cg): bytes that come from the second level are moved in transfers, from a source
/// sector of 32 bytes to a destination sector; two lanes share a transfer if each moves another
/// half, and both keep their half or both change it. Transfers share a wavefront if
///
///     they come from one line of 128 bytes and go into one line,
///     from different sectors into different sectors,
///     all from even to even or odd to odd sectors, or all from one kind to the other,
///     and move the same halves, all kept or all changed.
///
/// If only a register says how many bytes are read, lanes that read any cost what they cost through
/// the cache in addition; lanes that read none cost what a store costs.
///
/// docs/explanation/emulator.md says how well these fit an H200.
[[nodiscard]] int shared_wavefronts(const WarpAccess& access);

/// Clocks for which an access keeps shared memory busy: its wavefronts, but for copies, which take
/// what a store to their destination takes. (With the wavefronts of copies as times, the order of
/// 498 measured configurations of a tiled product was predicted with a rank correlation of 0.80;
/// so, 0.92.)
[[nodiscard]] int shared_clocks(const WarpAccess& access);

/// The least that so many lanes of so many bytes can cost, all at different addresses.
[[nodiscard]] int fewest_wavefronts(LaneMask lanes, int bytes);

/// Distinct pieces of 32 bytes that the lanes touch: what a cache is asked for.
[[nodiscard]] int sectors(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes);

/// The same for an access to global memory of any kind: for a copy past the first-level cache, its
/// transfers, as above.
[[nodiscard]] int sectors(const WarpAccess& access);

/// Distinct lines of 128 bytes that the lanes touch.
[[nodiscard]] int cache_lines(const std::uint64_t (&addresses)[kLanes], LaneMask lanes, int bytes);

/// Clocks for which a global access looks up lines of 128 bytes in the first-level cache. It has
/// two halves, for even and odd lines, and each takes one line at a time.
[[nodiscard]] int cache_lookups(const std::uint64_t (&addresses)[kLanes], LaneMask lanes,
                                int bytes);

}  // namespace kiln::emulated
