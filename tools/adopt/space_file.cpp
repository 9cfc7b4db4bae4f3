// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/space_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/template_names.hpp"

namespace kiln::tools {
namespace {

using SpaceJson = nlohmann::ordered_json;

constexpr std::size_t kMostSpaceParameters = 64;  // tunables of a template
constexpr std::size_t kMostSpaceValues = 1024;    // values of a tunable
constexpr std::size_t kMostSpaceItems = 1024;     // of any other list

/// A value of the file and its path.
struct Member {
  const SpaceJson* json = nullptr;
  std::string path;
};

class SpaceReader {
 public:
  SpaceReader(const std::string& file, const SpaceJson& json) : json_(json) { space_.file = file; }

  SpaceFile run() {
    const Member root{&json_, ""};
    if (!json_.is_object()) fail(root, "expected an object");
    const Member configurations = object_in(root, "ConfigurationSpace");
    for (const Member& each : items_in(configurations, "TuningParameters", true)) {
      read_parameter(each);
    }
    if (space_.parameters.size() > kMostSpaceParameters) {
      fail(configurations, fmt::format("TuningParameters has {} elements, but a template has at "
                                       "most {} tunables",
                                       space_.parameters.size(), kMostSpaceParameters));
    }
    for (const Member& each : items_in(configurations, "Conditions", false)) {
      space_.conditions.push_back(expression(required(each, "Expression")));
    }
    read_kernel(object_in(root, "KernelSpecification"));
    return std::move(space_);
  }

 private:
  [[nodiscard]] std::string place(const Member& member) const {
    return member.path.empty() ? space_.file : space_.file + ": " + member.path;
  }
  [[noreturn]] void fail(const Member& member, const std::string& what) const {
    throw Error(ErrorKind::usage, fmt::format("{}: {}", place(member), what));
  }

  static std::optional<Member> optional(const Member& parent, const std::string& key) {
    const auto found = parent.json->find(key);
    if (found == parent.json->end() || found->is_null()) return std::nullopt;
    return Member{&*found, parent.path.empty() ? key : parent.path + "." + key};
  }
  [[nodiscard]] Member required(const Member& parent, const std::string& key) const {
    auto found = optional(parent, key);
    if (!found) fail(parent, fmt::format("\"{}\" is missing", key));
    return *found;
  }
  [[nodiscard]] Member object_in(const Member& parent, const std::string& key) const {
    Member member = required(parent, key);
    if (!member.json->is_object()) fail(member, "expected an object");
    return member;
  }
  /// The elements of an array of objects.
  [[nodiscard]] std::vector<Member> items_in(const Member& parent, const std::string& key,
                                             bool is_required) const {
    const auto list = optional(parent, key);
    if (!list && is_required) fail(parent, fmt::format("\"{}\" is missing", key));
    std::vector<Member> items;
    if (!list) return items;
    if (!list->json->is_array()) fail(*list, "expected an array");
    if (list->json->size() > kMostSpaceItems) {
      fail(*list, fmt::format("the array has more than {} elements", kMostSpaceItems));
    }
    for (std::size_t i = 0; i < list->json->size(); ++i) {
      Member item{&(*list->json)[i], fmt::format("{}[{}]", list->path, i)};
      if (!item.json->is_object()) fail(item, "expected an object");
      items.push_back(std::move(item));
    }
    return items;
  }
  [[nodiscard]] std::string text(const Member& member) const {
    if (!member.json->is_string()) fail(member, "expected a string");
    return member.json->get<std::string>();
  }
  [[nodiscard]] std::string optional_text(const Member& parent, const std::string& key) const {
    const auto member = optional(parent, key);
    return member ? text(*member) : "";
  }
  /// One of `words`, or "" if the member is missing.
  [[nodiscard]] std::string word(const Member& parent, const std::string& key,
                                 const std::vector<std::string>& words) const {
    const auto member = optional(parent, key);
    if (!member) return "";
    std::string value = text(*member);
    if (std::find(words.begin(), words.end(), value) == words.end()) {
      fail(*member, fmt::format("\"{}\" is not one of {}", value, fmt::join(words, ", ")));
    }
    return value;
  }

  /// A string of Python, or the value itself.
  [[nodiscard]] SpaceExpression expression(const Member& member) const {
    SpaceExpression result;
    result.place = place(member);
    if (member.json->is_string()) {
      result.text = member.json->get<std::string>();
    } else if (member.json->is_number() || member.json->is_boolean()) {
      result.text = member.json->is_boolean() ? (member.json->get<bool>() ? "True" : "False")
                                              : member.json->dump();
    } else {
      fail(member, "expected a string with an expression");
    }
    result.node = parse_python(result.text, result.place);
    return result;
  }

  [[nodiscard]] PythonValue plain_value(const Member& member) const {
    const SpaceJson& json = *member.json;
    if (json.is_boolean()) return {json.get<bool>()};
    if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX) {
      fail(member, "the number does not fit in 64 bits");
    }
    if (json.is_number_integer()) return {json.get<std::int64_t>()};
    if (json.is_number_float()) return {json.get<double>()};
    if (json.is_string()) return {json.get<std::string>()};
    fail(member, "expected a number, a string, true or false");
  }

  void read_parameter(const Member& member) {
    SpaceParameter parameter;
    const Member name = required(member, "Name");
    parameter.name = text(name);
    if (!is_identifier(parameter.name)) {
      fail(name, fmt::format("\"{}\" is not a name in C++", parameter.name));
    }
    for (const auto& other : space_.parameters) {
      if (other.name == parameter.name) {
        fail(name, fmt::format("{} is declared twice", parameter.name));
      }
    }
    const std::string type = word(member, "Type", {"int", "uint", "float", "bool", "string"});
    const Member values = required(member, "Values");
    parameter.place = place(values);
    for (auto& value : values_of(values)) add_value(values, type, std::move(value), parameter);
    if (parameter.values.empty()) fail(values, "the list is empty");
    if (parameter.values.size() > kMostSpaceValues) {
      fail(values, fmt::format("the list has {} values, but a tunable has at most {}",
                               parameter.values.size(), kMostSpaceValues));
    }
    if (const auto usual = optional(member, "Default")) read_default(*usual, type, parameter);
    space_.parameters.push_back(std::move(parameter));
  }

  [[nodiscard]] std::vector<PythonValue> values_of(const Member& values) const {
    if (values.json->is_array()) {
      std::vector<PythonValue> list;
      for (std::size_t i = 0; i < values.json->size(); ++i) {
        list.push_back(plain_value({&(*values.json)[i], fmt::format("{}[{}]", values.path, i)}));
      }
      return list;
    }
    const SpaceExpression made = expression(values);
    PythonValue value = evaluate_python(made.node, made.place);
    auto* const list = std::get_if<PythonList>(&value.value);
    if (list == nullptr) fail(values, fmt::format("expected a list, but found {}", made.text));
    return std::move(*list);
  }

  /// Python's 1.0 is 1 where integers are asked for, and 1 is True where truth is.
  void add_value(const Member& place_of, const std::string& type, PythonValue value,
                 SpaceParameter& parameter) const {
    if (std::get_if<PythonList>(&value.value) != nullptr) {
      fail(place_of, fmt::format("{} is a list, not a value", python_text(value)));
    }
    const auto* const real = std::get_if<double>(&value.value);
    const auto* const integer = std::get_if<std::int64_t>(&value.value);
    const bool is_integer_type = type == "int" || type == "uint";
    if (is_integer_type && real != nullptr) {
      constexpr double kMost = 9.0e15;
      const bool is_whole = *real >= -kMost && *real <= kMost &&
                            static_cast<double>(static_cast<std::int64_t>(*real)) == *real;
      if (!is_whole) {
        fail(place_of,
             fmt::format("{} is not an integer, but the type is \"{}\"", python_text(value), type));
      }
      value = {static_cast<std::int64_t>(*real)};
    } else if (is_integer_type && std::get_if<std::string>(&value.value) != nullptr) {
      fail(place_of,
           fmt::format("{} is not a number, but the type is \"{}\"", python_text(value), type));
    } else if (type == "float" && integer != nullptr) {
      value = {static_cast<double>(*integer)};
    } else if (type == "bool" && integer != nullptr && (*integer == 0 || *integer == 1)) {
      value = {*integer == 1};
    } else if (type == "string" && std::get_if<std::string>(&value.value) == nullptr) {
      value = {python_text(value)};
    }
    const std::string printed = python_text(value);
    const bool is_known =
        std::any_of(parameter.values.begin(), parameter.values.end(),
                    [&](const PythonValue& each) { return python_text(each) == printed; });
    if (!is_known) parameter.values.push_back(std::move(value));
  }

  void read_default(const Member& member, const std::string& type, SpaceParameter& parameter) {
    SpaceParameter only;
    add_value(member, type, plain_value(member), only);
    PythonValue value = std::move(only.values.front());
    const auto is_it = [&](const PythonValue& each) {
      return python_text(each) == python_text(value);
    };
    // "16" is how some files write 16.
    if (const auto* const text = std::get_if<std::string>(&value.value);
        text != nullptr && std::none_of(parameter.values.begin(), parameter.values.end(), is_it)) {
      SpaceParameter read;
      add_value(member, type, evaluate_python(parse_python(*text, place(member)), place(member)),
                read);
      value = std::move(read.values.front());
    }
    if (std::none_of(parameter.values.begin(), parameter.values.end(), is_it)) {
      fail(member,
           fmt::format("{} is not among the values of {}", python_text(value), parameter.name));
    }
    parameter.usual = std::move(value);
  }

  void read_kernel(const Member& member) {
    const std::string language =
        word(member, "Language", {"CUDA", "OpenCL", "Vulkan", "HIP", "Hypertuner"});
    if (!language.empty() && language != "CUDA") {
      fail(
          *optional(member, "Language"),
          fmt::format("Kiln tunes CUDA kernels, but this file describes a kernel in {}", language));
    }
    space_.kernel = optional_text(member, "KernelName");
    space_.kernel_file = optional_text(member, "KernelFile");
    read_extents(member, "GlobalSize", space_.global);
    read_extents(member, "LocalSize", space_.local);
    const std::string counted = word(member, "GlobalSizeType", {"CUDA", "OpenCL", "Vulkan"});
    space_.is_global_in_threads = counted == "OpenCL";
    if (const auto shared = optional(member, "SharedMemory")) {
      space_.shared_memory = expression(*shared);
    }
    read_options(member);
    for (const Member& each : items_in(member, "Arguments", false)) read_argument(each);
    for (const Member& each : items_in(member, "ReferenceArguments", false)) {
      SpaceTolerance tolerance;
      tolerance.target = optional_text(each, "TargetName");
      tolerance.method = optional_text(each, "ValidationMethod");
      if (const auto threshold = optional(each, "ValidationThreshold")) {
        if (!threshold->json->is_number()) fail(*threshold, "expected a number");
        tolerance.threshold = threshold->json->get<double>();
      }
      space_.tolerances.push_back(std::move(tolerance));
    }
  }

  void read_extents(const Member& kernel, const std::string& key,
                    std::array<std::optional<SpaceExpression>, 3>& extents) const {
    const auto member = optional(kernel, key);
    if (!member) return;
    if (!member->json->is_object()) fail(*member, "expected an object with X, Y and Z");
    constexpr std::array<const char*, 3> kAxes{"X", "Y", "Z"};
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
      if (const auto extent = optional(*member, kAxes[i])) extents[i] = expression(*extent);
    }
  }

  void read_options(const Member& kernel) {
    const auto options = optional(kernel, "CompilerOptions");
    if (!options) return;
    if (!options->json->is_array()) fail(*options, "expected an array of strings");
    for (std::size_t i = 0; i < options->json->size() && i < kMostSpaceItems; ++i) {
      space_.compiler_options.push_back(
          text({&(*options->json)[i], fmt::format("{}[{}]", options->path, i)}));
    }
  }

  void read_argument(const Member& member) {
    SpaceArgument argument;
    argument.place = place(member);
    argument.name = optional_text(member, "Name");
    argument.type = optional_text(member, "Type");
    const std::string memory = word(member, "MemoryType", {"Scalar", "Vector", "Local", "Symbol"});
    argument.memory = memory == "Scalar"   ? SpaceArgument::Memory::scalar
                      : memory == "Local"  ? SpaceArgument::Memory::local
                      : memory == "Symbol" ? SpaceArgument::Memory::symbol
                                           : SpaceArgument::Memory::vector;
    const std::string access = word(member, "AccessType", {"ReadOnly", "WriteOnly", "ReadWrite"});
    argument.role = access == "ReadOnly"    ? "in"
                    : access == "WriteOnly" ? "out"
                    : access == "ReadWrite" ? "inout"
                                            : "";
    if (const auto size = optional(member, "Size")) argument.size = size_of(*size);
    argument.fill = word(member, "FillType",
                         {"Constant", "Random", "Generator", "Script", "BinaryRaw", "BinaryHDF"});
    if (const auto value = optional(member, "FillValue")) argument.value = plain_value(*value);
    space_.arguments.push_back(std::move(argument));
  }

  [[nodiscard]] std::int64_t size_of(const Member& member) const {
    const SpaceExpression made = expression(member);
    const PythonValue value = evaluate_python(made.node, made.place);
    const auto* const size = std::get_if<std::int64_t>(&value.value);
    if (size == nullptr || *size < 0) {
      fail(member, fmt::format("expected a number of elements, but found {}", made.text));
    }
    return *size;
  }

  const SpaceJson& json_;
  SpaceFile space_;
};

/// The line and column of a character, both from 1.
std::pair<std::size_t, std::size_t> line_and_column(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const auto before = text.substr(0, at);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto newline = before.rfind('\n');
  return {line, newline == std::string_view::npos ? at + 1 : at - newline};
}

}  // namespace

SpaceFile read_space_file(const std::string& file, std::string_view json) {
  constexpr int kMostDepth = 64;
  const auto shallow = [](int depth, SpaceJson::parse_event_t, SpaceJson&) {
    if (depth > kMostDepth) throw std::length_error("depth");
    return true;
  };
  try {
    const SpaceJson document = SpaceJson::parse(json, shallow);
    return SpaceReader(file, document).run();
  } catch (const SpaceJson::parse_error& error) {
    const auto [line, column] = line_and_column(json, error.byte > 0 ? error.byte - 1 : 0);
    throw Error(ErrorKind::usage,
                fmt::format("{}:{}:{}: this is not valid JSON. Next: give --space a T1 file of "
                            "Kernel Tuner or KTT",
                            file, line, column));
  } catch (const std::length_error&) {
    throw Error(ErrorKind::usage, fmt::format("{}: the JSON is nested too deeply", file));
  }
}

}  // namespace kiln::tools
