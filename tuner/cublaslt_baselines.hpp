// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/comparison.hpp"

namespace kiln {

/// cuBLASLt's heuristics; none, with a note, on a device or machine without it.
[[nodiscard]] Baselines cublaslt_baselines(MemoryLedger& ledger, const OperandSet& operands,
                                           std::int64_t workspace_bytes);

}  // namespace kiln
