// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/choice.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/library/warning_sink.hpp"
#include "templates/space/compile_settings.hpp"
#include "tools/command_line/problem_flags.hpp"

namespace kiln::tools {

void require_kernel(const Problem& problem) {
  if (work_of(problem) != Work::none) return;
  throw Error(ErrorKind::usage, fmt::format("{}: {}, so there is no kernel to run",
                                            heading_text(problem), no_results_text(problem)));
}

Config choose_config(const KernelTemplate& kernel_template, const Problem& problem,
                     const DeviceLimits& limits, const Choices& choices) {
  if (const auto why = kernel_template.why_unsupported(problem, limits)) {
    throw Error(ErrorKind::usage, *why);
  }
  const ParamSpace space = kernel_template.space(problem, limits);
  for (const auto& [name, values] : choices) {
    if (values.size() != 1) {
      throw Error(ErrorKind::usage,
                  fmt::format("--set {}: give one value, not {}", name, values.size()));
    }
  }
  // A setting is no tunable: it is added to the configuration.
  Choices tunables;
  Config settings;
  for (const auto& [name, values] : choices) {
    if (is_setting(name) && kernel_template.takes_settings()) {
      if (const auto why = why_bad_setting(name, values.front())) {
        throw Error(ErrorKind::usage, fmt::format("--set: {}", *why));
      }
      settings.set(name, values.front());
    } else {
      tunables.emplace_back(name, values);
    }
  }
  if (const auto config = space.narrowed(tunables).default_config()) {
    return with_settings_of(settings, *config);
  }
  // A complete choice has one exact reason; a partial one has as many as there are completions.
  Config attempt;
  for (const auto& tunable : space.tunables()) attempt.set(tunable.name, tunable.default_value);
  for (const auto& [name, values] : choices) attempt.set(name, values.front());
  throw Error(ErrorKind::usage,
              fmt::format("template {}: no valid configuration has the values of --set. Example, "
                          "with the default values of the other tunables: {}",
                          kernel_template.name(), space.why_invalid(attempt).value_or("empty")));
}

std::optional<Chosen> choose_as_runtime(Context& context, const Problem& problem,
                                        const DeviceInfo& device, const std::string& toolkit,
                                        const FindDrawback& drawback_of) {
  detail::WarningSink warnings([&](std::string_view text) { context.warn(text); }, "");
  detail::KernelChooser chooser(context.catalog(), device, context.database().value,
                                site_databases(), warnings, context.objective());
  warnings.mute(detail::WarningKind::unavailable);
  const auto chosen = [](const std::optional<detail::Choice>& choice,
                         std::string unavailable = "") -> std::optional<Chosen> {
    if (!choice) return std::nullopt;
    return Chosen{{choice->kernel_template->name(), choice->config},
                  choice->match,
                  choice->reason,
                  std::move(unavailable)};
  };
  if (work_of(problem) == Work::trivial) {
    return chosen(chooser.plainest(problem, {}, why_nothing_to_tune(problem)));
  }
  detail::Refused refused;
  std::optional<Chosen> first;
  while (refused.size() < detail::kMostTries) {
    const auto [best, unavailable] = chooser.stored(problem, toolkit, refused);
    auto choice =
        chosen(best ? best : chooser.predicted(problem, refused, unavailable), unavailable);
    if (!choice || !drawback_of || detail::is_measured_here(choice->match) ||
        drawback_of(choice->candidate).empty()) {
      return choice ? choice : first;
    }
    refused.insert({choice->candidate.template_name, choice->candidate.config});
    if (!first) first = std::move(choice);
  }
  return first;
}

}  // namespace kiln::tools
