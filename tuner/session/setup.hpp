// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "runtime/device.hpp"
#include "templates/kernel_template.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/session/request.hpp"

namespace kiln {

/// The tuned problem first, then ragged sizes of the same kind that every candidate must get right
/// as well, then with Thoroughness::deep those where a fault would show that shows at no shorter
/// length: smallest first, and one of them is enough. None of those has more than `most_products`
/// multiply-adds (0: any number).
[[nodiscard]] std::vector<ProblemCase> verification_cases(const ProblemCase& tuned,
                                                          Thoroughness thoroughness,
                                                          std::int64_t most_products = 0);

/// How many of the cases, the first of which is the problem itself, are others that the
/// configuration is valid for.
[[nodiscard]] std::size_t count_ragged(const KernelTemplate& kernel_template, const Config& config,
                                       const DeviceLimits& limits,
                                       const std::vector<ProblemCase>& cases);

/// How many of the last of verification_cases() are there for Thoroughness::deep.
[[nodiscard]] std::size_t count_deep(const ProblemCase& tuned, std::int64_t most_products);

/// Whether candidates have to be exact on whole numbers, too.
[[nodiscard]] bool is_judged_exactly(const EvaluationSetup& setup);

/// Compiles what set_up() needs, through `compiler`. Throws Error(compiler) with the log if the
/// support kernels or the reference don't compile, Error(usage) for a problem without results.
[[nodiscard]] EvaluationSetup make_setup(const TuneRequest& request, Compiler& compiler,
                                         const DeviceInfo& device);

}  // namespace kiln
