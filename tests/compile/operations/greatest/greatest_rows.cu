// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ template   greatest_rows
//@ purpose    A warp a row; of equal numbers that of the first lane, or of the last.
//@ operation  greatest
//@ tune       rows_per_block = 1 4*
//@ tune       last_lane = 0 1*
//@ let        row_threads = 32 * rows_per_block
//@ launch     greatest_rows<x>
//@   grid     ceil_div(rows, rows_per_block)
//@   block    row_threads
//@   args     x, place, rows, cols, ldx

template <class X>
__global__ void greatest_rows(const X* x, int* place, int rows, int cols, int ldx) {
  const int row = blockIdx.x * rows_per_block + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;  // the whole warp
  const X* from = x + row * static_cast<long long>(ldx);
  int mine = lane < cols ? lane : 0;
  for (int i = lane; i < cols; i += 32) {
    if (static_cast<float>(from[i]) > static_cast<float>(from[mine])) mine = i;
  }
  const float own = from[mine];
  float greatest = own;
  for (int i = 16; i > 0; i /= 2) {
    greatest = fmaxf(greatest, __shfl_xor_sync(0xffffffffU, greatest, i));
  }
  const unsigned holders = __ballot_sync(0xffffffffU, own == greatest);
  const int chosen = last_lane ? 31 - __clz(holders) : __ffs(holders) - 1;
  if (lane == chosen) place[row] = mine;
}
