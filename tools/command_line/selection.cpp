// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/selection.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kiln/error.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln::tools {

void SelectionFlags::add_to(CLI::App& verb) {
  verb.add_option("--template", template_name_,
                  "Use a kernel of TEMPLATE (default: the kernel that an application would get)")
      ->type_name("TEMPLATE");
  verb.add_option("--set", set_,
                  "With --template: fix the values of some tunables. The other tunables stay as "
                  "close to their defaults as possible")
      ->type_name("NAME=V,...");
}

void SelectionFlags::check_usage() const {
  if (!set_.empty() && template_name_.empty()) {
    throw Error(ErrorKind::usage, std::string(kSetNeedsTemplate));
  }
}

std::vector<std::string> SelectionFlags::templates() const {
  if (template_name_.empty()) return {};
  return {template_name_};
}

Chosen SelectionFlags::choose(Context& context, const Problem& problem, const DeviceInfo& device,
                              const std::string& toolkit, const FindDrawback& drawback_of) const {
  require_kernel(problem);
  if (template_name_.empty()) {
    const auto found = choose_as_runtime(context, problem, device, toolkit, drawback_of);
    if (found) return *found;
    std::string text = fmt::format("no template computes {}:", heading_text(problem));
    const auto space = make_search_space(context.catalog(), problem, device.limits);
    for (const auto& reason : space.unsupported) text += fmt::format("\n  {}", reason);
    throw Error(ErrorKind::not_found, text);
  }
  const KernelTemplate& kernel_template = context.catalog().at(template_name_, problem.operation);
  return {{kernel_template.name(),
           choose_config(kernel_template, problem, device.limits, parse_choices("--set", set_))},
          Match::none,
          "chosen on the command line",
          ""};
}

ParamSpace SelectionFlags::space(Context& context, const std::string& template_name,
                                 const Problem& problem, const DeviceLimits& limits) const {
  const ParamSpace all = context.catalog().at(template_name).space(problem, limits);
  return set_.empty() ? all : all.narrowed(parse_choices("--set", set_));
}

std::string_view source_text(const Chosen& chosen) {
  return chosen.match == Match::none ? "chosen" : to_string(chosen.match);
}

void add_choice(FactSheet& facts, const Chosen& chosen) {
  facts.add("template", chosen.candidate.template_name);
  facts.add("config", chosen.candidate.config.canonical());
  facts.add("choice", chosen.match == Match::none
                          ? chosen.reason
                          : fmt::format("{}: {}", to_string(chosen.match), chosen.reason));
}

Json choice_json(const Chosen& chosen) {
  return {{"template", chosen.candidate.template_name},
          {"config", to_json(chosen.candidate.config)},
          {"taken", source_text(chosen)},
          {"reason", chosen.reason}};
}

}  // namespace kiln::tools
