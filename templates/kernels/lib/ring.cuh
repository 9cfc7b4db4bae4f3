// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A ring of stages in shared memory: the next tile is written to the stage after the last, and the
/// stage after the last comes the first again.
///
///       read            write
///         v               v
///     +-------+-------+-------+-------+
///     | tile i| i + 1 | i + 2 | free  |      4 stages, begin ... end
///     +-------+-------+-------+-------+
///         ^______________________|

#include "common/annotations.cuh"

namespace kiln {

/// Clears the stage behind the last tile, if there is one: it is read, too, though nothing uses
/// what it holds.
template <int kStages, int kStageElements, int kThreads, class T>
KILN_DEVICE void clear_unused_stage(T* stages, int tiles) {
  if (tiles >= kStages) return;
  T* last = stages + tiles * kStageElements;
  for (int i = static_cast<int>(threadIdx.x); i < kStageElements; i += kThreads) {
    last[i] = static_cast<T>(0.0F);
  }
}

/// Walks round the stages.
template <class T, int kStages, int kStageElements>
class RingCursor {
 public:
  KILN_DEVICE explicit RingCursor(T* stages) : begin_(stages), at_(stages) {}
  KILN_DEVICE T* stage() const { return at_; }
  KILN_DEVICE void advance() {
    at_ += kStageElements;
    if (at_ == begin_ + kStages * kStageElements) at_ = begin_;  // mutant: ring_end
  }

 private:
  T* begin_;
  T* at_;
};

/// The same as a distance from the first stage, which takes fewer instructions where addresses in
/// shared memory need not be made from generic ones.
template <class T, int kStages, int kStageElements>
class RingIndex {
 public:
  KILN_DEVICE explicit RingIndex(T* stages) : begin_(stages) {}
  KILN_DEVICE T* stage() const { return begin_ + at_; }
  KILN_DEVICE void advance() {
    at_ = at_ == (kStages - 1) * kStageElements ? 0 : at_ + kStageElements;
  }

 private:
  T* begin_;
  int at_ = 0;
};

}  // namespace kiln
