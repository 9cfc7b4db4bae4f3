// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A ring of chunks in shared memory for each lane: what a lane copies in the background, only it
/// reads. So it waits for nothing but its own copies, there is no barrier, and far more of global
/// memory is on its way than registers could hold:
///
///               lane 0   lane 1   lane 2          16 bytes each, side by side: no bank conflicts
///     slot 0    chunk    chunk    chunk  ...      <- read
///     slot 1    chunk    chunk    chunk  ...         arriving
///     slot 2    chunk    chunk    chunk  ...         arriving
///
/// A slot has kChunks chunks of each lane, which start and arrive together.

#include "common/annotations.cuh"
#include "lib/ptx_async_copy.cuh"
#include "lib/ring.cuh"

namespace kiln {

template <int kSlots, int kChunks, int kThreads>
class LaneRing {
  static_assert(kSlots >= 2, "One slot is read while others arrive");
  static constexpr int kSlot = kChunks * kThreads;

 public:
  /// `chunks` has kSlots * kChunks * kThreads, and starts on 16 bytes.
  KILN_DEVICE explicit LaneRing(uint4* chunks) : read_(chunks), write_(chunks) {}

  /// Starts the copy of a chunk into the slot that is filled next; of the last chunk of a row only
  /// `bytes` exist, and zeros fill the rest.
  KILN_DEVICE void start(int chunk, const void* from) {
    copy_async<16>(place(write_, chunk), from);
  }
  KILN_DEVICE void start(int chunk, const void* from, int bytes) {
    copy_async<16>(place(write_, chunk), from, bytes);
  }
  /// All copies of the slot, which may be none, have started.
  KILN_DEVICE void close_slot() {
    commit_async_group();
    write_.advance();
  }

  /// Waits for the slot that is read next. Precondition: kSlots - 1 slots more were closed than
  /// released.
  KILN_DEVICE void wait() const { wait_async_groups<kSlots - 2>(); }
  KILN_DEVICE uint4 chunk(int i) const { return *place(read_, i); }
  KILN_DEVICE void release() { read_.advance(); }

 private:
  using Cursor = RingCursor<uint4, kSlots, kSlot>;
  KILN_DEVICE static uint4* place(const Cursor& slot, int chunk) {
    return slot.stage() + chunk * kThreads + threadIdx.x;
  }
  Cursor read_;
  Cursor write_;
};

}  // namespace kiln
