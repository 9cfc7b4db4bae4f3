// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/oracle.hpp"

#include "tuner/typed_tuning.hpp"

namespace kiln {

std::unique_ptr<OracleSource> make_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                           const EvaluationSetup& setup) {
  const auto* const typed = find_typed_tuning(setup.cases.front().problem.operation);
  return typed == nullptr ? make_declared_oracles(ledger, kernels, setup)
                          : typed->oracles(ledger, kernels, setup);
}

}  // namespace kiln
