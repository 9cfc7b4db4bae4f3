// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cache/lookup.hpp"
#include "kiln/types.hpp"
#include "tools/context.hpp"
#include "tools/quantity.hpp"
#include "tuner/search_space.hpp"

namespace kiln::tools {

/// The candidate that a verb works on, and why it is that one.
struct Chosen {
  Candidate candidate;
  Match match = Match::default_config;
  std::string reason;
};

/// The valid configuration of `kernel_template` that has the chosen values and otherwise differs
/// from the default in as little as possible. Throws Error(usage) when the template does not
/// support the problem, a name or value is not its own, or nothing valid is left.
[[nodiscard]] Config choose_config(const KernelTemplate& kernel_template, const Problem& problem,
                                   const DeviceLimits& limits, const Choices& choices);

/// What a program on that device would get for the problem: the best stored candidate, else the
/// default of the template that the runtime falls back to. `space` must not be empty.
[[nodiscard]] Chosen choose_as_runtime(Context& context, const SearchSpace& space,
                                       const Problem& problem, const DeviceLimits& limits,
                                       const DeviceClass& device, const Environment& environment);

/// The look-up alone, over all stores that can be read.
[[nodiscard]] LookupAnswer ask_database(Context& context, const Problem& problem,
                                        const DeviceLimits& limits, const DeviceClass& device,
                                        const Environment& environment);

}  // namespace kiln::tools
