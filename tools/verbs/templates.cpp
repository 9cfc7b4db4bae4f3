// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "templates/front_matter/compile_line.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/operation/operation.hpp"
#include "templates/space/tunable_value.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct TemplatesOptions {
  std::string name;
  std::string arch;
  bool names = false;
  ProblemFlags problem;
};

std::string types_text(const TypeRow& row) {
  std::string text;
  for (const auto& slot : row.slots) {
    std::vector<std::string> choices = slot.same_as;
    for (const auto type : slot.allowed) choices.emplace_back(to_string(type));
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", slot.name, fmt::join(choices, "|"));
  }
  return text;
}

/// Many integers at equal distances, or each the same multiple of the one before, as the range that
/// a `tune` line has for them; else "".
std::string range_text(const std::vector<std::int64_t>& values) {
  constexpr std::size_t kLeast = 12;
  if (values.size() < kLeast || std::ranges::any_of(values, [](std::int64_t value) {
        return is_named_value(value) || is_real_value(value);
      })) {
    return "";
  }
  const std::int64_t step = values[1] - values[0];
  const std::int64_t factor = values[0] > 0 ? values[1] / values[0] : 0;
  const auto each = [&](const auto& follows) {
    return std::ranges::adjacent_find(values, std::not_fn(follows)) == values.end();
  };
  if (each([&](std::int64_t one, std::int64_t next) { return next - one == step; })) {
    return fmt::format("{}:{}{}", values.front(), values.back(),
                       step == 1 ? "" : fmt::format(":{}", step));
  }
  if (factor > 1 &&
      each([&](std::int64_t one, std::int64_t next) { return next == one * factor; })) {
    return fmt::format("{}..{} x{}", values.front(), values.back(), factor);
  }
  return "";
}

std::string values_text(const Tunable& tunable) {
  if (const std::string range = range_text(tunable.values); !range.empty()) {
    return fmt::format("{} default {}", range, value_text(tunable.default_value));
  }
  std::string text;
  for (const auto value : tunable.values) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", value_text(value),
                        value == tunable.default_value ? "*" : "");
  }
  return text;
}

/// Combinations before any requirement, saturating.
std::uint64_t raw_size(const KernelTemplate& kernel_template) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t size = 1;
  for (const auto& tunable : kernel_template.space_spec().tunables) {
    if (size > kMost / tunable.values.size()) return kMost;
    size *= tunable.values.size();
  }
  return size;
}

std::string extents_text(const std::vector<Expression>& extents) {
  std::string text;
  for (const Expression& extent : extents) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", extent.text());
  }
  return text;
}

/// "softmax_rows<x, block_size>(x, y, rows, cols), grid rows, block block_size": a kernel as its
/// launch names and calls it; without arguments, those of the operation's one struct.
std::string launch_text(const KernelTemplate& kernel_template, const LaunchSpec& launch) {
  std::string text = launch.kernel;
  if (launch.template_arguments) text += fmt::format("<{}>", *launch.template_arguments);
  if (!launch.args.empty()) {
    const Operation& operation = *find_operation(kernel_template.operation());
    text += fmt::format("({})", argument_text(launch.args, operation));
  }
  text += fmt::format(", grid {}, block {}", extents_text(launch.grid), extents_text(launch.block));
  if (!launch.repeat) return text;
  text += fmt::format(", repeated {} times", launch.repeat->times.text());
  const int others = launch.repeat->launches - 1;
  if (others > 0)
    text += fmt::format(" with the next {}",
                        others == 1 ? "launch" : fmt::format("{} launches", others));
  return text;
}

/// "partial f32: ceil_div(n, tile)": a scratch array, as its line has it.
std::string scratch_text(const ScratchSpec& scratch) {
  return fmt::format("{} {}: {}", scratch.name, scratch.type, extents_text(scratch.extents));
}

Json template_json(const Catalog& catalog, const KernelTemplate& kernel_template) {
  Json json;
  json["name"] = kernel_template.name();
  json["purpose"] = kernel_template.purpose();
  json["operation"] = kernel_template.operation();
  json["digest"] = catalog.digest(kernel_template.name());
  json["arch"] = kernel_template.arch_text();
  json["types"] = Json::array();
  for (const auto& row : kernel_template.type_rows()) json["types"].push_back(types_text(row));
  json["tunables"] = Json::array();
  for (const auto& tunable : kernel_template.space_spec().tunables) {
    Json values = Json::array();
    for (const auto value : tunable.values) values.push_back(value_json(value));
    json["tunables"].push_back({{"name", tunable.name},
                                {"values", std::move(values)},
                                {"default", value_json(tunable.default_value)},
                                {"at_launch", kernel_template.is_at_launch(tunable.name)},
                                {"comment", tunable.comment}});
  }
  json["launches"] = Json::array();
  for (const auto& launch : kernel_template.launches()) {
    json["launches"].push_back(launch_text(kernel_template, launch));
  }
  json["scratch"] = Json::array();
  for (const ScratchSpec& scratch : kernel_template.run_spec().scratch) {
    json["scratch"].push_back(scratch_text(scratch));
  }
  json["constants"] = Json::array();
  for (const ConstantSpec& constant : kernel_template.constants()) {
    json["constants"].push_back(
        constant_text(constant, *find_operation(kernel_template.operation())));
  }
  json["compile"] = Json::array();
  for (const CompileItem& item : kernel_template.compile_items()) {
    json["compile"].push_back(compile_item_text(item));
  }
  json["priority"] = kernel_template.priority_text();
  json["epilogue"] = kernel_template.takes_epilogue();
  const auto conditions = [](const std::vector<Requirement>& of) {
    Json list = Json::array();
    for (const auto& one : of) {
      list.push_back({{"condition", one.condition.text()}, {"why", one.message}});
    }
    return list;
  };
  json["requirements"] = conditions(kernel_template.space_spec().requirements);
  json["preferences"] = conditions(kernel_template.space_spec().preferences);
  json["usual"] = Json::array();
  for (const Config& usual : kernel_template.space_spec().usual)
    json["usual"].push_back(to_json(usual));
  json["raw_size"] = raw_size(kernel_template);
  return json;
}

/// A section with a line for each condition; nothing where there are none.
std::string conditions_text(std::string_view heading, const std::vector<Requirement>& conditions) {
  if (conditions.empty()) return "";
  std::string text = fmt::format("\n{}\n", heading);
  for (const auto& one : conditions) {
    text += fmt::format("  {}{}\n", one.condition.text(),
                        one.message.empty() ? "" : "   // " + one.message);
  }
  return text;
}

/// A section with a line for each usual configuration; nothing where there are none.
std::string usual_text(const KernelTemplate& kernel_template) {
  if (kernel_template.space_spec().usual.empty()) return "";
  std::string text =
      "\nusual configurations (each line shows only the values that differ from the defaults)\n";
  for (const Config& usual : kernel_template.space_spec().usual) {
    Config named;
    for (const auto& tunable : kernel_template.space_spec().tunables) {
      const auto value = usual.at(tunable.name);
      if (value != tunable.default_value) named.set(tunable.name, value);
    }
    text += fmt::format("  {}\n", named.empty() ? "all defaults" : named.canonical());
  }
  return text;
}

/// What the template offers for one problem.
struct Offer {
  Problem problem;
  DeviceLimits limits;
  std::string why_not;  ///< empty when supported
  std::uint64_t valid = 0;
  std::uint64_t preferred = 0;
  std::optional<Config> default_config;
};

Offer offer_of(const KernelTemplate& kernel_template, const Problem& problem,
               const DeviceLimits& limits) {
  Offer offer{problem, limits, "", 0, 0, std::nullopt};
  if (auto why = kernel_template.why_unsupported(problem, limits)) {
    offer.why_not = std::move(*why);
    return offer;
  }
  const ParamSpace space = kernel_template.space(problem, limits);
  offer.valid = space.count();
  offer.preferred = space.preferred().count();
  offer.default_config = space.default_config();
  if (offer.valid == 0) {
    offer.why_not = space.why_empty().value_or("the requirements exclude every configuration");
  }
  return offer;
}

void add_offer(Json& json, const Offer& offer) {
  json["problem"] = to_json(offer.problem);
  json["limits_of"] = offer.limits.arch;
  json["valid_size"] = offer.valid;
  json["preferred_size"] = offer.preferred;
  if (!offer.why_not.empty()) json["unsupported"] = offer.why_not;
  if (offer.default_config) json["default_config"] = to_json(*offer.default_config);
}

/// The problem that was asked about. Sizes that were left out are taken as kDefaultSize, and said
/// to be when others were not: then they are no matter of indifference.
Problem asked_problem(const Context& context, const TemplatesOptions& options) {
  const auto missing = options.problem.missing_sizes();
  if (!missing.empty() && options.problem.has_sizes()) {
    context.note(fmt::format("missing sizes: {}; Kiln uses {} for each of these sizes",
                             fmt::join(missing, ", "), kDefaultSize));
  }
  return options.problem.request(kDefaultSize).problem;
}

int list_for_problem(Context& context, const TemplatesOptions& options) {
  const Problem problem = asked_problem(context, options);
  const DeviceLimits limits = context.limits(options.arch);
  Json document = json_document("templates");
  document["templates"] = Json::array();
  Table table({{"name"},
               {"combinations", Table::Align::right},
               {"valid", Table::Align::right},
               {"default configuration, or the reason why there is none"}});
  for (const auto& each : context.catalog().templates()) {
    const Offer offer = offer_of(each, problem, limits);
    if (context.flags.json) {
      Json json = template_json(context.catalog(), each);
      add_offer(json, offer);
      document["templates"].push_back(std::move(json));
    }
    table.add_row({each.name(), count_text(raw_size(each)), count_text(offer.valid),
                   offer.default_config ? offer.default_config->canonical() : offer.why_not});
  }
  context.print(context.flags.json ? json_text(document)
                                   : fmt::format("for {} on {}\n{}", heading_text(problem),
                                                 limits.arch, table.text()));
  return kExitOk;
}

int list_templates(Context& context, const TemplatesOptions& options) {
  const Catalog& catalog = context.catalog();
  if (options.names) {
    for (const auto& each : catalog.templates()) context.print(each.name() + "\n");
    return kExitOk;
  }
  if (options.problem.given()) return list_for_problem(context, options);
  if (context.flags.json) {
    Json document = json_document("templates");
    document["templates"] = Json::array();
    for (const auto& each : catalog.templates()) {
      document["templates"].push_back(template_json(catalog, each));
    }
    context.print(json_text(document));
    return kExitOk;
  }
  Table table({{"name"},
               {"operation"},
               {"tunables", Table::Align::right},
               {"combinations", Table::Align::right},
               {"purpose"}});
  for (const auto& each : catalog.templates()) {
    table.add_row({each.name(), each.operation(),
                   fmt::format("{}", each.space_spec().tunables.size()), count_text(raw_size(each)),
                   each.purpose()});
  }
  context.print(table.text());
  return kExitOk;
}

std::string template_text(const KernelTemplate& kernel_template) {
  std::string text = fmt::format("{}: {}\n\n", kernel_template.name(), kernel_template.purpose());
  FactSheet facts;
  facts.add("operation", kernel_template.operation());
  facts.add("arch", kernel_template.arch_text());
  facts.add("priority", kernel_template.priority_text());
  facts.add("epilogue", kernel_template.takes_epilogue() ? "yes" : "no");
  for (const auto& row : kernel_template.type_rows()) facts.add("types", types_text(row));
  for (const auto& launch : kernel_template.launches()) {
    // Kernels of a typed operation are all called in one way.
    if (!launch.args.empty()) facts.add("launch", launch_text(kernel_template, launch));
  }
  for (const ScratchSpec& scratch : kernel_template.run_spec().scratch) {
    facts.add("scratch", scratch_text(scratch));
  }
  for (const ConstantSpec& constant : kernel_template.constants()) {
    facts.add("constant", constant_text(constant, *find_operation(kernel_template.operation())));
  }
  for (const CompileItem& item : kernel_template.compile_items()) {
    facts.add("compile", compile_item_text(item));
  }
  text += facts.text();

  if (!kernel_template.space_spec().tunables.empty()) text += "\ntunables (* is the default)\n";
  FactSheet tunables;
  for (const auto& tunable : kernel_template.space_spec().tunables) {
    const bool at_launch = kernel_template.is_at_launch(tunable.name);
    tunables.add(tunable.name, fmt::format("{:<20}  {}{}", values_text(tunable), tunable.comment,
                                           at_launch ? " (at launch)" : ""));
  }
  text += tunables.text();

  text += conditions_text("requirements", kernel_template.space_spec().requirements);
  text += conditions_text("preferred", kernel_template.space_spec().preferences);
  return text + usual_text(kernel_template);
}

int describe_template(Context& context, const TemplatesOptions& options) {
  const Catalog& catalog = context.catalog();
  const KernelTemplate& kernel_template = catalog.at(options.name);
  std::optional<Offer> offer;
  std::string heading;
  if (options.problem.given()) {
    const Problem problem = asked_problem(context, options);
    heading = heading_text(problem);
    offer = offer_of(kernel_template, problem, context.limits(options.arch));
  }
  if (context.flags.json) {
    Json document = json_document("template");
    document.update(template_json(catalog, kernel_template));
    if (offer) add_offer(document, *offer);
    context.print(json_text(document));
    return kExitOk;
  }
  std::string text = template_text(kernel_template);
  text += fmt::format("\n{} combinations", count_text(raw_size(kernel_template)));
  if (!offer) {
    text += fmt::format("; give a problem ({} ...) to count the valid combinations\n",
                        fmt::join(options.problem.missing_sizes(), " "));
  } else if (!offer->why_not.empty()) {
    text += fmt::format("\nthis template does not support {} on {}: {}\n", heading,
                        offer->limits.arch, offer->why_not);
  } else {
    text += fmt::format(
        "; for {} on {}, {} are valid. {} of the valid combinations meet all "
        "preferences (`prefer` lines) of the template\ndefault  {}\n",
        heading, offer->limits.arch, count_text(offer->valid), count_text(offer->preferred),
        offer->default_config->canonical());
  }
  context.print(text);
  return kExitOk;
}

}  // namespace

Action add_templates(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<TemplatesOptions>();
  verb.add_option("name", options->name, "Template to describe in full")->type_name("TEMPLATE");
  verb.add_option(
          "--arch", options->arch,
          "Assume a GPU with the hardware limits of ARCH (default: the limits of the device)")
      ->type_name("ARCH");
  verb.add_flag("--names", options->names, "Print only the names, one per line");
  options->problem.add_to(verb, operation, ProblemFlags::Word::none);
  return [options](Context& context) {
    return options->name.empty() ? list_templates(context, *options)
                                 : describe_template(context, *options);
  };
}

}  // namespace kiln::tools
