// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/declared_flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "templates/operation/problem_flag.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/printable.hpp"
#include "tools/command_line/whole_number.hpp"

namespace kiln::tools {
namespace {

/// Those that run kernels on data.
constexpr std::array<std::string_view, 4> kDataVerbs{"bench", "run", "tune", "verify"};

/// Of a slot that may have any type.
constexpr DType kUsualType = DType::f32;

bool may_have(const std::vector<DType>& allowed, DType type) {
  return allowed.empty() || std::ranges::find(allowed, type) != allowed.end();
}

DType usual_type(const std::vector<DType>& allowed) {
  return allowed.empty() ? kUsualType : allowed.front();
}

/// What the checks of the parser have let through.
std::int64_t whole(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Scalar number(std::string_view flag, NumberType type, const std::string& text) {
  const auto value = read_scalar(type, text);
  if (!value) throw Error(ErrorKind::usage, fmt::format("{}: {} is not a number", flag, text));
  const std::string why = why_not_of_type(type, *value, text);
  if (!why.empty()) throw Error(ErrorKind::usage, fmt::format("{}: {}", flag, why));
  return *value;
}

std::string described(const std::string& comment, const std::string& otherwise) {
  return comment.empty() ? otherwise : comment;
}

CLI::Validator one_of_values(const std::vector<std::int64_t>& values) {
  const auto check = [values](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const auto* const last = text.data() + text.size();
    const auto [end, status] = std::from_chars(text.data(), last, value);
    const bool is_whole = status == std::errc{} && end == last;
    if (is_whole && std::ranges::find(values, value) != values.end()) return "";
    return fmt::format("{} is not one of {}", text, fmt::join(values, ", "));
  };
  return {check, ""};
}

/// The one type of all slots, if flags can say so in one word.
std::optional<DType> common_type(const Operation& operation, const Problem& problem) {
  if (problem.types.empty()) return std::nullopt;
  const DType type = problem.types.front().type;
  for (const NamedType& each : problem.types) {
    if (each.type != type) return std::nullopt;
  }
  const bool fits = std::ranges::all_of(
      operation.slots, [&](const auto& allowed) { return may_have(allowed, type); },
      &TypeSlotSpec::types);
  return fits ? std::optional(type) : std::nullopt;
}

/// The sizes of a problem without those that have their default.
std::vector<NamedValue> needed_sizes(const Operation& operation, const Problem& problem) {
  std::vector<NamedValue> sizes = problem.sizes;
  for (const SizeSpec& spec : operation.sizes) {
    if (!spec.value) continue;
    std::vector<NamedValue> others = sizes;
    std::erase_if(others, [&](const NamedValue& size) { return size.name == spec.name; });
    if (operation.with_defaults(others) == problem.sizes) sizes = std::move(others);
  }
  return sizes;
}

}  // namespace

DeclaredFlags::Flag& DeclaredFlags::add(CLI::App& verb, const std::string& name, const char* kind,
                                        const std::string& text) {
  Flag& flag = flags_.emplace_back();
  flag.name = problem_flag(operation_.name, name);
  verb.add_option(flag.name, flag.text, text)->type_name(kind)->group(std::string(kProblemGroup));
  return flag;
}

void DeclaredFlags::add_to(CLI::App& verb) {
  for (const SizeSpec& size : operation_.sizes) {
    std::string text = described(size.comment, "Size " + size.name);
    if (size.value) text += fmt::format(" (default {})", size.value->text());
    Flag& flag = add(verb, size.name, "N", text);
    verb.get_option(flag.name)->check(whole_number(size.least, size.most));
    sizes_.push_back(&flag);
  }
  if (!operation_.slots.empty()) {
    Flag& flag = flags_.emplace_back(Flag{"--dtype", ""});
    verb.add_option(flag.name, flag.text, "Type to use for every operand that allows it")
        ->type_name("TYPE")
        ->group(std::string(kProblemGroup));
    dtype_ = &flag;
  }
  for (const TypeSlotSpec& slot : operation_.slots) {
    std::string text =
        fmt::format("Type of {} (default {})", slot.name, to_string(usual_type(slot.types)));
    types_.push_back(&add(verb, slot.name, "TYPE", text));
  }
  for (const TraitSpec& trait : operation_.traits) {
    const std::string text = described(trait.comment, "Trait " + trait.name);
    Flag& flag = add(verb, trait.name, "N",
                     fmt::format("{}: {} (default {})", text, fmt::join(trait.values, ", "),
                                 trait.values.front()));
    verb.get_option(flag.name)->check(one_of_values(trait.values));
    traits_.push_back(&flag);
  }
  for (const ScalarSpec& scalar : operation_.scalars) {
    const std::string text = described(scalar.comment, "Scalar " + scalar.name);
    scalars_.push_back(&add(verb, scalar.name, "X",
                            fmt::format("{} (default {})", text, scalar_text(scalar.value))));
  }
  add_data_to(verb);
}

void DeclaredFlags::add_data_to(CLI::App& verb) {
  takes_data_ = std::ranges::find(kDataVerbs, verb.get_name()) != kDataVerbs.end();
  if (!takes_data_) return;
  verb.add_option("--data", data_,
                  "Data of an operand: a .npy file, or a file of nothing but the elements; may be "
                  "repeated")
      ->type_name("OPERAND=FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group(std::string(kProblemGroup));
}

std::vector<GivenData> DeclaredFlags::data() const {
  std::vector<GivenData> given;
  for (const std::string& text : data_) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorKind::usage,
                  fmt::format("--data {}: write the name of an operand, '=' and a file, as in "
                              "--data {}=FILE",
                              text, operation_.operands.front().name));
    }
    given.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return given;
}

std::vector<std::string> DeclaredFlags::size_flags() const {
  std::vector<std::string> flags;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    if (!operation_.sizes[i].value) flags.push_back(sizes_[i]->name);
  }
  return flags;
}

std::vector<NamedType> DeclaredFlags::types() const {
  std::optional<DType> common;
  if (dtype_ != nullptr && !dtype_->text.empty()) {
    common = checked_dtype(dtype_->name, dtype_->text);
    const bool fits = std::ranges::any_of(
        operation_.slots, [&](const auto& allowed) { return may_have(allowed, *common); },
        &TypeSlotSpec::types);
    if (!fits) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "{} {}: no operand of {} can have this type; `kiln operations {}` lists the types",
              dtype_->name, dtype_->text, operation_.name, operation_.name));
    }
  }
  std::vector<NamedType> types;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const auto& allowed = operation_.slots[i].types;
    const Flag& flag = *types_[i];
    DType type = common && may_have(allowed, *common) ? *common : usual_type(allowed);
    if (!flag.text.empty()) {
      type = checked_dtype(flag.name, flag.text);
      if (!may_have(allowed, type)) {
        std::vector<std::string_view> names;
        for (const DType each : allowed) names.push_back(to_string(each));
        throw Error(ErrorKind::usage,
                    fmt::format("{} {}: this operand cannot have this type; choose from {}",
                                flag.name, flag.text, fmt::join(names, ", ")));
      }
    }
    types.push_back({operation_.slots[i].name, type});
  }
  return types;
}

ProblemCase DeclaredFlags::request(std::int64_t default_size) const {
  Problem problem;
  problem.operation = operation_.name;
  for (std::size_t i = 0; i < sizes_.size(); ++i) {
    const SizeSpec& spec = operation_.sizes[i];
    const std::string& text = sizes_[i]->text;
    if (spec.value && text.empty()) continue;
    problem.sizes.push_back(
        {spec.name, text.empty() ? std::clamp(default_size, spec.least, spec.most) : whole(text)});
  }
  problem.sizes = operation_.with_defaults(std::move(problem.sizes));
  problem.types = types();
  for (std::size_t i = 0; i < traits_.size(); ++i) {
    const TraitSpec& spec = operation_.traits[i];
    const std::string& text = traits_[i]->text;
    problem.traits.push_back({spec.name, text.empty() ? spec.values.front() : whole(text)});
  }
  std::vector<NamedScalar> scalars;
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    const std::string& text = scalars_[i]->text;
    if (text.empty()) continue;
    const ScalarSpec& spec = operation_.scalars[i];
    scalars.push_back({spec.name, number(scalars_[i]->name, spec.type, text)});
  }
  ProblemCase one = declared_case(operation_, problem, scalars);
  if (takes_data_) attach_data(operation_, data(), one);
  return one;
}

std::string declared_flags_text(const Operation& operation, const ProblemCase& one) {
  std::vector<std::string> words;
  const auto add = [&](const std::string& name, const auto& value) {
    words.push_back(fmt::format("{} {}", problem_flag(operation.name, name), value));
  };
  for (const NamedValue& size : needed_sizes(operation, one.problem)) add(size.name, size.value);
  if (const auto common = common_type(operation, one.problem)) {
    const bool usual = std::ranges::all_of(
        operation.slots, [&](const auto& allowed) { return usual_type(allowed) == *common; },
        &TypeSlotSpec::types);
    if (!usual) words.push_back(fmt::format("--dtype {}", to_string(*common)));
  } else {
    for (std::size_t i = 0; i < one.problem.types.size(); ++i) {
      const auto& [slot, type] = one.problem.types[i];
      if (type != usual_type(operation.slots[i].types)) add(slot, to_string(type));
    }
  }
  for (std::size_t i = 0; i < operation.traits.size(); ++i) {
    const auto& [name, value] = one.problem.traits[i];
    if (value != operation.traits[i].values.front()) add(name, value);
  }
  for (std::size_t i = 0; i < operation.scalars.size(); ++i) {
    const ScalarSpec& scalar = operation.scalars[i];
    if (one.scalars[i] != scalar.value) add(scalar.name, scalar_text(one.scalars[i]));
  }
  for (const OperandPlan& operand : one.operands) {
    if (operand.data.path.empty()) continue;
    words.push_back("--data " + shell_word(fmt::format("{}={}", operand.name, operand.data.path)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace kiln::tools
