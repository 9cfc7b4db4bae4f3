// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  histogram
//@ purpose    How often each of the numbers 0 to bins - 1 occurs
//@ size       n 1..2147483647
//@ size       bins 1..256
//@ type       values u8 s32
//@ type       counts s32
//@ operand    values in: n; fill integers 0 (bins - 1)   // none outside of that
//@ operand    counts out: bins
//@ right      counts exact
//@ ragged     n=1 bins=1
//@ ragged     n=1003 bins=256
//@ ragged     n=65537 bins=10
//@ flops      n
//@ reference  histogram_reference<values>
//@   grid     min(ceil_div(n, 256), 4096)
//@   block    256
//@   args     values, counts, n

// Outputs of a reference begin as zeros.
template <class T>
__global__ void histogram_reference(const T* values, int* counts, int n) {
  for (long long at = blockIdx.x * 256LL + threadIdx.x; at < n; at += gridDim.x * 256LL) {
    atomicAdd(counts + values[at], 1);
  }
}
