// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/oracle.hpp"

namespace kiln {

std::unique_ptr<OracleSource> make_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                           const EvaluationSetup& setup) {
  return setup.reference_plans.empty() ? make_gemm_oracles(ledger, kernels, setup)
                                       : make_declared_oracles(ledger, kernels, setup);
}

}  // namespace kiln
