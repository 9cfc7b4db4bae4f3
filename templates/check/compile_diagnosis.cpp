// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/compile_diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "templates/check/argument_check.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/logged_errors.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/typed_operation.hpp"
#include "templates/render/code_scanner.hpp"
#include "templates/render/conditional_groups.hpp"
#include "templates/render/header_names.hpp"
#include "templates/render/host_code.hpp"

namespace kiln {
namespace {

/// NVRTC reads kernels' names, which Kiln forms from the front matter, in a file of this name.
constexpr std::string_view kNameFile = "__nv_name_map";

/// The last part of a name that may have namespaces.
std::string_view plain_name(std::string_view name) {
  const auto at = name.rfind(':');
  return at == std::string_view::npos ? name : name.substr(at + 1);
}

/// How many template arguments a launch gives its kernel itself.
std::size_t count_arguments(const LaunchSpec& launch) {
  if (!launch.template_arguments || launch.template_arguments->empty()) return 0;
  // Commas of nested templates count, too; a pack or too many are the compiler's affair.
  std::string text = *launch.template_arguments;
  std::replace(text.begin(), text.end(), '<', '(');
  std::replace(text.begin(), text.end(), '>', ')');
  return split_arguments(text).size();
}

/// Of a launch that names its kernel as it is.
std::string explain_plain_launch(const KernelTemplate& kernel_template, const LaunchSpec& launch,
                                 const ScannedKernel& kernel) {
  const std::size_t given = count_arguments(launch);
  const std::size_t needed = kernel.parameters - std::min(kernel.defaults, kernel.parameters);
  if (kernel.is_variadic || (needed <= given && given <= kernel.parameters)) return {};
  return fmt::format(
      "{0}:{1}: the launch passes {3} template arguments to the kernel {2}, but the kernel has {4} "
      "template parameters (line {5}). Next: in the launch line, write one template argument for "
      "each parameter: launch {6}<...>. An argument can name a type slot, a tunable or a \"let\" "
      "value. Kiln replaces this name with its type or number.",
      kernel_template.file(), launch.line, kernel.name, given, kernel.parameters, kernel.line,
      launch.kernel);
}

std::string explain_launch(const KernelTemplate& kernel_template, const LaunchSpec& launch) {
  const auto kernels = find_kernels(kernel_template.source());
  const std::string_view name = plain_name(launch.kernel);
  const auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                   [&](const ScannedKernel& one) { return one.name == name; });
  if (kernel == kernels.end()) {
    std::vector<std::string> names;
    for (const auto& one : kernels) {
      names.push_back(fmt::format("{} (line {})", one.name, one.line));
    }
    return fmt::format(
        "{}:{}: the launch names the kernel \"{}\", but the file has no __global__ function of "
        "that name. The file's __global__ functions: {}. Next: use the same name in the launch "
        "line and in the code.",
        kernel_template.file(), launch.line, launch.kernel,
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  if (kernel_template.config_struct().type.empty() || launch.template_arguments) {
    return explain_plain_launch(kernel_template, launch, *kernel);
  }
  const auto& slots = find_operation(kernel_template.operation())->type_slots();
  const std::size_t given = slots.size() + 1;
  const std::size_t needed = kernel->parameters - std::min(kernel->defaults, kernel->parameters);
  if (kernel->is_variadic || (needed <= given && given <= kernel->parameters)) return {};
  std::vector<std::string> classes;
  for (const auto& slot : slots) {
    std::string parameter = slot == "c" ? "CIn" : std::string(slot);
    parameter.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(parameter[0])));
    classes.push_back("class " + parameter);
  }
  return fmt::format(
      "{}:{}: the kernel {} has {} template parameters, but Kiln passes {} template arguments: the "
      "config struct and the types of {}. Next: write template <{} C, {}>.",
      kernel_template.file(), kernel->line, kernel->name, kernel->parameters, given,
      fmt::join(slots, " "), kernel_template.config_struct().type, fmt::join(classes, ", "));
}

std::string explain_names(const KernelTemplate& kernel_template) {
  for (const auto& launch : kernel_template.launches()) {
    if (auto text = explain_launch(kernel_template, launch); !text.empty()) return text;
  }
  if (kernel_template.config_struct().type.empty()) {
    return fmt::format(
        "{}: a launch line (launch NAME, or launch NAME<...>) names a kernel that the compiler "
        "does not find. "
        "Next: compare the kernels' names in the launch lines with the code. For a kernel in a "
        "namespace, write \"launch mine::kernel\". If two kernels have the same name, "
        "rename one of them.",
        kernel_template.file());
  }
  return fmt::format(
      "{}: a launch line names a kernel that the compiler does not find. Kiln "
      "passes the config struct and the types as template arguments. Next: compare the kernels' "
      "names in the launch lines with the code. For a kernel in a namespace, write \"launch "
      "mine::kernel\". Declare the config struct outside of all namespaces.",
      kernel_template.file());
}

/// The header that the log reports as missing; else "".
std::string_view missing_header(std::string_view log) {
  constexpr std::string_view kComplaint = "cannot open source file \"";
  const auto at = log.find(kComplaint);
  if (at == std::string_view::npos) return {};
  const auto name = log.substr(at + kComplaint.size());
  return name.substr(0, name.find('"'));
}

/// The line of the template that includes a header; 0: it is one of the template's headers.
int line_of_include(std::string_view source, std::string_view header) {
  const auto at = source.find(fmt::format("<{}>", header));
  if (at == std::string_view::npos) return 0;
  return 1 + static_cast<int>(std::count(source.begin(),
                                         source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

/// Kiln itself finds every header that is not CUDA's, so this one is or should be.
std::string explain_header(const KernelTemplate& kernel_template, std::string_view header) {
  constexpr std::string_view kLibcuxx = "cuda/std/";
  const int line = line_of_include(kernel_template.source(), header);
  const std::string place =
      line == 0 ? kernel_template.file() : fmt::format("{}:{}", kernel_template.file(), line);
  std::string next =
      "compare the header's name with the files in CUDA's include folder, or pass another include "
      "folder with --cuda-include";
  if (header.starts_with(kLibcuxx)) {
    const auto twin = header.substr(kLibcuxx.size());
    next = is_standard_header(twin)
               ? fmt::format("include <{}>, a header that Kiln supplies for kernels", twin)
               : fmt::format("remove this #include, because libcu++ has no such header; {}",
                             advice_on_missing_header(twin));
  } else if (!is_cuda_header(header)) {
    next = advice_on_missing_header(header);
  }
  return fmt::format(
      "{}: kernels cannot include <{}>: NVRTC compiles kernels with CUDA's headers and only a few "
      "standard headers. Next: {}.",
      place, header, next);
}

/// The place that the compiler names, with `file` as the user named it.
std::string place_of(const std::string& file, const LoggedError& error) {
  return fmt::format("{}:{}", file.ends_with(error.file) ? std::string_view(file) : error.file,
                     error.line);
}

/// A tunable where the compiler wants anything but a number.
std::string explain_number(const KernelTemplate& kernel_template,
                           const std::vector<LoggedError>& errors) {
  const std::vector<std::string> macros = kernel_template.macros();
  for (const LoggedError& error : errors) {
    const std::string_view word = marked_word(error);
    if (!error.message.starts_with("expected ") || std::ranges::find(macros, word) == macros.end())
      continue;
    return fmt::format(
        "{}: a \"tune\" or \"let\" line declares \"{}\", so Kiln defines a macro of this name. "
        "The compiler therefore reads a value in place of the name. Next: if this line declares "
        "the same value again, delete the declaration. If builds without Kiln need the "
        "declaration, put it between #ifndef {} and #endif instead. If the name has another "
        "meaning here, choose another name.",
        place_of(kernel_template.file(), error), word, kTunerMacro);
  }
  return {};
}

/// The name that the error's message quotes behind `mark`, which ends in the quote; else "".
std::string_view name_behind(std::string_view mark, const LoggedError& error) {
  const std::string_view message = error.message;
  const auto at = message.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = message.substr(at + mark.size());
  return rest.substr(0, rest.find('"'));
}

/// A name that the compiler does not know and that is nearly one of a tunable's or a let's.
std::string explain_misspelling(const KernelTemplate& kernel_template,
                                const std::vector<LoggedError>& errors) {
  std::vector<std::string> names = kernel_template.macros();
  for (const Tunable& tunable : kernel_template.space_spec().tunables)
    names.push_back(tunable.name);
  for (const LoggedError& error : errors) {
    for (const std::string_view mark : {"identifier \"", "has no member \""}) {
      const std::string_view unknown = name_behind(mark, error);
      if (unknown.empty()) continue;
      const std::string known = nearest_name(unknown, names);
      if (known.empty() || known == unknown) continue;
      return fmt::format(
          "{}: \"{}\" is not defined. Next: if you mean the tunable \"{}\", correct the name.",
          place_of(kernel_template.file(), error), unknown, known);
    }
  }
  return {};
}

/// Names that kernels often use without including their header.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kDeclaredBy{{
    {"INFINITY NAN HUGE_VAL HUGE_VALF M_E M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_LN2 M_LN10 M_SQRT2 "
     "M_SQRT1_2",
     "cmath"},
    {"FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON", "cfloat"},
    {"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t", "cstdint"},
    {"CHAR_BIT INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN ULLONG_MAX",
     "climits"},
    {"half half2 __half __half2", "cuda_fp16.h"},
    {"__nv_bfloat16 __nv_bfloat162", "cuda_bf16.h"},
}};

/// A name that the compiler does not know, because its header is not included.
std::string explain_missing_include(const std::string& file,
                                    const std::vector<LoggedError>& errors) {
  for (const LoggedError& error : errors) {
    const std::string_view name = name_behind("identifier \"", error);
    for (const auto& [names, header] : kDeclaredBy) {
      const auto words = split_words(names);
      if (std::ranges::find(words, name, &TextPart::text) == words.end()) continue;
      return fmt::format(
          "{}: \"{}\" is not defined, because no included header declares it. Next: add #include "
          "<{}> to the file.",
          place_of(file, error), name, header);
    }
  }
  return {};
}

/// What belongs to the host in the first such error.
std::string explain_host_code(const std::string& file, const std::vector<LoggedError>& errors) {
  for (const LoggedError& error : errors) {
    const std::string why = why_host_code(error);
    if (!why.empty()) return fmt::format("{}: {}", place_of(file, error), why);
  }
  return {};
}

std::string with_reason(const std::string& why, std::string_view log) {
  if (why.empty()) return errors_first(log);
  return fmt::format("{}\nThe compiler says:\n{}", why, errors_first(log));
}

/// Whether the operation's struct at `at` of a mangled function is its first parameter, by value:
/// "...vN4kiln8OpStructE", the v being the result void. A namespace that occurred before is
/// shortened to S_, S0_ and so on.
bool takes_arguments_first(std::string_view lowered, std::size_t at) {
  std::string_view before = lowered.substr(0, at);
  if (before.ends_with("4kiln")) {
    before.remove_suffix(5);
  } else if (const auto begin = before.rfind('S'); begin != std::string_view::npos) {
    before = before.substr(0, begin);
  }
  return before.ends_with("vN");
}

/// Takes `S_`, `S0_`, ... off the front of a mangled text: what occurred in it before.
bool skip_substitution(std::string_view& text) {
  if (!text.starts_with('S')) return false;
  const auto end = text.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1);
  if (end == std::string_view::npos || text[end] != '_') return false;
  text.remove_prefix(end + 1);
  return true;
}

/// Whether that many kiln::TensorMap by value are all of a mangled function's other parameters:
/// "NS1_9TensorMapES2_", of which the second is the first again.
bool takes_tensor_maps(std::string_view behind, std::size_t count) {
  constexpr std::string_view kMap = "9TensorMapE";
  if (count > 0) {
    if (!behind.starts_with('N')) return false;
    behind.remove_prefix(1);
    if (!skip_substitution(behind) || !behind.starts_with(kMap)) return false;
    behind.remove_prefix(kMap.size());
    for (std::size_t i = 1; i < count; ++i) {
      if (!skip_substitution(behind)) return false;
    }
  }
  return behind.empty();
}

}  // namespace

std::string explain_compile_log(const KernelTemplate& kernel_template, std::string_view log) {
  std::string why;
  const std::vector<LoggedError> errors = errors_of(log);
  if (const auto header = missing_header(log); !header.empty()) {
    why = explain_header(kernel_template, header);
  } else if (!errors.empty() && errors.front().file == kNameFile) {
    why = explain_names(kernel_template);
  } else {
    why = explain_number(kernel_template, errors);
    if (why.empty()) why = explain_misspelling(kernel_template, errors);
    if (why.empty()) why = explain_missing_include(kernel_template.file(), errors);
    if (why.empty()) why = explain_host_code(kernel_template.file(), errors);
  }
  return with_reason(why, log);
}

std::string explain_compile_log(const Operation& operation, std::string_view log) {
  const std::vector<LoggedError> errors = errors_of(log);
  std::string why = explain_missing_include(operation.origin.file, errors);
  if (why.empty()) why = explain_host_code(operation.origin.file, errors);
  return with_reason(why, log);
}

std::string why_wrong_parameters(const KernelTemplate& kernel_template,
                                 const std::vector<std::string>& lowered_names,
                                 const Problem* problem) {
  const TypedOperation* const typed = find_typed_operation(kernel_template.operation());
  if (typed == nullptr) return why_wrong_arguments(kernel_template, lowered_names, problem);
  const std::string mangled = fmt::format("{}{}E", typed->argument.size(), typed->argument);
  const std::string& at_launch = kernel_template.launch_struct().type;
  const std::string behind =
      at_launch.empty() ? "" : fmt::format("{}{}", at_launch.size(), at_launch);
  const auto& launches = kernel_template.launches();
  for (std::size_t i = 0; i < std::min(launches.size(), lowered_names.size()); ++i) {
    const std::string_view lowered = lowered_names[i];
    const auto at = lowered.rfind(mangled);
    if (at == std::string_view::npos) continue;
    const std::string_view after = lowered.substr(at + mangled.size());
    const bool ends_well = after.starts_with(behind) &&
                           takes_tensor_maps(after.substr(behind.size()), launches[i].maps.size());
    if (ends_well && takes_arguments_first(lowered, at)) continue;
    const std::string_view name = plain_name(launches[i].kernel);
    int line = launches[i].line;
    for (const auto& kernel : find_kernels(kernel_template.source())) {
      if (kernel.name == name) line = kernel.line;
    }
    const std::size_t maps = launches[i].maps.size();
    std::string parameters;
    if (!at_launch.empty()) parameters += fmt::format(", const {} launch", at_launch);
    for (const auto& map : launches[i].maps) {
      parameters += fmt::format(", const __grid_constant__ kiln::TensorMap {}", map.slot);
    }
    return fmt::format(
        "{}:{}: the kernel {} has the wrong parameters: Kiln passes one kiln::{}{}{} by value. "
        "The kernel must not have other parameters, and must not take a reference or a pointer. "
        "Next: write {}(const kiln::{} args{}).",
        kernel_template.file(), line, name, typed->argument,
        at_launch.empty() ? "" : fmt::format(" and then one {}", at_launch),
        maps == 0 ? "" : fmt::format(" and then {} kiln::TensorMap", maps), name, typed->argument,
        parameters);
  }
  return {};
}

}  // namespace kiln
