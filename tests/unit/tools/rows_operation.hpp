// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/operation/operation.hpp"

namespace kiln::tools {

/// Declares `rows_test`, an operation of two sizes, types, a trait and a scalar; `top` is a flag of
/// verbs as well.
inline const Operation& declare_rows_operation() {
  declare_operation(Operation::parse("rows_test.cu", R"(
//@ operation  rows_test
//@ purpose    Adds a number to every element
//@ size       rows 1..1000          // how many
//@ size       cols 0..65536
//@ type       x f32 f16
//@ type       y f32 f16
//@ scalar     offset f32 = 1        // what is added
//@ operand    x in: rows, cols
//@ operand    y out: rows, cols
//@ right      y exact
//@ integers   2
//@ ragged     rows=1 cols=1
//@ flops      rows * cols
//@ reference  rows_reference<x>
//@   grid     rows
//@   block    32
//@   args     x, y.f64, rows, cols, offset
template <class X>
__global__ void rows_reference(const X* x, double* y, int rows, int cols, float offset) {
  for (int col = threadIdx.x; col < cols; col += blockDim.x) {
    const long long at = (long long)blockIdx.x * cols + col;
    y[at] = (double)x[at] + offset;
  }
}
)"));
  return *find_operation("rows_test");
}

/// Declares `causal_test`, which has a trait and names that are flags of verbs.
inline const Operation& declare_causal_operation() {
  declare_operation(Operation::parse("causal_test.cu", R"(
//@ operation  causal_test
//@ purpose    Copies numbers
//@ size       top                   // how many
//@ type       x
//@ type       output
//@ trait      causal 0 1            // whether later ones are left out
//@ scalar     turns u32 = 3
//@ operand    x in: top
//@ operand    output out: top
//@ right      output exact
//@ integers   2
//@ ragged     top=1
//@ flops      0
//@ reference  causal_reference<x>
//@   grid     top
//@   block    1
//@   args     x, output.f64
template <class X>
__global__ void causal_reference(const X* x, double* output) {
  output[blockIdx.x] = (double)x[blockIdx.x];
}
)"));
  return *find_operation("causal_test");
}

}  // namespace kiln::tools
