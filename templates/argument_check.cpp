// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Arguments of launches against the parameters of compiled kernels. CUDA copies as many bytes as
// the kernel has parameters and never compares types, so a mistake here would be a wrong result.
#include "templates/argument_check.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>

#include "templates/operation.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// What is passed, as far as it can be told from the name of a type.
enum class Passed : std::uint8_t { address, integer, floating, half, bfloat16, structure };
struct PassedKind {
  Passed passed = Passed::structure;
  std::size_t bytes = 0;
};

struct FundamentalType {
  std::string_view name;
  PassedKind kind;
};
constexpr std::array<FundamentalType, 16> kFundamentalTypes{
    {{"bool", {Passed::integer, 1}},
     {"char", {Passed::integer, 1}},
     {"signed char", {Passed::integer, 1}},
     {"unsigned char", {Passed::integer, 1}},
     {"short", {Passed::integer, 2}},
     {"unsigned short", {Passed::integer, 2}},
     {"int", {Passed::integer, 4}},
     {"unsigned int", {Passed::integer, 4}},
     {"long", {Passed::integer, 8}},
     {"unsigned long", {Passed::integer, 8}},
     {"long long", {Passed::integer, 8}},
     {"unsigned long long", {Passed::integer, 8}},
     {"float", {Passed::floating, 4}},
     {"double", {Passed::floating, 8}},
     {"__half", {Passed::half, 2}},
     {"__nv_bfloat16", {Passed::bfloat16, 2}}}};

/// Nothing for a type that says too little: an enumeration looks like a struct.
std::optional<PassedKind> kind_of_type(std::string_view type) {
  if (type.ends_with('*')) return PassedKind{Passed::address, sizeof(void*)};
  const auto found = std::ranges::find(kFundamentalTypes, type, &FundamentalType::name);
  if (found == kFundamentalTypes.end()) return std::nullopt;
  return found->kind;
}

Passed passed_as(NumberType type) {
  if (range_of(type).whole) return Passed::integer;
  if (type == NumberType::f16) return Passed::half;
  return type == NumberType::bf16 ? Passed::bfloat16 : Passed::floating;
}

PassedKind kind_of_argument(const ArgumentSpec& spec) {
  switch (spec.kind) {
    case ArgumentSpec::Kind::structure:
      return {Passed::structure, 0};
    case ArgumentSpec::Kind::number:
    case ArgumentSpec::Kind::scalar:
      return {passed_as(spec.type), size_bytes(spec.type)};
    default:
      return {Passed::address, sizeof(void*)};
  }
}

std::string describe_argument(const PassedKind& kind) {
  switch (kind.passed) {
    case Passed::address:
      return "an address";
    case Passed::integer:
      return kind.bytes == 1 ? "an integer of 1 byte"
                             : fmt::format("an integer of {} bytes", kind.bytes);
    case Passed::floating:
      return kind.bytes == 4 ? "a float" : "a double";
    case Passed::half:
      return "a half";
    case Passed::bfloat16:
      return "a bfloat16";
    case Passed::structure:
      return "a struct";
  }
  return "";
}

/// Whether a parameter of that type may be given such an argument. An address may arrive as a
/// number.
bool takes_argument(std::string_view type, const PassedKind& argument) {
  if (type.ends_with('&')) return false;
  const auto kind = kind_of_type(type);
  if (!kind) return true;
  if (kind->bytes != argument.bytes) return false;
  return kind->passed == argument.passed ||
         (argument.passed == Passed::address && kind->passed == Passed::integer);
}

/// The parts between commas outside of all brackets.
std::vector<std::string> split_types(std::string_view text) {
  std::vector<std::string> types;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '<' || c == '[' || c == '{') -
             (c == ')' || c == '>' || c == ']' || c == '}');
    if (c != ',' || depth > 0) continue;
    types.emplace_back(trimmed(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (const auto last = trimmed(text.substr(begin)); !last.empty()) types.emplace_back(last);
  return types;
}

/// The types of a mangled function's parameters; nothing for a name that does not tell them.
std::optional<std::vector<std::string>> parameter_types(const std::string& lowered) {
  if (!lowered.starts_with("_Z")) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(lowered.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return std::nullopt;
  const std::string_view text = demangled.get();
  if (!text.ends_with(')')) return std::nullopt;
  // Backwards: template arguments, which come before, may have parentheses as well.
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += (text[i] == ')') - (text[i] == '(');
    if (depth == 0) return split_types(text.substr(i + 1, text.size() - i - 2));
  }
  return std::nullopt;
}

std::string why_wrong_launch(const std::string& kernel, const std::vector<ArgumentSpec>& args,
                             const Operation& operation, const std::vector<std::string>& types) {
  const std::size_t given = args.size();
  if (given != types.size()) {
    return fmt::format(
        "{} gets {} arguments ({}), but has {} parameters ({}). Next: list one argument for each "
        "parameter, in their order, in an \"args\" line of the launch.",
        kernel, given, argument_text(args, operation), types.size(), fmt::join(types, ", "));
  }
  for (std::size_t i = 0; i < given; ++i) {
    const PassedKind kind = kind_of_argument(args[i]);
    if (takes_argument(types[i], kind)) continue;
    return fmt::format(
        "argument {} of {}, \"{}\", is {}, but the parameter is \"{}\". Next: list what the kernel "
        "takes, in its order, in an \"args\" line; numbers are int, and scalars what they are "
        "declared, "
        "unless a type is before them: (long long) rows, (float) scale.",
        i + 1, kernel, argument_text({args[i]}, operation), describe_argument(kind), types[i]);
  }
  return {};
}

}  // namespace

std::string why_wrong_arguments(const KernelTemplate& kernel_template,
                                const std::vector<std::string>& lowered_names) {
  const Operation& operation = *find_operation(kernel_template.operation());
  const auto& launches = kernel_template.launches();
  for (std::size_t i = 0; i < std::min(launches.size(), lowered_names.size()); ++i) {
    const auto types = parameter_types(lowered_names[i]);
    if (!types) continue;
    const std::string why =
        why_wrong_launch(launches[i].kernel, launches[i].args, operation, *types);
    if (!why.empty()) {
      return fmt::format("{}:{}: {}", kernel_template.file(), launches[i].line, why);
    }
  }
  return {};
}

std::string why_wrong_arguments(const Operation& operation, const JudgeKernel& judge,
                                const std::string& lowered_name) {
  const auto types = parameter_types(lowered_name);
  if (!types) return {};
  const auto name = std::string(trimmed(judge.kernel.substr(0, judge.kernel.find('<'))));
  const std::string why = why_wrong_launch(name, judge.args, operation, *types);
  return why.empty() ? why : fmt::format("{}:{}: {}", operation.file, judge.line, why);
}

}  // namespace kiln
