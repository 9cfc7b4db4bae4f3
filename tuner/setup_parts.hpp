// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "templates/operation/operation.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/problem_case.hpp"

namespace kiln {

// The parts of verification_cases() and make_setup() of an operation that declares its reference.

/// The tuned case, then one of each `ragged` line, and for each of its sets of kept sizes again.
[[nodiscard]] std::vector<ProblemCase> declared_cases(const Operation& operation,
                                                      const ProblemCase& tuned);
/// Throws Error(template_) for a reference whose launch or rules have no value, or which does not
/// compile.
void add_declared_reference(const Operation& operation, Compiler& compiler,
                            const DeviceInfo& device, EvaluationSetup& setup);

/// Throws Error(compiler) with the log.
[[nodiscard]] CompiledUnit compile_or_throw(Compiler& compiler, const CompileRequest& request);

}  // namespace kiln
