// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/gemm/case.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::testing {

/// What an evaluator needs to judge exactly these cases, of one kind, without the ragged ones that
/// a session adds.
[[nodiscard]] inline EvaluationSetup setup_of_cases(const std::vector<GemmCase>& cases,
                                                    Compiler& compiler, const DeviceInfo& device,
                                                    std::uint64_t seed = 1) {
  EvaluationSetup setup;
  for (const GemmCase& one : cases) {
    TuneRequest request;
    request.tuned = problem_case(one);
    request.seed = seed;
    request.thoroughness = Thoroughness::brief;
    request.policy.cold = false;  // nothing is timed, so one set of operands will do
    EvaluationSetup own = make_setup(request, compiler, device);
    own.cases.resize(1);
    own.reference_geometry.resize(1);
    if (setup.cases.empty()) {
      setup = std::move(own);
    } else {
      setup.cases.push_back(own.cases.front());
      setup.reference_geometry.push_back(own.reference_geometry.front());
    }
  }
  return setup;
}

}  // namespace kiln::testing
