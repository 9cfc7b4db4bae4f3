// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Arguments of launches against the parameters of compiled kernels. CUDA copies as many bytes as
// the kernel has parameters and never compares types, so a mistake here would be a wrong result.
#include "templates/check/argument_check.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "templates/front_matter/front_matter.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem_flag.hpp"
#include "templates/render/code_scanner.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// What is passed, as far as it can be told from the name of a type.
enum class Passed : std::uint8_t { address, integer, boolean, floating, half, bfloat16, structure };
struct PassedKind {
  Passed passed = Passed::structure;
  std::size_t bytes = 0;
};

struct NamedNumber {
  std::string_view name;
  PassedKind kind;
};
constexpr std::array<NamedNumber, 36> kNumbers{
    {{"bool", {Passed::boolean, 1}},
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
     {"half", {Passed::half, 2}},
     {"__nv_bfloat16", {Passed::bfloat16, 2}},
     {"nv_bfloat16", {Passed::bfloat16, 2}},
     // As sources have them where no mangled name tells what they are.
     {"int8_t", {Passed::integer, 1}},
     {"uint8_t", {Passed::integer, 1}},
     {"int16_t", {Passed::integer, 2}},
     {"uint16_t", {Passed::integer, 2}},
     {"ushort", {Passed::integer, 2}},
     {"int32_t", {Passed::integer, 4}},
     {"uint32_t", {Passed::integer, 4}},
     {"uint", {Passed::integer, 4}},
     {"int64_t", {Passed::integer, 8}},
     {"uint64_t", {Passed::integer, 8}},
     {"ulong", {Passed::integer, 8}},
     {"longlong", {Passed::integer, 8}},
     {"ulonglong", {Passed::integer, 8}},
     {"size_t", {Passed::integer, 8}},
     {"ssize_t", {Passed::integer, 8}},
     {"ptrdiff_t", {Passed::integer, 8}},
     {"intptr_t", {Passed::integer, 8}},
     {"uintptr_t", {Passed::integer, 8}}}};

/// Nothing for a type that says too little: an enumeration looks like a struct.
std::optional<PassedKind> kind_of_type(std::string_view type) {
  if (type.ends_with('*')) return PassedKind{Passed::address, sizeof(void*)};
  for (const std::string_view space : {"std::", "cuda::std::"}) {
    if (type.starts_with(space)) type.remove_prefix(space.size());
  }
  const auto found = std::ranges::find(kNumbers, type, &NamedNumber::name);
  if (found == kNumbers.end()) return std::nullopt;
  return found->kind;
}

Passed passed_as(NumberType type) {
  if (type == NumberType::boolean) return Passed::boolean;
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
    case ArgumentSpec::Kind::seed:
      return {Passed::integer, sizeof(std::uint64_t)};
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
    case Passed::boolean:
      return "a bool";
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

/// float4, __half2 and so on: several numbers, which no single one fills.
bool is_vector(std::string_view type) {
  constexpr std::array<std::string_view, 12> kElements{"char",     "uchar",     "short", "ushort",
                                                       "int",      "uint",      "long",  "ulong",
                                                       "longlong", "ulonglong", "float", "double"};
  constexpr std::array<std::string_view, 4> kShort{"half2", "__half2", "nv_bfloat162",
                                                   "__nv_bfloat162"};
  if (std::ranges::find(kShort, type) != kShort.end()) return true;
  if (type.empty() || type.back() < '2' || type.back() > '4') return false;
  return std::ranges::find(kElements, type.substr(0, type.size() - 1)) != kElements.end();
}

/// Whether a parameter of that type may be given such an argument. An address may arrive as a
/// number.
bool takes_argument(std::string_view type, const PassedKind& argument) {
  if (type.ends_with('&')) return false;
  if (is_vector(type)) return argument.passed == Passed::structure;
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

/// What of a kernel can be told without compiling it.
struct SourceKernel {
  int line = 0;
  std::vector<std::string> types;
};

/// The kernel of that name, if there is one of it.
std::optional<SourceKernel> find_in_source(std::string_view source, std::string_view name) {
  name = name.substr(0, name.find('<'));
  if (const auto colon = name.rfind(':'); colon != std::string_view::npos) {
    name.remove_prefix(colon + 1);
  }
  const auto kernels = find_kernels(source);
  const auto is_it = [&](const ScannedKernel& one) { return one.name == trimmed(name); };
  if (std::ranges::count_if(kernels, is_it) != 1) return std::nullopt;
  const auto found = std::ranges::find_if(kernels, is_it);
  return SourceKernel{found->line, found->arguments};
}

/// "unsigned" and "long int" as compilers write them.
std::string usual_spelling(std::string_view type) {
  std::string stars;
  for (bool more = true; more;) {
    more = false;
    for (const std::string_view part : {"*", " const", " volatile", " __restrict"}) {
      if (!type.ends_with(part)) continue;
      type.remove_suffix(part.size());
      if (part == "*") stars += '*';
      more = true;
    }
  }
  int longs = 0;
  bool is_unsigned = false;
  std::string base;
  for (const TextPart& word : split_words(type)) {
    if (word.text == "long") {
      ++longs;
    } else if (word.text == "unsigned") {
      is_unsigned = true;
    } else if (word.text != "const" && word.text != "int" &&
               !(word.text == "signed" && type.find("char") == std::string_view::npos)) {
      base += (base.empty() ? "" : " ") + std::string(word.text);
    }
  }
  if (base.empty() || longs > 0) base = longs == 0 ? "int" : longs == 1 ? "long" : "long long";
  return (is_unsigned ? "unsigned " : "") + base + stars;
}

/// Whether a kernel may see elements of that type through a pointer to `pointee`. Small types are
/// often taken several at a time as one integer, and of a type that is not CUDA's own, as all
/// complex ones are, nothing is known. Complex numbers may be seen as the real ones that they lie
/// in memory as.
bool may_point(std::string_view pointee, DType type) {
  constexpr std::array<std::pair<std::string_view, DType>, 6> kSmall{{
      {"__half", DType::f16},
      {"half", DType::f16},
      {"__nv_bfloat16", DType::bf16},
      {"nv_bfloat16", DType::bf16},
      {"__nv_fp8_e4m3", DType::e4m3},
      {"__nv_fp8_e5m2", DType::e5m2},
  }};
  const auto small = std::ranges::find(kSmall, pointee, &std::pair<std::string_view, DType>::first);
  if (small != kSmall.end()) return small->second == type;
  const auto kind = kind_of_type(pointee);
  if (!kind || kind->passed == Passed::address) return true;
  if (kind->bytes == 1) return size_bytes(type) == 1;
  const bool floating = kind->passed == Passed::floating;
  switch (type) {
    case DType::f32:
    case DType::tf32:
      return floating && kind->bytes == 4;
    case DType::cf32:
      return floating && kind->bytes == 4;
    case DType::f64:
    case DType::cf64:
      return floating && kind->bytes == 8;
    case DType::s32:
    case DType::u32:
      return !floating && kind->bytes == 4;
    case DType::s64:
    case DType::u64:
      return !floating && kind->bytes == 8;
    default:
      return !floating;
  }
}

/// Whether a kernel may see addresses through a pointer to `pointee`, which is none.
bool may_hold_addresses(std::string_view pointee) {
  const auto kind = kind_of_type(pointee);
  if (!kind) return true;
  return kind->passed == Passed::integer && kind->bytes == sizeof(void*);
}

/// Whether elements of that type may be addresses.
bool may_be_addresses(DType type) {
  return size_bytes(type) == 1 || type == DType::s64 || type == DType::u64;
}

/// An operand as candidates get it, or as it was before.
bool is_operand(const ArgumentSpec& spec) {
  return spec.kind == ArgumentSpec::Kind::operand || spec.kind == ArgumentSpec::Kind::before;
}

/// The address that a choice has first; else the argument itself.
const ArgumentSpec& first_choice(const ArgumentSpec& spec) {
  return spec.kind == ArgumentSpec::Kind::choice ? first_choice(spec.members[0]) : spec;
}

/// The element type behind the address; nothing where any will do.
std::optional<DType> element_of(const ArgumentSpec& spec, const Operation& operation,
                                const Problem& problem) {
  switch (spec.kind) {
    case ArgumentSpec::Kind::operand:
    case ArgumentSpec::Kind::before:
      return problem.type(operation.operands[spec.index].name);
    case ArgumentSpec::Kind::float64: {
      const auto type = problem.type(operation.operands[spec.index].name);
      return type && is_complex(*type) ? DType::cf64 : DType::f64;
    }
    case ArgumentSpec::Kind::magnitude:
      return DType::f64;
    case ArgumentSpec::Kind::workspace: {
      if (spec.scratch_type.empty()) return std::nullopt;
      const auto slot = problem.type(spec.scratch_type);
      return slot ? slot : parse_dtype(spec.scratch_type);
    }
    default:
      return std::nullopt;
  }
}

/// A launch of a candidate, a reference, a checker or a fill kernel.
struct CheckedLaunch {
  std::string kernel;
  const std::vector<ArgumentSpec>& args;
  const Operation& operation;
  const Problem* problem;
  int args_line = 0;  ///< 0: the arguments are the default ones
};

/// What to do about a parameter that takes another type than the argument has.
std::string number_remedy(const CheckedLaunch& launch, std::size_t at, const std::string& type) {
  const auto is_number = [](const ArgumentSpec& spec) {
    return spec.kind == ArgumentSpec::Kind::number || spec.kind == ArgumentSpec::Kind::scalar;
  };
  const auto wanted = parse_cpp_number_type(type);
  if (!wanted || !is_number(launch.args[at])) {
    return "list the arguments in an \"args\" line, in the order of the kernel's parameters";
  }
  const ArgumentSpec& arg = launch.args[at];
  if (arg.kind == ArgumentSpec::Kind::scalar) {
    const ScalarSpec& scalar = launch.operation.scalars[arg.index];
    if (!takes_every_value(*wanted, scalar.type)) {
      return fmt::format(
          "declare the scalar in {} as \"scalar {} {} = ...\", or change the parameter's type to "
          "\"{}\"",
          launch.operation.origin.file, scalar.name, to_string(*wanted), cpp_spelling(arg.type));
    }
  }
  auto args = launch.args;
  args[at].type = *wanted;
  const bool has_line = launch.args_line > 0;
  return fmt::format("write \"{}\" in {} \"args\" line, or change the parameter's type to \"{}\"",
                     has_line ? argument_text({args[at]}, launch.operation)
                              : "args " + argument_text(args, launch.operation),
                     has_line ? "the" : "an", cpp_spelling(launch.args[at].type));
}

/// Where the type of an operand is changed: its line, and a flag if it may have several.
std::string type_places(const Operation& operation, const std::string& slot) {
  const auto spec = std::ranges::find(operation.slots, slot, &TypeSlotSpec::name);
  if (spec == operation.slots.end()) return "";
  const std::string line = fmt::format("{}:{}", operation.origin.file, spec->line);
  if (spec->types.size() == 1) return fmt::format(" ({})", line);
  return fmt::format(" ({}, {})", line, problem_flag(operation.name, slot));
}

/// `kernel_line` is where the kernel is declared; 0: nobody knows.
std::string why_wrong_launch(const CheckedLaunch& launch, const std::vector<std::string>& types,
                             int kernel_line) {
  const std::size_t given = launch.args.size();
  if (given != types.size()) {
    return fmt::format(
        "the launch passes {1} arguments to {0} ({2}), but the kernel has {3} parameters ({4}). "
        "Next: in an \"args\" line of the launch, list one argument for each parameter, in the "
        "order of the parameters.",
        launch.kernel, given, argument_text(launch.args, launch.operation), types.size(),
        fmt::join(types, ", "));
  }
  for (std::size_t i = 0; i < given; ++i) {
    const PassedKind kind = kind_of_argument(launch.args[i]);
    if (takes_argument(types[i], kind)) continue;
    return fmt::format("argument {} of {}, \"{}\", is {}, but the parameter is \"{}\"{}. Next: {}.",
                       i + 1, launch.kernel, argument_text({launch.args[i]}, launch.operation),
                       describe_argument(kind), types[i],
                       kernel_line > 0 ? fmt::format(" (line {})", kernel_line) : "",
                       number_remedy(launch, i, types[i]));
  }
  return {};
}

/// Precondition: as many types as arguments.
std::string why_wrong_pointer(const CheckedLaunch& launch, const std::vector<std::string>& types) {
  std::string why;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < types.size() && launch.problem != nullptr; ++i) {
    if (!types[i].ends_with('*')) continue;
    const ArgumentSpec& arg = first_choice(launch.args[i]);
    const auto type = element_of(arg, launch.operation, *launch.problem);
    if (!type) continue;
    const std::string spelled = usual_spelling(types[i]);
    const auto pointee = std::string_view(spelled).substr(0, spelled.find('*'));
    const std::size_t depth = spelled.size() - pointee.size();
    const bool behind = is_operand(arg) && launch.operation.operands[arg.index].pointers;
    const std::size_t wanted = behind ? 2 : 1;
    const bool fits = depth == wanted  ? may_point(pointee, *type)
                      : depth < wanted ? may_hold_addresses(pointee)
                                       : depth == wanted + 1 && may_be_addresses(*type);
    if (fits) continue;
    if (!why.empty()) {
      others.push_back(i + 1);
      continue;
    }
    const std::string_view what = behind ? "pointers to arrays of" : "whose elements are";
    const std::string remedy =
        !is_operand(arg) ? "write only the operand's name in \"args\", without a suffix such "
                           "as \".f64\"; Kiln then passes a pointer to the declared type"
        : depth == wanted
            ? fmt::format("change the type of the operand {0}{1}",
                          launch.operation.operands[arg.index].name,
                          type_places(launch.operation, launch.operation.operands[arg.index].name))
        : behind ? "remove \"pointers\" from the operand's line"
                 : "write \"pointers\" after the operand's extents, if the operand is an array of "
                   "pointers";
    const auto kind = kind_of_type(pointee);
    why = fmt::format(
        "parameter {} of {} is \"{}\", but the launch passes \"{}\", {} {}. Next: change the "
        "parameter's type{}, or {}.",
        i + 1, launch.kernel, spelled, argument_text({arg}, launch.operation), what,
        to_string(*type),
        kind && kind->bytes == 1
            ? " (to \"void*\" or \"const void*\" if the kernel casts the pointer)"
            : "",
        remedy);
  }
  if (!others.empty()) {
    why += fmt::format(" The same applies to parameter{} {}.", others.size() == 1 ? "" : "s",
                       fmt::join(others, ", "));
  }
  return why;
}

/// With the line of the launch, or of the kernel where it is the kernel that must be changed.
std::string why_wrong(const CheckedLaunch& launch, const std::string& lowered,
                      const std::string& file, int line, std::string_view source) {
  const auto in_source = find_in_source(source, launch.kernel);
  auto types = parameter_types(lowered);
  if (!types && in_source) {
    // Macros and types of the file's own may mean anything.
    const bool known = std::ranges::all_of(in_source->types, [](const std::string& type) {
      return kind_of_type(usual_spelling(type)).has_value();
    });
    if (known) types.emplace();
    for (const std::string& type : in_source->types) {
      if (known) types->push_back(usual_spelling(type));
    }
  }
  if (!types) return {};
  if (const auto why = why_wrong_launch(launch, *types, in_source ? in_source->line : 0);
      !why.empty()) {
    return fmt::format("{}:{}: {}", file, launch.args_line > 0 ? launch.args_line : line, why);
  }
  if (const auto why = why_wrong_pointer(launch, *types); !why.empty()) {
    return fmt::format("{}:{}: {}", file, in_source ? in_source->line : line, why);
  }
  return {};
}

}  // namespace

bool takes_every_value(NumberType type, NumberType declared) {
  const NumberRange held = range_of(type);
  const NumberRange needed = range_of(declared);
  if (!held.whole || !needed.whole) return true;
  return held.least <= needed.least && held.most >= needed.most;
}

std::string why_wrong_arguments(const KernelTemplate& kernel_template,
                                const std::vector<std::string>& lowered_names,
                                const Problem* problem) {
  const Operation& operation = *find_operation(kernel_template.operation());
  const auto& launches = kernel_template.launches();
  for (std::size_t i = 0; i < std::min(launches.size(), lowered_names.size()); ++i) {
    const CheckedLaunch launch{launches[i].kernel, launches[i].args, operation, problem,
                               launches[i].args_line};
    const auto why = why_wrong(launch, lowered_names[i], kernel_template.file(), launches[i].line,
                               kernel_template.source());
    if (!why.empty()) return why;
  }
  return {};
}

std::string why_wrong_judges(const Operation& operation,
                             const std::vector<std::string>& lowered_names,
                             const Problem& problem) {
  const std::vector<const JudgeKernel*> kernels = judge_kernels(operation);
  for (std::size_t i = 0; i < std::min(kernels.size(), lowered_names.size()); ++i) {
    const std::string& name = kernels[i]->kernel;
    const CheckedLaunch launch{std::string(trimmed(name.substr(0, name.find('<')))),
                               kernels[i]->args, operation, &problem, kernels[i]->args_line};
    const auto why = why_wrong(launch, lowered_names[i], operation.origin.file, kernels[i]->line,
                               operation.origin.source);
    if (!why.empty()) return why;
  }
  return {};
}

}  // namespace kiln
