// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/selection.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "kiln/error.hpp"

namespace kiln::tools {

void SelectionFlags::add_to(CLI::App& verb) {
  verb.add_option("--template", template_name_, "This template, not what the database answers")
      ->type_name("NAME");
  verb.add_option("--set", set_,
                  "Values of its tunables; the rest is as near to the default as is valid")
      ->type_name("NAME=V,...");
}

void SelectionFlags::check_usage() const {
  if (!set_.empty() && template_name_.empty()) {
    throw Error(ErrorKind::usage, "--set: say of which template, like --template gemm_wmma");
  }
}

std::vector<std::string> SelectionFlags::templates() const {
  if (template_name_.empty()) return {};
  return {template_name_};
}

std::optional<Chosen> SelectionFlags::choose(Context& context, const Problem& problem,
                                             const DeviceInfo& device,
                                             const std::string& toolkit) const {
  if (template_name_.empty()) return choose_as_runtime(context, problem, device, toolkit);
  const KernelTemplate& kernel_template = context.catalog().at(template_name_);
  return Chosen{{kernel_template.name(), choose_config(kernel_template, problem, device.limits,
                                                       parse_choices("--set", set_))},
                Match::none,
                "chosen on the command line"};
}

std::string why_uncomputed(Context& context, const GemmRequest& request,
                           const DeviceLimits& limits) {
  std::string text = fmt::format("no template computes {}:", heading_text(request.gemm));
  const auto space = make_search_space(context.catalog(), to_problem(request.gemm), limits, {}, {});
  for (const auto& reason : space.unsupported) text += fmt::format("\n  {}", reason);
  return text;
}

std::string_view source_text(const Chosen& chosen) {
  return chosen.match == Match::none ? "chosen" : to_string(chosen.match);
}

std::string taken_text(const Chosen& chosen) {
  if (chosen.match == Match::none) return chosen.reason;
  return fmt::format("{}: {}", to_string(chosen.match), chosen.reason);
}

}  // namespace kiln::tools
