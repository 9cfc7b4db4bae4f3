// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "cache/objective.hpp"
#include "tuner/policy.hpp"
#include "tuner/problem_case.hpp"
#include "tuner/session/budget.hpp"

namespace kiln {

/// How many ragged sizes candidates are verified on.
enum class Thoroughness : std::uint8_t {
  full,
  brief,  ///< one large one instead of two: on an emulated device they are most of the work
  deep,   ///< also deeper ones, of which only the first that a candidate is valid for is needed
};

struct TuneRequest {
  ProblemCase tuned;  ///< of declared_case(), or of the typed form
  std::string strategy = "random";
  std::uint64_t seed = 1;
  Budget budget;
  MeasurementPolicy policy;
  int compile_threads = 0;  ///< see compile_threads()
  double candidate_timeout_s = 10.0;
  bool again = false;   ///< measure candidates that already have a result
  Objective objective;  ///< what the search minimises
  /// Try other launches of the best codes while compilers are busy, if a time is all that limits
  /// the session and the device measures.
  bool fill_waits = false;
  /// Try the best candidates with settings of the compiler at the end (polish.hpp), under the same
  /// conditions.
  bool polish = false;
  Thoroughness thoroughness = Thoroughness::full;
};

}  // namespace kiln
