// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation.hpp"
#include "templates/renderer.hpp"
#include "tools/choice.hpp"
#include "tools/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/problem_flags.hpp"
#include "tools/verbs.hpp"

namespace kiln::tools {
namespace {

struct RenderOptions {
  std::string template_name;
  std::vector<std::string> set;
  std::string arch;
  std::string output;
  ProblemFlags problem;
};

/// The type that a template takes for a slot, the first of those that it lists.
DType first_type(const TypeRow& row, std::string_view name) {
  const auto slot = std::ranges::find(row.slots, name, &TypeRow::Slot::name);
  return slot->allowed.empty() ? first_type(row, slot->same_as.front()) : slot->allowed.front();
}

/// A problem that has no flags of its own: one of a declared operation, with the template's first
/// types and sizes as near to `size` as they may be.
Problem some_problem(const KernelTemplate& kernel_template, std::int64_t size) {
  const Operation& operation = *find_operation(kernel_template.operation());
  const TypeRow& row = kernel_template.type_rows().front();
  Problem problem;
  problem.operation = operation.name;
  for (const SizeSpec& each : operation.sizes) {
    problem.sizes.push_back({each.name, std::clamp(size, each.least, each.most)});
  }
  for (const auto& slot : operation.type_slots) {
    problem.types.push_back({slot, first_type(row, slot)});
  }
  for (const TraitSpec& trait : operation.traits) {
    problem.traits.push_back({trait.name, trait.values.front()});
  }
  return problem;
}

/// Sizes do not enter the text; they only decide which configurations are valid. Where none is
/// given, any that takes the configuration will do.
std::pair<Problem, Config> choose_for_some_size(const KernelTemplate& kernel_template,
                                                const DeviceLimits& limits,
                                                const RenderOptions& options) {
  const Choices choices = parse_choices("--set", options.set);
  const bool is_declared = find_operation(kernel_template.operation())->reference.has_value();
  if (is_declared && options.problem.given()) {
    throw Error(ErrorKind::usage,
                fmt::format("{} computes {}, and the flags of a problem are those of gemm; leave "
                            "them out, --set chooses values of tunables",
                            kernel_template.name(), kernel_template.operation()));
  }
  std::optional<Error> refused;
  for (const std::int64_t size :
       {kDefaultSize, kDefaultSize / 4, kDefaultSize / 16, kDefaultSize / 64}) {
    const Problem problem = is_declared ? some_problem(kernel_template, size)
                                        : to_problem(options.problem.request(size).gemm);
    try {
      return {problem, choose_config(kernel_template, problem, limits, choices)};
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      if (!refused) refused = error;
    }
    if (!is_declared && options.problem.missing_sizes().empty()) break;
  }
  throw *refused;
}

int render_template(Context& context, const RenderOptions& options) {
  const Catalog& catalog = context.catalog();
  const KernelTemplate& kernel_template = catalog.at(options.template_name);
  const DeviceLimits limits = context.limits(options.arch);
  const auto [problem, config] = choose_for_some_size(kernel_template, limits, options);
  const auto rendered = render(catalog, kernel_template, config, problem, limits);
  if (context.flags.verbose) context.note("configuration " + config.canonical());
  if (!context.flags.json) {
    write_file(options.output, rendered.text);
    return kExitOk;
  }
  Json document = json_document("render");
  document["template"] = rendered.template_name;
  document["template_digest"] = rendered.template_digest;
  document["config"] = to_json(rendered.config);
  document["digest"] = rendered.digest;
  document["name_expressions"] = rendered.name_expressions;
  document["text"] = rendered.text;
  write_file(options.output, json_text(document));
  return kExitOk;
}

}  // namespace

Action add_render(CLI::App& verb) {
  auto options = std::make_shared<RenderOptions>();
  verb.add_option("template", options->template_name,
                  "Name of the template, as `kiln templates` lists it")
      ->required()
      ->type_name("TEMPLATE");
  verb.add_option("--set", options->set,
                  "Values of tunables; the others stay close to their defaults")
      ->type_name("NAME=V,...");
  verb.add_option("--arch", options->arch,
                  "Obey the limits of this architecture (default: of the device)")
      ->type_name("ARCH");
  verb.add_option("-o,--output", options->output, "File to write (default: stdout)")
      ->type_name("FILE");
  options->problem.add_to(verb, ProblemFlags::Operation::none);
  return [options](Context& context) { return render_template(context, *options); };
}

}  // namespace kiln::tools
