// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "templates/catalog.hpp"
#include "templates/device_limits.hpp"
#include "tuner/gemm/case.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::testing {

/// A problem that a template takes, and one of its configurations.
struct RandomProblem {
  GemmCase problem;
  Candidate candidate;
};

/// How large problems may be.
struct RandomLimits {
  std::int64_t most_products = 0;  ///< m * n * k, at least 2^12
  std::int64_t longest = 0;        ///< of m, n and k, at least 64
};

/// Draws problem number `index` of a seed; equal arguments give equal problems. Without a name
/// every template of the catalog has the same chance. Types, layouts, alignments, leading
/// dimensions, alpha and beta are drawn; sizes are tiny, next to edges of tiles, whole vectors,
/// anything, and k is 0 at times. The configuration is the default, a preferred or any valid one;
/// other values of `attempt` give others for the same problem. Throws Error(usage) if there is no
/// such template, Error(internal) if it finds no problem for one.
[[nodiscard]] RandomProblem draw_problem(std::uint64_t seed, std::uint64_t index, int attempt,
                                         const Catalog& catalog, const DeviceLimits& device,
                                         const RandomLimits& limits,
                                         const std::string& template_name = "");

/// The command that repeats its verification with the same data.
[[nodiscard]] std::string command_to_repeat(const RandomProblem& drawn, const std::string& device,
                                            std::uint64_t data_seed);

}  // namespace kiln::testing
