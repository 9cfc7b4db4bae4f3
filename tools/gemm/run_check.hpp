// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "tools/gemm/host_matrix.hpp"
#include "tools/problem_run.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::tools {

/// Operands of one run in host memory.
struct HostOperands {
  HostMatrix a, b, c, d;
  std::vector<HostMatrix> epilogue;  ///< operands of the expression, in its order
  std::vector<bool> recorded;        ///< which of them amax() writes: 0 before, and so made
  explicit HostOperands(const GemmCase& request);
};

/// Compares elements of D with float64 sums on the host, by the verifier's rule
/// (docs/explanation/verifying.md). All elements when there are at most `limit`, else random ones,
/// the four corners among them. What amax() recorded must be the largest of those compared, or more
/// if some were not.
[[nodiscard]] RunCheck check_result(const GemmCase& request, const HostOperands& operands,
                                    std::int64_t limit, std::uint64_t seed);

}  // namespace kiln::tools
