// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/verify/oracle.hpp"

namespace kiln {

/// The gemm first, then ragged sizes: the same types, layouts and alignment traits, through padded
/// leading dimensions.
[[nodiscard]] std::vector<GemmCase> verification_cases(
    const Gemm& gemm, double alpha, double beta, Thoroughness thoroughness = Thoroughness::full);

/// Thin problems of the same kind whose K takes a ring of tiles round several times, which the
/// ragged sizes do not: a fault in reusing a stage shows only there. Smallest first, each with a
/// ragged K and then a round one; one of them is enough. None if the problem itself is
/// as deep. No more than `most_products` multiply-adds each (0: any number).
[[nodiscard]] std::vector<GemmCase> deep_cases(const Gemm& gemm, double alpha, double beta,
                                               std::int64_t most_products);

// What TypedTuning has of a gemm.

[[nodiscard]] std::vector<ProblemCase> gemm_cases(const ProblemCase& tuned,
                                                  Thoroughness thoroughness,
                                                  std::int64_t most_products);
void add_gemm_reference(Compiler& compiler, const DeviceInfo& device, EvaluationSetup& setup);
[[nodiscard]] std::unique_ptr<OracleSource> make_gemm_oracles(MemoryLedger& ledger,
                                                              SupportKernels& kernels,
                                                              const EvaluationSetup& setup);

}  // namespace kiln
