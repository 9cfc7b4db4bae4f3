// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//@ operation  cltune_gemm
//@ purpose    C(n, m) = the sum over k of A(k, m) B(k, n), as CLTune's GEMM stores them
//@ size       m 1..65536
//@ size       n 1..65536
//@ size       k 1..65536
//@ type       a f32
//@ type       b f32
//@ type       c f32
//@ operand    a in: k, m
//@ operand    b in: k, n
//@ operand    c out: n, m
//@ right      c bound 16 + k of f32   // of the sum of absolute products: they may cancel
//@ integers   2
//@ ragged     m=128 n=256 k=64
//@ ragged     m=384 n=128 k=96
//@ flops      2 * m * n * k
//@ reference  cltune_gemm_reference
//@   grid     ceil_div(m, 256), n
//@   block    256
//@   args     c.f64, c.magnitude, a.f64, b.f64, m, n, k

__global__ void cltune_gemm_reference(double* c, double* magnitude, const double* a,
                                      const double* b, int m, int n, int k) {
  const int row = blockIdx.x * 256 + threadIdx.x;
  const int column = blockIdx.y;
  if (row >= m) return;
  double sum = 0.0;
  double of_sizes = 0.0;
  for (int i = 0; i < k; ++i) {
    const double product = a[i * (size_t)m + row] * b[i * (size_t)n + column];
    sum += product;
    of_sizes += fabs(product);
  }
  c[column * (size_t)m + row] = sum;
  magnitude[column * (size_t)m + row] = of_sizes;
}
