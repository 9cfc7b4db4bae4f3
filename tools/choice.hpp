// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kiln/types.hpp"
#include "runtime/device.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/context.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::tools {

/// The candidate that a verb works on, and why it is that one.
struct Chosen {
  Candidate candidate;
  Match match = Match::default_config;
  std::string reason;
  std::string unavailable;  ///< what the reason says of a better kernel that can't be had; or ""
};

/// Throws Error(usage) for a problem whose results have no elements: no kernel runs for it.
void require_kernel(const Problem& problem);

/// The valid configuration of `kernel_template` that has the chosen values and otherwise differs
/// from the default in as little as possible. Throws Error(usage) when the template does not
/// support the problem, a name or value is not its own, or nothing valid is left.
[[nodiscard]] Config choose_config(const KernelTemplate& kernel_template, const Problem& problem,
                                   const DeviceLimits& limits, const Choices& choices);

/// Why a candidate is not worth running, by what the compiler reports; "" if it is.
using FindDrawback = std::function<std::string(const Candidate&)>;

/// What a program on that device gets for the problem, by the runtime's own rules: the best stored
/// candidate, else a default configuration; where k is 0 the plainest template. `toolkit` is the
/// compiler's identity. With `drawback_of`, what was not measured for the problem gives way to the
/// next choice if it has one, as in an application. Nothing when no template computes the problem.
[[nodiscard]] std::optional<Chosen> choose_as_runtime(Context& context, const Problem& problem,
                                                      const DeviceInfo& device,
                                                      const std::string& toolkit,
                                                      const FindDrawback& drawback_of = {});

}  // namespace kiln::tools
