// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/choice.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln::tools {

Config choose_config(const KernelTemplate& kernel_template, const Problem& problem,
                     const DeviceLimits& limits, const Choices& choices) {
  if (const auto why = kernel_template.why_unsupported(problem, limits)) {
    throw Error(ErrorKind::usage, fmt::format("template {}: {}", kernel_template.name(), *why));
  }
  const ParamSpace space = kernel_template.space(problem, limits);
  for (const auto& [name, values] : choices) {
    if (values.size() != 1) {
      throw Error(ErrorKind::usage,
                  fmt::format("--set {}: one value is wanted here, not {}", name, values.size()));
    }
  }
  if (const auto config = space.narrowed(choices).default_config()) return *config;
  // A complete choice has one exact reason; a partial one has as many as there are completions.
  Config attempt;
  for (const auto& tunable : space.tunables()) attempt.set(tunable.name, tunable.default_value);
  for (const auto& [name, values] : choices) attempt.set(name, values.front());
  throw Error(ErrorKind::usage,
              fmt::format("template {}: no valid configuration has these values; with defaults for "
                          "the rest: {}",
                          kernel_template.name(), space.why_invalid(attempt).value_or("empty")));
}

LookupAnswer ask_database(Context& context, const Problem& problem, const DeviceLimits& limits,
                          const DeviceClass& device, const Environment& environment) {
  const auto stores = context.open_for_look_up();
  std::vector<const TuningStore*> pointers;
  for (const auto& store : stores) pointers.push_back(&store);
  const Catalog& catalog = context.catalog();
  LookupRequest request;
  request.problem = problem;
  request.device = device;
  request.environment = environment;
  request.current_digest = [&](std::string_view name) {
    return catalog.find(name) == nullptr ? std::string() : catalog.digest(name);
  };
  request.is_valid = [&](std::string_view name, const Config& config) {
    const KernelTemplate* found = catalog.find(name);
    return found != nullptr && !found->why_unsupported(problem, limits) &&
           found->space(problem, limits).contains(config);
  };
  auto answer = look_up(pointers, request);
  if (!answer.warning.empty()) context.warn(answer.warning);
  return answer;
}

Chosen choose_as_runtime(Context& context, const SearchSpace& space, const Problem& problem,
                         const DeviceLimits& limits, const DeviceClass& device,
                         const Environment& environment) {
  auto answer = ask_database(context, problem, limits, device, environment);
  if (answer.trial) {
    const auto& key = answer.trial->key;
    return {{key.template_name, key.config}, answer.match, std::move(answer.reason)};
  }
  const auto& part = space.parts.back();
  return {{part.kernel_template->name(), part.space.default_config().value()},
          Match::default_config,
          answer.reason};
}

}  // namespace kiln::tools
