// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   transpose_tile
//@ purpose    Square tiles turned in shared memory; vectors of 16 bytes on both sides.
//@ operation  transpose
//@ types      x=f32|f16|bf16|f64 y=x
//@ tune       tile_size = 32 64* 128          // elements along each side
//@ tune       tile_padding = 0 1* 2 4         // elements between rows in shared memory
//@ tune       block_size = 64 128 256* 512    // threads
//@ tune       vector_bytes = 4 8 16*          // of one load or store, where addresses allow it
//@ tune       down_first = 0* 1               // next tile: to the right, or below
//@ let        shared_bytes = tile_size * (tile_size + tile_padding) * x_bytes
//@ let        load_elements = max(min(vector_bytes, align_x) / x_bytes, 1)
//@ let        store_elements = max(min(vector_bytes, align_y) / x_bytes, 1)
//@ let        vector_elements = max(load_elements, store_elements)
//@ require    vector_bytes >= x_bytes
//@ require    vector_bytes <= max(x_bytes, 4, align_x, align_y)
//@ require    shared_bytes <= device.smem_static
//@ require    block_size <= device.max_threads
//@ require    block_size * vector_elements <= tile_size * tile_size   // work for every thread
//@ require    ceil_div(rows, tile_size) * ceil_div(cols, tile_size) <= 2147483647
//@ prefer     tile_padding > 0                                        // columns without conflicts
//@ prefer     tile_size * x_bytes >= 128                              // whole lines of the cache
//@ prefer     tile_size * tile_size <= 16 * block_size * vector_elements   // registers
//@ prefer     tile_size * tile_size >= 2 * block_size * vector_elements    // loads in flight
//@ launch     transpose_tile<x>
//@   grid     ceil_div(rows, tile_size) * ceil_div(cols, tile_size)
//@   block    block_size

/// \file
/// Memory is moved in lines, so reads along rows of x and writes along rows of y must both touch
/// neighbours. A tile turns in shared memory, which has no lines:
///
///     x, row by row          shared memory            y, row by row
///     +-------------+       +-------------+ |        +-------------+
///     | ----------> | ----> | a  b  c  d  |p|        | a  e  i  m  |
///     |             |       | e  f  g  h  |a| -----> | b  f  j  n  |
///     |             |       | i  j  k  l  |d|  by    | c  g  k  o  |
///     +-------------+       +-------------+ | column +-------------+
///
/// It has 32 banks instead, and a column of a tile whose rows are 32 words long lies in one of
/// them. Rows that are longer by one element spread it over all.
///
/// Threads move vectors: a row's vector is stored to shared memory one element at a time, since
/// padded rows do not start where vectors may, and a vector of y is gathered from as many rows.
/// All loads of a thread are started before the first is waited for. How wide vectors may be is
/// what the addresses promise (align_x, align_y); where rows of x or y do not consist of whole ones
/// or do not start on them, threads go element by element on that side.

template <class T, int kCount>
struct alignas(sizeof(T) * kCount) Vector {
  T of[kCount];
};

/// Elements are moved, not computed with: to the kernel they are bits.
template <int kBytes>
struct BitsOf;
template <>
struct BitsOf<2> {
  using type = unsigned short;
};
template <>
struct BitsOf<4> {
  using type = unsigned;
};
template <>
struct BitsOf<8> {
  using type = unsigned long long;
};

/// Stores neighbours by one instruction. The compiler may make several of an assignment whose parts
/// come from different places, which __stcs rules out; it also tells the cache that nobody will
/// read them soon.
template <int kCount, class T>
__device__ void store_vector(T* to, const T (&elements)[kCount]) {
  constexpr int kWords = kCount * sizeof(T) / 4;
  if constexpr (kCount == 1) {
    *to = elements[0];
  } else {
    unsigned words[kWords] = {};
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      if constexpr (sizeof(T) == 2) {
        words[i] = elements[2 * i] | static_cast<unsigned>(elements[2 * i + 1]) << 16;
      } else if constexpr (sizeof(T) == 4) {
        words[i] = elements[i];
      } else {
        words[i] = static_cast<unsigned>(elements[i / 2] >> i % 2 * 32);
      }
    }
    if constexpr (kWords == 4) {
      __stcs(reinterpret_cast<uint4*>(to), make_uint4(words[0], words[1], words[2], words[3]));
    } else if constexpr (kWords == 2) {
      __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
    } else {
      *reinterpret_cast<unsigned*>(to) = words[0];
    }
  }
}

/// Whether every row is made of vectors and starts where one may, as the first does.
template <int kCount>
__device__ bool rows_hold_vectors(int cols, int ld) {
  return cols % kCount == 0 && ld % kCount == 0;
}

constexpr int kPitch = tile_size + tile_padding;

/// Brings the tile whose first element is x[row][col] to shared memory, what lies in the matrix.
template <int kCount, class T>
__device__ void load_tile(T* tile, const T* __restrict__ x, int rows, int cols, int ld,
                          long long row, long long col) {
  constexpr int kAcross = tile_size / kCount;  // vectors of a row
  constexpr int kVectors = tile_size * kAcross;
  constexpr int kMost = 16;  // in flight at a time, so that registers suffice
  constexpr int kEach = (kVectors + block_size - 1) / block_size;
  constexpr int kTogether = kEach < kMost ? kEach : kMost;
  for (int begin = threadIdx.x; begin < kVectors; begin += kTogether * block_size) {
    Vector<T, kCount> held[kTogether];
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = begin + i * block_size;
      const long long from_row = row + at / kAcross;
      const long long from_col = col + at % kAcross * kCount;
      if (at < kVectors && from_row < rows && from_col < cols) {
        held[i] = *reinterpret_cast<const Vector<T, kCount>*>(x + from_row * ld + from_col);
      }
    }
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      const int at = begin + i * block_size;
      const int in_row = at / kAcross;
      const int in_col = at % kAcross * kCount;
      if (at < kVectors && row + in_row < rows && col + in_col < cols) {
#pragma unroll
        for (int j = 0; j < kCount; ++j) tile[in_row * kPitch + in_col + j] = held[i].of[j];
      }
    }
  }
}

/// Stores columns of the tile as rows of y, of which y[col][row] is the first element.
template <int kCount, class T>
__device__ void store_tile(const T* tile, T* __restrict__ y, int rows, int cols, int ld,
                           long long row, long long col) {
  constexpr int kAcross = tile_size / kCount;
  constexpr int kVectors = tile_size * kAcross;
#pragma unroll 4
  for (int at = threadIdx.x; at < kVectors; at += block_size) {
    const int in_col = at / kAcross;
    const int in_row = at % kAcross * kCount;
    if (row + in_row >= rows || col + in_col >= cols) continue;
    T turned[kCount];
#pragma unroll
    for (int j = 0; j < kCount; ++j) turned[j] = tile[(in_row + j) * kPitch + in_col];
    store_vector(y + (col + in_col) * ld + row + in_row, turned);
  }
}

template <class T>
__global__ void __launch_bounds__(block_size)
    transpose_tile(const T* __restrict__ x, T* __restrict__ y, int rows, int cols, int ldx,
                   int ldy) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  const Bits* from = reinterpret_cast<const Bits*>(x);
  Bits* to = reinterpret_cast<Bits*>(y);
  __shared__ Bits tile[tile_size * kPitch];
  // In 64 bits: the last tile may reach past 2^31.
  const long long tiles_down = (rows + (tile_size - 1LL)) / tile_size;
  const long long tiles_right = (cols + (tile_size - 1LL)) / tile_size;
  const long long row =
      tile_size * (down_first ? blockIdx.x % tiles_down : blockIdx.x / tiles_right);
  const long long col =
      tile_size * (down_first ? blockIdx.x / tiles_down : blockIdx.x % tiles_right);

  if (rows_hold_vectors<load_elements>(cols, ldx)) {
    load_tile<load_elements>(tile, from, rows, cols, ldx, row, col);
  } else {
    load_tile<1>(tile, from, rows, cols, ldx, row, col);
  }
  __syncthreads();
  if (rows_hold_vectors<store_elements>(rows, ldy)) {
    store_tile<store_elements>(tile, to, rows, cols, ldy, row, col);
  } else {
    store_tile<1>(tile, to, rows, cols, ldy, row, col);
  }
}
