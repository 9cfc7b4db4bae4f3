// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// ring

#include "common/annotations.cuh"
#include "lib/ptx_async_copy.cuh"

namespace kiln {

template <class T, int kStages, int kStageElements>
class RingCursor {
 public:
  KILN_DEVICE explicit RingCursor(T* stages) : begin_(stages), at_(stages) {}
  KILN_DEVICE T* stage() const { return at_; }
  KILN_DEVICE void advance() {
    at_ += kStageElements;
    if (at_ == begin_ + kStages * kStageElements) at_ = begin_;
  }

 private:
  T* begin_;
  T* at_;
};

template <class T, int kStages, int kStageElements>
class AsyncGroupRing {
 public:
  KILN_DEVICE explicit AsyncGroupRing(T* stages) : write_(stages), read_(stages) {}
  KILN_DEVICE T* write_stage() const { return write_.stage(); }
  KILN_DEVICE void commit() {
    commit_async_group();
    write_.advance();
  }
  KILN_DEVICE T* read_stage() const { return read_.stage(); }
  KILN_DEVICE void wait() const {
    wait_async_groups<kStages - 2>();
    __syncthreads();
  }
  KILN_DEVICE void release() { read_.advance(); }

 private:
  RingCursor<T, kStages, kStageElements> write_;
  RingCursor<T, kStages, kStageElements> read_;
};

}  // namespace kiln
