// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Which way operands lie in memory. A K-major operand has neighbours along k next to each other:
///
///     A  m x k, not transposed     row i:    k 0 1 2 3 ...
///     B  k x n, transposed         column j: k 0 1 2 3 ...
///
/// The other order is MN-major.

struct OperandsConfig {  //@ config
  int k_major_a;         //@ let trans_a == 0
  int k_major_b;         //@ let trans_b == 1
};
