// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a T1 file says of a kernel's arguments: roles, extents, data, tolerances.
#include "tools/adopt/space_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tools/adopt/space.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

using PassedAs = SpaceArgument::Memory;

/// The element type of a T1 file's name for a type.
std::optional<DType> type_of_space(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, DType>, 14> kTypes{{{"int8", DType::s8},
                                                                       {"int16", DType::s16},
                                                                       {"int32", DType::s32},
                                                                       {"int64", DType::s64},
                                                                       {"uint8", DType::u8},
                                                                       {"uint16", DType::u16},
                                                                       {"uint32", DType::u32},
                                                                       {"uint64", DType::u64},
                                                                       {"float16", DType::f16},
                                                                       {"float32", DType::f32},
                                                                       {"float64", DType::f64},
                                                                       {"complex64", DType::cf32},
                                                                       {"complex128", DType::cf64},
                                                                       {"half", DType::f16}}};
  for (const auto& [known, type] : kTypes) {
    if (known == name) return type;
  }
  const auto element = element_type(name, {});
  return element ? std::optional(element->type) : std::nullopt;
}

/// Which argument of the T1 file each parameter of the kernel has, or nullptr: by name, or by
/// place if there are as many of both.
std::vector<const SpaceArgument*> arguments_of(const SpaceFile& space, const SourceKernel& kernel) {
  std::vector<const SpaceArgument*> passed;
  for (const auto& each : space.arguments) {
    if (each.memory == PassedAs::scalar || each.memory == PassedAs::vector) passed.push_back(&each);
  }
  std::vector<const SpaceArgument*> result;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto same = std::find_if(passed.begin(), passed.end(), [&](const SpaceArgument* each) {
      return each->name == kernel.parameters[i].name;
    });
    const bool has_place = passed.size() == kernel.parameters.size();
    result.push_back(same != passed.end() ? *same : has_place ? passed[i] : nullptr);
  }
  return result;
}

/// A number as front matter writes it.
std::string number_text(const PythonValue& value) {
  if (const auto* const real = std::get_if<double>(&value.value)) {
    return fmt::format("{}", *real);
  }
  if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
    return std::to_string(*integer);
  }
  const auto* const truth = std::get_if<bool>(&value.value);
  return truth == nullptr ? "" : *truth ? "true" : "false";
}

class ArgumentApplier {
 public:
  ArgumentApplier(const SpaceFile& space, AdoptionGuess& guess)
      : space_(space), guess_(guess), problem_(guess.problem) {}

  void run() {
    const SourceKernel& kernel = *guess_.kernels.front().source;
    const auto arguments = arguments_of(space_, kernel);
    // Extents of arrays are told by the values of sizes.
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] != nullptr && kernel.parameters[i].pointers == 0) {
        apply_number(*arguments[i], kernel.parameters[i].name);
      }
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (arguments[i] == nullptr || kernel.parameters[i].pointers == 0) continue;
      if (auto* const operand = find(kernel.parameters[i].name)) {
        apply_array(*arguments[i], *operand);
      }
    }
    for (const auto& each : space_.arguments) {
      if (each.memory != PassedAs::symbol) continue;
      if (auto* const operand = find(each.name)) apply_fill(each, *operand);
    }
    for (const auto& each : space_.tolerances) apply_tolerance(each);
  }

 private:
  OperandGuess* find(const std::string& parameter) {
    for (auto& each : problem_.operands) {
      if (each.parameter == parameter) return &each;
    }
    return nullptr;
  }

  void apply_number(const SpaceArgument& argument, const std::string& parameter) {
    if (!argument.value) return;
    const std::string value = number_text(*argument.value);
    for (auto& size : problem_.sizes) {
      if (size.parameter != parameter) continue;
      size.value = value;
      size.comment = fmt::format("{} in {}", value, space_.file);
    }
    for (auto& scalar : problem_.scalars) {
      if (scalar.parameter != parameter || value.empty()) continue;
      scalar.usual = value;
      scalar.comment = "";
    }
  }

  void apply_array(const SpaceArgument& argument, OperandGuess& operand) {
    const bool conflicts = operand.role == "in" && argument.role == "out" && operand.is_const;
    if (!argument.role.empty() && !conflicts && argument.role != operand.role) {
      operand.role_comment = fmt::format("CHECK: {} by the kernel's source, {} by {}", operand.role,
                                         argument.role, space_.file);
      operand.role = argument.role;
    } else if (argument.role == operand.role) {
      operand.role_comment = "";
    }
    apply_size(argument, operand);
    if (operand.role != "out") apply_fill(argument, operand);
  }

  /// Sizes whose product is the number of elements.
  void apply_size(const SpaceArgument& argument, OperandGuess& operand) {
    if (!argument.size) return;
    const std::int64_t parts = operand.element ? operand.element->parts : 1;
    const auto sizes = known_sizes();
    const auto guessed = std::ranges::find(sizes, operand.extents, &Sized::value_type::first);
    // The kernel's source suggests a longer array. A shorter one may have padding at its end.
    const bool is_too_long =
        guessed != sizes.end() && parts == 1 && guessed->second > *argument.size;
    if (operand.extents != kFillIn && !is_too_long) return;
    const auto take = [&](const std::string& extents) {
      operand.extents = extents;
      operand.extents_comment =
          fmt::format("CHECK: extents; {} elements in {}", *argument.size, space_.file);
    };
    for (const std::int64_t divisor : {std::int64_t{1}, parts}) {
      if (*argument.size % divisor != 0) continue;
      const std::string found = product_with_value(sizes, *argument.size / divisor);
      if (found.empty()) continue;
      return take(parts > 1 ? fmt::format("{}, {}", found, parts) : found);
    }
    if (is_too_long) return take(fmt::format("{}", *argument.size));
    operand.extents_comment += fmt::format("; {} elements in {}", *argument.size, space_.file);
  }

  using Sized = std::vector<std::pair<std::string, std::int64_t>>;
  /// The outermost first: kernels mostly take the length of a row before the number of rows.
  [[nodiscard]] Sized known_sizes() const {
    Sized sizes;
    for (const auto& each : grid_sizes(guess_.kernels.front(), problem_)) add_size(each, sizes);
    for (const auto& each : problem_.sizes) add_size(each.name, sizes);
    return sizes;
  }
  void add_size(const std::string& name, Sized& sizes) const {
    const bool is_known = std::any_of(sizes.begin(), sizes.end(),
                                      [&](const auto& each) { return each.first == name; });
    for (const auto& size : problem_.sizes) {
      const auto value = integer_literal(size.value);
      if (!is_known && size.name == name && value && *value > 1) sizes.emplace_back(name, *value);
    }
  }

  static std::string product_with_value(const Sized& sizes, std::int64_t value) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;  // of a size
    for (const auto& [a, of_a] : sizes) {
      if (of_a == value) return a;
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      for (std::size_t j = i + 1; j < sizes.size(); ++j) {
        const auto& [a, of_a] = sizes[i];
        const auto& [b, of_b] = sizes[j];
        if (of_a > kMost || of_b > kMost) continue;
        if (of_a * of_b == value) return fmt::format("{}, {}", a, b);
        for (std::size_t k = j + 1; k < sizes.size(); ++k) {
          const auto& [c, of_c] = sizes[k];
          if (value % of_c == 0 && of_a * of_b == value / of_c) {
            return fmt::format("{}, {}, {}", a, b, c);
          }
        }
      }
    }
    return "";
  }

  void apply_fill(const SpaceArgument& argument, OperandGuess& operand) const {
    const bool is_integer = operand.element && !is_complex(operand.element->type) &&
                            parse_number_type(to_string(operand.element->type)) &&
                            range_of(*parse_number_type(to_string(operand.element->type))).whole;
    const auto* const whole =
        argument.value ? std::get_if<std::int64_t>(&argument.value->value) : nullptr;
    const auto* const real = argument.value ? std::get_if<double>(&argument.value->value) : nullptr;
    constexpr double kMostReal = 9.0e15;
    const bool is_whole_real = real != nullptr && *real >= -kMostReal && *real <= kMostReal &&
                               static_cast<double>(static_cast<std::int64_t>(*real)) == *real;
    const std::int64_t value = whole != nullptr ? *whole
                               : is_whole_real  ? static_cast<std::int64_t>(*real)
                                                : 0;
    const bool is_number = whole != nullptr || is_whole_real;
    if (argument.fill == "Random" && is_integer) {
      const std::int64_t last = is_number && value > 0 ? value : 1;
      operand.fill = fmt::format("integers 0 {}", last);
    } else if (argument.fill == "Random") {
      operand.fill = "uniform";
    } else if (argument.fill == "Constant" && is_number) {
      operand.fill = fmt::format("integers {0} {0}", value);
    } else if (!argument.fill.empty() && operand.role_comment.empty()) {
      operand.role_comment = fmt::format(
          "FillType {} in {}: Kiln fills the array with random "
          "numbers instead",
          argument.fill, space_.file);
    }
  }

  void apply_tolerance(const SpaceTolerance& tolerance) {
    auto* const operand = find(tolerance.target);
    if (operand == nullptr || !tolerance.threshold) return;
    const bool is_relative = tolerance.method.find("Relative") != std::string::npos;
    operand->right = is_relative ? fmt::format("within {} 0", *tolerance.threshold)
                                 : fmt::format("within 0 {}", *tolerance.threshold);
  }

  const SpaceFile& space_;
  AdoptionGuess& guess_;
  ProblemGuess& problem_;
};

}  // namespace

std::string size_with_value(const ProblemGuess& problem, std::string_view digits) {
  if (digits == "0" || digits == "1") return "";
  std::string found;
  for (const auto& size : problem.sizes) {
    if (size.value != digits) continue;
    if (!found.empty()) return "";
    found = size.parameter;
  }
  return found;
}

void apply_space_arguments(const SpaceFile& space, AdoptionGuess& guess) {
  ArgumentApplier(space, guess).run();
}

std::vector<std::string> argument_notes(const SpaceFile& space, const AdoptionGuess& guess) {
  std::vector<std::string> notes;
  const SourceKernel& kernel = *guess.kernels.front().source;
  std::size_t count = 0;
  for (const auto& each : space.arguments) {
    count += each.memory == PassedAs::scalar || each.memory == PassedAs::vector ? 1 : 0;
  }
  if (count != 0 && count != kernel.parameters.size()) {
    notes.push_back(fmt::format(
        "{}: KernelSpecification.Arguments lists {} arguments, but {} has {} parameters: adopt "
        "used only the arguments that have the name of a parameter",
        space.file, count, kernel.name, kernel.parameters.size()));
  }
  const auto arguments = arguments_of(space, kernel);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == nullptr) continue;
    const SourceParameter& parameter = kernel.parameters[i];
    const auto listed = type_of_space(arguments[i]->type);
    const auto own = element_type(parameter.type, guess.model->type_aliases);
    const bool is_other_shape =
        (arguments[i]->memory == PassedAs::scalar) == (parameter.pointers > 0);
    if (is_other_shape) {
      notes.push_back(fmt::format("{}: MemoryType does not fit the parameter {} of {}",
                                  arguments[i]->place, parameter.name, kernel.name));
    } else if (listed && own && *listed != own->type) {
      notes.push_back(fmt::format("{}: the type is {}, but the parameter {} of {} is {}",
                                  arguments[i]->place, arguments[i]->type, parameter.name,
                                  kernel.name, parameter.type));
    }
  }
  return notes;
}

}  // namespace kiln::tools
