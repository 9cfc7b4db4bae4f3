// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, as data: what a problem of it consists
// of, and what it costs.

//@ operation  gemm
//@ purpose    General matrix multiplication: D = alpha * op(A) * op(B) + beta * C
//@ size       m 0..2147483647   // rows of D
//@ size       n 0..2147483647   // columns of D
//@ size       k 0..2147483647   // length of the sums
//@ type       a     // elements of A
//@ type       b     // elements of B
//@ type       c     // elements of C
//@ type       d     // elements of D
//@ type       acc   // what products are summed in
//@ trait      trans_a 0 1         // A is stored: as written, transposed
//@ trait      trans_b 0 1         // B likewise
//@ trait      align_a 1 2 4 8 16  // bytes that every row of A starts on
//@ trait      align_b 1 2 4 8 16
//@ trait      align_c 1 2 4 8 16
//@ trait      align_d 1 2 4 8 16
//@ trait      reads_c 0 1         // C takes part
//@ operand    a in: trans_a == 1 ? k : m, trans_a == 1 ? m : k
//@ operand    b in: trans_b == 1 ? n : k, trans_b == 1 ? k : n
//@ operand    c in: m, n; when reads_c
//@ operand    d out: m, n
//@ flops      2 * m * n * k       // a multiply and an add
