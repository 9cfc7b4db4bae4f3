// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/render/renderer.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// What prepare_candidate accepts.
enum class Admission : std::uint8_t {
  runnable,  ///< whatever compiles and fits the device
  /// Also: no instruction that ptxas serialised or ignored; with cost lines, no spilled registers.
  competitive,
};

/// A compiled candidate ready for the evaluator: renders, compiles, plans every case. If it
/// fails, `outcome` and `message` say why and the job is empty.
struct PreparedCandidate {
  Candidate candidate;
  RenderedKernel rendered;
  CompileResult compiled;
  KernelResources resources;      ///< meaningful when `compiled.ok`
  Outcome outcome = Outcome::ok;  ///< rejected, compile_failed, out_of_resources or ok
  std::string message;
  EvaluationJob job;
  std::string code_digest;  ///< run_digest() of the job; "" when there is none
};

/// `cases[0]` is the problem that the candidate is for. Thread-safe as far as `compiler` is.
/// Throws Error(usage) for an unknown template or a configuration that is invalid for the problem.
[[nodiscard]] PreparedCandidate prepare_candidate(const Candidate& candidate,
                                                  const Catalog& catalog, Compiler& compiler,
                                                  const DeviceLimits& limits,
                                                  const std::vector<ProblemCase>& cases,
                                                  Admission admission = Admission::runnable,
                                                  CodeKind code = CodeKind::cubin);

/// The same for a configuration that differs from a prepared one only in what is known at launch:
/// nothing is compiled. Precondition: the configuration is valid for the problem.
[[nodiscard]] PreparedCandidate prepare_variant(const PreparedCandidate& prepared,
                                                const Config& config, const Catalog& catalog,
                                                const DeviceLimits& limits,
                                                const std::vector<ProblemCase>& cases,
                                                CodeKind code);

}  // namespace kiln
