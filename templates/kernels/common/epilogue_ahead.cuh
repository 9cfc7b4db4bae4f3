// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// An epilogue's expression for the sake of what it reads: with numbers that have no value, all
/// that is left of `silu(acc + bias[n]) * gate[m,n]` are the addresses of bias and gate, which go
/// to L2 while the product is still computed:
///
///     products    |##########################|
///     bias, gate  |-- from memory -->|       | finished from L2
///
/// Small problems would wait for memory twice otherwise, for their operands and then for these.

#include "common/epilogue_peak.cuh"

namespace kiln::epilogue {

/// No number, but whether all that it comes from is aligned as pairs along rows of D.
struct Ahead {
  bool pairs = true;

  Ahead() = default;
  KILN_DEVICE explicit Ahead(float) {}
  KILN_DEVICE explicit Ahead(bool pairs_) : pairs(pairs_) {}
};

KILN_DEVICE Ahead operator-(Ahead x) {
  return x;
}
#define KILN_AHEAD_UNARY(name)      \
  KILN_DEVICE Ahead name(Ahead x) { \
    return x;                       \
  }
#define KILN_AHEAD_BINARY(name)              \
  KILN_DEVICE Ahead name(Ahead x, Ahead y) { \
    return Ahead(x.pairs && y.pairs);        \
  }
KILN_AHEAD_BINARY(operator+)
KILN_AHEAD_BINARY(operator-)
KILN_AHEAD_BINARY(operator*)
KILN_AHEAD_BINARY(operator/)
KILN_AHEAD_UNARY(exp)
KILN_AHEAD_UNARY(log)
KILN_AHEAD_UNARY(sqrt)
KILN_AHEAD_UNARY(rsqrt)
KILN_AHEAD_UNARY(tanh)
KILN_AHEAD_UNARY(sigmoid)
KILN_AHEAD_UNARY(silu)
KILN_AHEAD_UNARY(gelu)
KILN_AHEAD_UNARY(gelu_tanh)
KILN_AHEAD_UNARY(abs)
KILN_AHEAD_BINARY(min)
KILN_AHEAD_BINARY(max)
KILN_AHEAD_BINARY(less)
KILN_AHEAD_BINARY(less_equal)
#undef KILN_AHEAD_UNARY
#undef KILN_AHEAD_BINARY
/// Both are read in either case.
KILN_DEVICE Ahead select(Ahead truth, Ahead x, Ahead y) {
  return Ahead(truth.pairs && x.pairs && y.pairs);
}

/// Nothing is recorded.
template <>
struct PeakRecorder<Ahead> {
  template <int kOperand, class Place>
  KILN_DEVICE static void only(const Place&, Ahead) {}
  template <int kOperand, class Place>
  KILN_DEVICE static void of_row(const Place&, Ahead) {}
  template <int kOperand, class Place>
  KILN_DEVICE static void of_column(const Place&, Ahead) {}
};

}  // namespace kiln::epilogue
