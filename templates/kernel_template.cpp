// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernel_template.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "templates/space/space_program.hpp"
#include "templates/space/tunable_value.hpp"
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

std::string struct_text(std::string_view type, const std::vector<ConfigField>& fields,
                        std::span<const std::int64_t> values) {
  const bool has_bases =
      std::ranges::any_of(fields, [](const ConfigField& field) { return !field.base.empty(); });
  std::string text = fmt::format("{}{{", type);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& base = fields[i].base;
    const bool begins_base = !base.empty() && (i == 0 || fields[i - 1].base != base);
    const bool ends_base = !base.empty() && (i + 1 == fields.size() || fields[i + 1].base != base);
    if (i > 0) text += ", ";
    if (begins_base) text += "{";
    if (!has_bases || !base.empty()) text += fmt::format(".{} = ", fields[i].name);
    if (is_named_value(values[i])) text += fields[i].type + "::";
    text += value_text(values[i]);
    if (ends_base) text += "}";
  }
  return text + "}";
}

const std::string& KernelTemplate::arch_text() const {
  static const std::string any = "any";
  return arch_ ? arch_->text() : any;
}

std::vector<std::string> KernelTemplate::macros() const {
  std::vector<std::string> names;
  if (!config_type_.empty()) return names;
  for (const ConfigField& field : fields_) names.push_back(field.name);
  return names;
}

bool KernelTemplate::is_at_launch(std::string_view name) const {
  return std::any_of(launch_fields_.begin(), launch_fields_.end(),
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
  return priority_ ? priority_->text() : none;
}

std::int64_t KernelTemplate::priority(const Problem& problem, const DeviceLimits& limits) const {
  return priority_ ? priority_->evaluate(fixed_values(problem, limits)).value_or(0) : 0;
}

std::optional<std::string> KernelTemplate::why_unsupported(const Problem& problem,
                                                           const DeviceLimits& limits) const {
  if (problem.operation != operation_) {
    return fmt::format("{} computes {}, not {}", name_, operation_, problem.operation);
  }
  if (arch_ && arch_->evaluate(device_values(limits)).value_or(0) == 0) {
    return fmt::format("{} needs {}, but this is {}", name_, arch_->text(),
                       limits.arch.empty() ? fmt::format("sm_{}", limits.sm) : limits.arch);
  }
  // Of several rows the closest one explains best.
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  std::string reason;
  for (const auto& row : type_rows_) {
    std::size_t refused = 0;
    auto text = what_row_refuses(row, problem, refused);
    if (refused < fewest) {
      fewest = refused;
      reason = std::move(text);
    }
  }
  if (fewest > 0) return fmt::format("{} does not take {}", name_, reason);
  if (!problem.epilogue.empty() && !takes_epilogue_) {
    return fmt::format("{} does not take epilogues", name_);
  }
  // Such a requirement concerns the problem, whatever the configuration.
  if (const auto failure = space(problem, limits).why_impossible()) {
    return fmt::format("{}: {}", name_, *failure);
  }
  return std::nullopt;
}

std::vector<std::int64_t> KernelTemplate::fixed_values(const Problem& problem,
                                                       const DeviceLimits& limits) const {
  auto values = problem_values(*find_operation(operation_), problem, limits);
  values.resize(static_cast<std::size_t>(names_.size()), 0);
  return values;
}

ParamSpace KernelTemplate::space(const Problem& problem, const DeviceLimits& limits) const {
  return {layout_, fixed_values(problem, limits),
          fmt::format("{}:1:1: the template {}", file_, name_)};
}

// Without a ParamSpace: a valid candidate is bound many times.
std::vector<std::int64_t> KernelTemplate::bind(const Config& config, const Problem& problem,
                                               const DeviceLimits& limits) const {
  auto values = fixed_values(problem, limits);
  for (std::size_t i = 0; i < tunables_.size(); ++i) {
    values[static_cast<std::size_t>(layout_->tunable_slots()[i])] = config.at(tunables_[i].name);
  }
  for (std::size_t i = 0; i < derived_.size(); ++i) {
    const auto& let = derived_[i];
    const auto value = let.value.evaluate(values);
    if (!value) {
      throw Error(ErrorKind::usage, fmt::format("{}: {} is undefined for \"{}\"", name_, let.name,
                                                config.canonical()));
    }
    values[static_cast<std::size_t>(layout_->derived_slots()[i])] = *value;
  }
  return values;
}

// Tunables were checked against their type when the file was read; lets can outgrow it.
std::int64_t KernelTemplate::field_value(const ConfigField& field, const Config& config,
                                         std::span<const std::int64_t> values) const {
  const auto value = values[static_cast<std::size_t>(field.slot)];
  const bool is_flag = field.type == "bool";
  const bool is_number = is_flag || field.type == "int";
  const bool fits =
      is_flag ? value == 0 || value == 1
              : std::in_range<std::int32_t>(value) || (!is_number && is_named_value(value));
  if (!fits) {
    throw Error(ErrorKind::template_,
                fmt::format("{}: {} = {} does not fit {} {}; the configuration is \"{}\"", file_,
                            field.name, value, config_type_.empty() ? "an" : "the field's",
                            is_flag ? "bool" : "int", config.canonical()));
  }
  return value;
}

std::vector<NamedValue> KernelTemplate::config_fields(const Config& config, const Problem& problem,
                                                      const DeviceLimits& limits) const {
  const auto values = bind(config, problem, limits);
  std::vector<NamedValue> fields;
  for (const auto& field : fields_) {
    fields.push_back({field.name, field_value(field, config, values)});
  }
  return fields;
}

}  // namespace kiln
