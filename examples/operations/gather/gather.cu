// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// The operation that the templates of this folder compute, and the kernel that says what is right.

//@ operation  gather
//@ purpose    Rows of a table in the order of a list, such as a batch of embeddings
//@ size       entries 1..2147483647   // rows of the table
//@ size       rows 1..2147483647      // that are copied
//@ size       cols 1..65536           // numbers in a row
//@ type       table f32 f16 bf16 f64 s32
//@ type       index s32
//@ type       y f32 f16 bf16 f64 s32
//@ operand    table in: entries, cols; fill normal
//@ operand    index in: rows; fill integers 0 (entries - 1)
//@ operand    y out: rows, cols       // y[i][j] = table[index[i]][j]
//@ right      y exact
//@ integers   2
//@ ragged     entries=1 rows=1 cols=1
//@ ragged     entries=50 rows=37 cols=33
//@ ragged     entries=7 rows=130 cols=20
//@ ragged     entries=11 rows=9 cols=1032
//@ flops      0
//@ bytes      rows * (index_bytes + 2 * cols * y_bytes)   // of the table what is read
//@ reference  gather_reference<table>
//@   grid     rows
//@   block    128
//@   args     table, index, y, cols

template <class T>
__global__ void gather_reference(const T* table, const int* index, T* y, int cols) {
  const long long from = index[blockIdx.x] * static_cast<long long>(cols);
  const long long to = blockIdx.x * static_cast<long long>(cols);
  for (int j = threadIdx.x; j < cols; j += 128) y[to + j] = table[from + j];
}
