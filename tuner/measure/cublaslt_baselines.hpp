// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/gemm.hpp"
#include "tuner/measure/comparison.hpp"

namespace kiln {

/// cuBLASLt's heuristics; none, with a note, on a device or machine without it.
/// An expression that cuBLASLt cannot fuse is computed by a pass over D after its product.
[[nodiscard]] Baselines cublaslt_baselines(MemoryLedger& ledger, const OperandSet& operands,
                                           const CompiledUnit& epilogue,
                                           std::int64_t workspace_bytes);

/// The name expression of that pass (templates/kernels/support/epilogue.cu), and how many elements
/// one of its threads finishes.
[[nodiscard]] std::string finishing_kernel(const Gemm& gemm);
[[nodiscard]] int finished_at_once(const Gemm& gemm);

}  // namespace kiln
