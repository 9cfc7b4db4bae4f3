// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/oracle.hpp"

#include <fmt/format.h>

#include "tuner/typed_tuning.hpp"

namespace kiln {

RunOperands run_operands(const OperandSet& operands) {
  RunOperands run;
  for (std::size_t i = 0; i < operands.count(); ++i) {
    run.push_back(operands.plan(i).present ? &operands[i] : nullptr);
  }
  return run;
}

std::string describe(const WrongOutput& wrong) {
  if (!wrong.has_place) return fmt::format("{} refuses it", wrong.checker);
  const std::string place =
      fmt::format("row {} column {}: {:g}", wrong.row, wrong.col, wrong.found.first_value);
  if (!wrong.checker.empty()) return fmt::format("{}, which {} refuses", place, wrong.checker);
  return fmt::format("{}, expected {:g}, bound {:.3g}", place, wrong.found.first_expected,
                     wrong.found.first_bound);
}

std::unique_ptr<OracleSource> make_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                           const EvaluationSetup& setup) {
  const auto* const typed = find_typed_tuning(setup.cases.front().problem.operation);
  return typed == nullptr ? make_declared_oracles(ledger, kernels, setup)
                          : typed->oracles(ledger, kernels, setup);
}

}  // namespace kiln
