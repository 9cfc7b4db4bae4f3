// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "templates/launch/argument_plan.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/verify/oracle.hpp"

namespace kiln {

/// What tuning does otherwise for a typed operation (templates/operation/typed_operation.hpp):
/// where its problems, its reference and what is right come from instead of a declaration.
struct TypedTuning {
  std::string_view operation;
  /// verification_cases().
  std::vector<ProblemCase> (*cases)(const ProblemCase& tuned, Thoroughness thoroughness,
                                    std::int64_t most_products);
  /// Compiles what oracles of the set-up's cases need; throws like make_setup().
  void (*add_reference)(Compiler& compiler, const DeviceInfo& device, EvaluationSetup& setup);
  /// make_oracles().
  std::unique_ptr<OracleSource> (*oracles)(MemoryLedger& ledger, SupportKernels& kernels,
                                           const EvaluationSetup& setup);
  /// is_judged_exactly(), of a set-up's first case.
  bool (*is_judged_exactly)(const ProblemCase& tuned);
  /// The one argument of its kernels.
  ArgumentPlan (*argument)(const ProblemCase& one);
};

/// nullptr: it is tuned by its declaration. Thread-safe.
[[nodiscard]] const TypedTuning* find_typed_tuning(std::string_view operation);

}  // namespace kiln
