// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernel_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "templates/front_matter/compile_line.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/operation/operation.hpp"
#include "templates/space/compile_settings.hpp"
#include "templates/space/space_program.hpp"
#include "templates/template_names.hpp"

namespace kiln {
namespace {

/// Whether the problem's type of that slot is one of those allowed.
bool accepts(const TypeRow::Slot& slot, const Problem& problem) {
  const auto type = problem.type(slot.name);
  if (!type) return false;
  const auto is_own = [&](DType allowed) { return allowed == *type; };
  const auto repeats = [&](const std::string& other) { return problem.type(other) == type; };
  return std::any_of(slot.allowed.begin(), slot.allowed.end(), is_own) ||
         std::any_of(slot.same_as.begin(), slot.same_as.end(), repeats);
}

/// "a=f16".
std::string slot_text(const std::string& slot, const Problem& problem) {
  const auto type = problem.type(slot);
  return fmt::format("{}={}", slot, type ? to_string(*type) : std::string_view("nothing"));
}

/// "d=f64 with a=f16": the slots that the row does not take, then those that these refer to.
std::string what_row_refuses(const TypeRow& row, const Problem& problem, std::size_t& refused) {
  std::vector<std::string> wrong;
  std::vector<std::string> beside;
  for (const auto& slot : row.slots) {
    if (accepts(slot, problem)) continue;
    wrong.push_back(slot_text(slot.name, problem));
    for (const auto& other : slot.same_as) beside.push_back(slot_text(other, problem));
  }
  std::erase_if(beside, [&](const std::string& text) {
    return std::find(wrong.begin(), wrong.end(), text) != wrong.end();
  });
  refused = wrong.size();
  std::string text = fmt::format("{}", fmt::join(wrong, " "));
  if (!beside.empty()) text += fmt::format(" with {}", fmt::join(beside, " "));
  return text;
}

}  // namespace

const std::string& KernelTemplate::arch_text() const {
  static const std::string any = "any";
  return parts_.support.arch ? parts_.support.arch->text() : any;
}

std::vector<std::string> KernelTemplate::macros() const {
  std::vector<std::string> names;
  if (!config_struct().type.empty()) return names;
  for (const ConfigField& field : config_struct().fields) names.push_back(field.name);
  return names;
}

bool KernelTemplate::is_at_launch(std::string_view name) const {
  return std::any_of(launch_struct().fields.begin(), launch_struct().fields.end(),
                     [&](const ConfigField& field) { return field.name == name; });
}

Config KernelTemplate::compiled_part(const Config& config) const {
  Config compiled;
  for (const auto& [name, value] : config.values()) {
    if (!is_at_launch(name)) compiled.set(name, value);
  }
  return compiled;
}

const std::string& KernelTemplate::priority_text() const {
  static const std::string none = "0";
  return parts_.support.priority ? parts_.support.priority->text() : none;
}

std::int64_t KernelTemplate::priority(const Problem& problem, const DeviceLimits& limits) const {
  const auto& rank = parts_.support.priority;
  return rank ? rank->evaluate(fixed_values(problem, limits)).value_or(0) : 0;
}

std::optional<std::string> KernelTemplate::why_unsupported(const Problem& problem,
                                                           const DeviceLimits& limits) const {
  if (problem.operation != operation()) {
    return fmt::format("the template {} computes the operation {}, not {}", name(), operation(),
                       problem.operation);
  }
  const auto& arch = parts_.support.arch;
  if (arch && arch->evaluate(device_values(limits)).value_or(0) == 0) {
    return fmt::format("the template {} needs {}, but this device is {}", name(), arch->text(),
                       limits.arch.empty() ? fmt::format("sm_{}", limits.sm) : limits.arch);
  }
  // Of several rows the closest one explains best.
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::string reason;
  for (const auto& row : type_rows()) {
    std::size_t refused = 0;
    auto text = what_row_refuses(row, problem, refused);
    if (refused < fewest) {
      fewest = refused;
      reason = std::move(text);
    }
  }
  if (fewest > 0) return fmt::format("the template {} does not accept {}", name(), reason);
  if (!problem.epilogue.empty() && !takes_epilogue()) {
    return fmt::format("the template {} does not accept epilogues", name());
  }
  // Such a requirement concerns the problem, whatever the configuration.
  if (const auto failure = space(problem, limits).why_impossible()) {
    return fmt::format("{}: {}", name(), *failure);
  }
  return std::nullopt;
}

std::vector<std::int64_t> KernelTemplate::fixed_values(const Problem& problem,
                                                       const DeviceLimits& limits) const {
  auto values = problem_values(*find_operation(operation()), problem, limits);
  values.resize(static_cast<std::size_t>(space_spec().names.size()), 0);
  return values;
}

ParamSpace KernelTemplate::space(const Problem& problem, const DeviceLimits& limits) const {
  return {space_spec().layout, fixed_values(problem, limits),
          fmt::format("{}:1:1: the template {}", file(), name())};
}

bool KernelTemplate::takes_settings() const {
  return space_spec().layout->takes_settings();
}

CompileOptions KernelTemplate::options_of(const Config& config, const Problem& problem,
                                          const DeviceLimits& limits) const {
  const CompileOptions settings = options_of_settings(config);
  if (compile_items().empty()) return settings;
  const Config tunables = without_settings(config);
  return combined(options_of_lines(compile_items(), space(problem, limits).bindings(tunables)),
                  settings);
}

std::vector<ConstantFill> KernelTemplate::constant_fills(const Problem& problem) const {
  return kiln::constant_fills(constants(), file(), *find_operation(operation()), problem);
}

std::string KernelTemplate::launch_place(std::size_t index) const {
  const LaunchSpec& launch = launches()[index];
  return fmt::format("{}:{}: launch of {}", file(), launch.line, launch.kernel);
}

}  // namespace kiln
