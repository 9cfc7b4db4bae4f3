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
#include "templates/operation/operation.hpp"
#include "templates/render/renderer.hpp"
#include "tools/choice.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/output/json.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct RenderOptions {
  std::string template_name;
  std::vector<std::string> set;
  std::string arch;
  std::string output;
  ProblemFlags problem;
};

/// Sizes do not enter the text; they only decide which configurations are valid. Where none is
/// given, any that takes the configuration will do.
std::pair<Problem, Config> choose_for_some_size(const KernelTemplate& kernel_template,
                                                const DeviceLimits& limits,
                                                const RenderOptions& options) {
  const Choices choices = parse_choices("--set", options.set);
  std::optional<Error> refused;
  for (const std::int64_t size :
       {kDefaultSize, kDefaultSize / 4, kDefaultSize / 16, kDefaultSize / 64}) {
    const Problem problem = options.problem.request(size).problem;
    try {
      return {problem, choose_config(kernel_template, problem, limits, choices)};
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      if (!refused) refused = error;
    }
    if (options.problem.missing_sizes().empty()) break;
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

Action add_render(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<RenderOptions>();
  verb.add_option("template", options->template_name,
                  "Name of the template, as `kiln templates` lists it")
      ->required()
      ->type_name("TEMPLATE");
  verb.add_option("--set", options->set,
                  "Fix the values of some tunables. The other tunables stay as close to their "
                  "defaults as possible")
      ->type_name("NAME=V,...");
  verb.add_option(
          "--arch", options->arch,
          "Assume a GPU with the hardware limits of ARCH (default: the limits of the device)")
      ->type_name("ARCH");
  verb.add_option("-o,--output", options->output, "File to write (default: stdout)")
      ->type_name("FILE");
  options->problem.add_to(verb, operation, ProblemFlags::Word::none);
  return [options](Context& context) { return render_template(context, *options); };
}

}  // namespace kiln::tools
