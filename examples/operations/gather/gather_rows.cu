// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   gather_rows
//@ purpose    A group of threads copies some rows at a time, vector by vector.
//@ operation  gather
//@ types      table=f32|f16|bf16|f64|s32 index=s32 y=table
//@ tune       row_threads = 4 8 16 32* 64 128 256   // that share a row
//@ tune       block_groups = 1 2 4 8* 16 32 64      // of a block
//@ tune       group_rows = 1 2 4* 8                 // rows of a group, whose loads go together
//@ tune       vector_bytes = 4 8 16*                // of one load and store
//@ let        vector_elements = vector_bytes / table_bytes
//@ let        block_size = row_threads * block_groups
//@ let        block_rows = block_groups * group_rows
//@ require    vector_bytes >= table_bytes
//@ require    block_size <= device.max_threads
//@ prefer     block_size >= 128 && block_size <= 512
//@ prefer     row_threads * vector_bytes <= cols * table_bytes || row_threads == 4     // no idling
//@ prefer     row_threads * vector_bytes * 16 >= cols * table_bytes || row_threads == 256
//@ prefer     group_rows * block_groups * 1024 <= rows || group_rows * block_groups <= 8
//@ launch     gather_rows<table, vector_elements, row_threads, block_groups, group_rows>
//@   grid     ceil_div(rows, block_rows)
//@   block    block_size
//@   args     table, index, y, rows, cols

/// \file
/// Copying is all there is to do, but where a row lies is known only after its index has come: two
/// trips to memory, one after the other. A group of threads therefore has several rows at a time,
/// whose trips overlap:
///
///     group | index 0, 1, 2, 3 |  vectors of rows 0, 1, 2, 3 loaded, then stored |  next vectors
///              one trip                          one trip
///
/// Groups of few threads suit short rows, where 32 would have nothing to do. Tunables reach this
/// kernel as template arguments.

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T of[kCount];
};

/// Whether every row starts where a vector may.
template <int kCount, class T>
__device__ bool rows_hold_vectors(const T* matrix, int cols) {
  return cols % kCount == 0 &&
         reinterpret_cast<unsigned long long>(matrix) % alignof(Vector<T, kCount>) == 0;
}

template <int kThreads, int kRows, class V>
__device__ void copy_rows(const V* __restrict__ table, const int* __restrict__ index,
                          V* __restrict__ y, long long first, int rows, int vectors) {
  const int thread = threadIdx.x % kThreads;
  const V* from[kRows];
#pragma unroll
  for (int i = 0; i < kRows; ++i) {
    from[i] = table;
    if (first + i < rows) from[i] += index[first + i] * static_cast<long long>(vectors);
  }
  V* const to = y + first * vectors;
#pragma unroll 2
  for (int at = thread; at < vectors; at += kThreads) {
    V held[kRows];
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i < rows) held[i] = from[i][at];
    }
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
      if (first + i < rows) to[i * static_cast<long long>(vectors) + at] = held[i];
    }
  }
}

template <class T, int kCount, int kThreads, int kGroups, int kRows>
__global__ void __launch_bounds__(kThreads* kGroups)
    gather_rows(const T* __restrict__ table, const int* __restrict__ index, T* __restrict__ y,
                int rows, int cols) {
  const long long group = blockIdx.x * static_cast<long long>(kGroups) + threadIdx.x / kThreads;
  const long long first = group * kRows;
  if (first >= rows) return;
  if (rows_hold_vectors<kCount>(table, cols) && rows_hold_vectors<kCount>(y, cols)) {
    using V = Vector<T, kCount>;
    copy_rows<kThreads, kRows>(reinterpret_cast<const V*>(table), index, reinterpret_cast<V*>(y),
                               first, rows, cols / kCount);
  } else {
    copy_rows<kThreads, kRows>(table, index, y, first, rows, cols);
  }
}
