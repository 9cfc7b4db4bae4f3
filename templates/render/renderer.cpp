// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/renderer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "kiln/error.hpp"
#include "templates/check/macro_redefinition.hpp"
#include "templates/digest.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/header_inliner.hpp"
#include "templates/render/header_names.hpp"
#include "templates/render/kernel_name.hpp"
#include "templates/render/struct_text.hpp"
#include "templates/render/value_macros.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

/// What an element type needs beyond the language: a CUDA header and the macro that tells our own
/// headers that it is included.
struct TypeSupport {
  std::string_view device_name;
  std::string_view include;
  std::string_view macro;
};

constexpr std::array<TypeSupport, kDTypeNames.size()> kTypeSupport{{
    {"__half", "<cuda_fp16.h>", "KILN_USES_F16"},
    {"__nv_bfloat16", "<cuda_bf16.h>", "KILN_USES_BF16"},
    {"kiln::tf32", "", ""},
    {"float", "", ""},
    {"double", "", ""},
    {"__nv_fp8_e4m3", "<cuda_fp8.h>", "KILN_USES_FP8"},
    {"__nv_fp8_e5m2", "<cuda_fp8.h>", "KILN_USES_FP8"},
    {"signed char", "", ""},
    {"unsigned char", "", ""},
    {"int", "", ""},
    {"kiln::s4x2", "", ""},
    {"kiln::u4x2", "", ""},
    {"kiln::b1x8", "", ""},
    {"kiln::b1x8_xor", "", ""},
    {"short", "", ""},
    {"unsigned short", "", ""},
    {"unsigned", "", ""},
    {"long long", "", ""},
    {"unsigned long long", "", ""},
    {"float2", "", ""},
    {"double2", "", ""},
}};

const TypeSupport& support_of(DType type) {
  return kTypeSupport[static_cast<std::size_t>(type)];
}

std::vector<std::string> make_name_expressions(const KernelTemplate& kernel_template,
                                               const Config& config, const Problem& problem,
                                               const DeviceLimits& limits) {
  const auto values = LaunchPlanner(kernel_template, problem, limits).config_fields(config);
  std::vector<std::int64_t> numbers;
  for (const auto& field : values) numbers.push_back(field.value);
  std::string arguments = struct_text(kernel_template.config_struct(), numbers);
  for (const auto& slot : find_operation(kernel_template.operation())->type_slots()) {
    fmt::format_to(std::back_inserter(arguments), ", {}", device_type_name(*problem.type(slot)));
  }
  const auto replacement = [&](std::string_view name) -> std::optional<std::string> {
    if (const auto type = problem.type(name)) return std::string(device_type_name(*type));
    const auto field = std::ranges::find(values, name, &NamedValue::name);
    if (field == values.end()) return std::nullopt;
    // A minus sign before it would make one token of two.
    const std::string text = value_text(field->value);
    return text.starts_with('-') ? fmt::format("({})", text) : text;
  };
  std::vector<std::string> names;
  for (const auto& launch : kernel_template.launches()) {
    if (launch.template_arguments) {
      names.push_back(expand_kernel_name(
          fmt::format("{}<{}>", launch.kernel, *launch.template_arguments), replacement));
    } else if (kernel_template.config_struct().type.empty()) {
      names.push_back(launch.kernel);
    } else {
      names.push_back(fmt::format("{}<{}>", launch.kernel, arguments));
    }
  }
  return names;
}

/// What a template has in place of a config struct.
std::string macros_text(const KernelTemplate& kernel_template, const Config& config,
                        const Problem& problem, const DeviceLimits& limits,
                        const HeaderInliner& inliner) {
  std::string text;
  if (!kernel_template.config_struct().type.empty()) return text;
  const auto names = kernel_template.macros();
  if (std::ranges::find(names, kTunerMacro) == names.end()) {
    text += fmt::format("#define {} 1\n", kTunerMacro);
  }
  for (const auto& macro : LaunchPlanner(kernel_template, problem, limits).config_fields(config)) {
    text += fmt::format("#define {} {}\n", macro.name, value_text(macro.value));
  }
  std::vector<std::string_view> sources{kernel_template.source()};
  for (const auto& header : inliner.inlined_texts()) sources.push_back(*header);
  for (const ValueMacro& each : value_macros(kernel_template.space_spec().tunables, sources)) {
    text += fmt::format("#define {} {}\n", each.name, each.number);
  }
  return text;
}

/// Where only the compiler knows whether a file defines a macro anew, it is asked.
std::string redefinitions_text(const std::string& file, std::string_view source,
                               const KernelTemplate& kernel_template,
                               const std::vector<NamedValue>& values) {
  std::string text;
  for (const MacroRedefinition& each : find_redefinitions(source, kernel_template.macros())) {
    if (each.is_mark) {
      text += fmt::format(
          "#if !defined({0})\n#line {1} \"{2}\"\n#error \"Kiln defines {0} for its own "
          "builds. Next: delete this line\"\n#endif\n",
          each.name, each.line, file);
      continue;
    }
    const auto value = std::ranges::find(values, each.name, &NamedValue::name);
    if (is_real_value(value->value)) {
      // The preprocessor knows no decimal numbers.
      text += fmt::format(
          "#line {1} \"{2}\"\n"
          "static_assert(({0}) == ({3}), \"{0} is tuned, so Kiln defines it, and here it gets "
          "another value. Next: put the line between #ifndef {4} and #endif\");\n",
          each.name, each.line, file, value_text(value->value), kTunerMacro);
      continue;
    }
    text += fmt::format(
        "#if !defined({0}) || ({0}) != ({1})\n"
        "#line {2} \"{3}\"\n"
        "#error \"{0} is tuned, so Kiln defines it, and here it gets another value. Next: put the "
        "line between #ifndef {4} and #endif\"\n"
        "#endif\n",
        each.name, value_text(value->value), each.line, file, kTunerMacro);
  }
  return text;
}

std::string provenance(const RenderedKernel& rendered, const KernelTemplate& kernel_template,
                       const Problem& problem, const DeviceLimits& limits) {
  std::string types;
  for (const auto& [slot, type] : problem.types) {
    types += fmt::format(" {}={}", slot, to_string(type));
  }
  std::string traits;
  for (const auto& [name, value] : problem.traits) traits += fmt::format(" {}={}", name, value);
  if (!problem.epilogue.empty()) traits += fmt::format(" epilogue={}", problem.epilogue);
  std::string text = fmt::format(
      "// Rendered by Kiln.\n"
      "// template {} {}\n"
      "// config   {}\n"
      "// types   {}\n"
      "{}"
      "// arch     {}\n",
      rendered.template_name, rendered.template_digest,
      kernel_template.compiled_part(rendered.config).canonical(), types,
      traits.empty() ? "" : fmt::format("// traits  {}\n", traits), limits.arch);
  for (const auto& name : rendered.name_expressions) text += fmt::format("// kernel   {}\n", name);
  return text;
}

/// The functions of expressions: common/epilogue.cuh expects them before it.
constexpr std::string_view kEpilogueMath = "common/epilogue_ahead.cuh";

/// The top of the text: macros first, because project headers test them.
std::string preamble(const Problem& problem, const HeaderInliner& inliner) {
  const std::vector<std::string>& own_includes = inliner.system_includes();
  const bool uses_supplied = inliner.uses_supplied();
  std::set<std::string_view> macros;
  std::set<std::string_view> includes(own_includes.begin(), own_includes.end());
  const auto use = [&](DType type) {
    const auto& support = support_of(type);
    if (support.macro.empty()) return;
    macros.insert(support.macro);
    includes.insert(support.include);
  };
  for (const auto& [slot, type] : problem.types) use(type);
  if (const Operation* const operation = find_operation(problem.operation)) {
    for (const ScalarSpec& scalar : operation->scalars) {
      if (scalar.type == NumberType::f16) use(DType::f16);
      if (scalar.type == NumberType::bf16) use(DType::bf16);
    }
  }
  std::string epilogue;
  if (!problem.epilogue.empty()) {
    const auto expression = EpilogueExpression::parse(problem.epilogue);
    const DType d = *problem.type("d");
    for (const auto& slot : expression.operands()) use(element_type(slot, d));
    epilogue = fmt::format("#define KILN_EPILOGUE(x) {}\n", expression.device_code(d));
    const auto& slots = expression.operands();
    const auto first = std::find_if(slots.begin(), slots.end(),
                                    [](const EpilogueSlot& slot) { return slot.recorded; });
    if (first != slots.end()) epilogue += "#define KILN_EPILOGUE_RECORDS 1\n";
    // What threads keep: those of columns go to memory at once.
    const unsigned ones = expression.peaks(OperandExtent::one);
    const unsigned rows = expression.peaks(OperandExtent::row);
    if ((ones | rows) != 0) {
      epilogue += fmt::format("#define KILN_EPILOGUE_PEAKS {}, {}, {}\n",
                              support_of(element_type(*first, d)).device_name, ones, rows);
    }
  }
  std::string text = "#define KILN_RENDERED 1\n";
  for (const auto macro : macros) text += fmt::format("#define {} 1\n", macro);
  text += epilogue;
  // What NVRTC finds under names of the standard library is a part of what is compiled.
  if (uses_supplied)
    text += fmt::format("// Kiln's standard headers {}\n", supplied_headers_digest());
  for (const auto include : includes) text += fmt::format("#include {}\n", include);
  // Everything above is the same for every configuration: a precompiled header may end here.
  text += "#if defined(__CUDACC_RTC__)\n#pragma nv_hdrstop\n#endif\n";
  return text;
}

}  // namespace

std::string_view device_type_name(DType type) {
  return support_of(type).device_name;
}

RenderedKernel render(const Catalog& catalog, const KernelTemplate& kernel_template,
                      const Config& config, const Problem& problem, const DeviceLimits& limits) {
  if (const auto reason = kernel_template.why_unsupported(problem, limits)) {
    throw Error(ErrorKind::usage, *reason);
  }
  if (const auto reason = kernel_template.space(problem, limits).why_invalid(config)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: the configuration \"{}\" is not valid for this problem on this device: {}",
                    kernel_template.name(), config.canonical(), *reason));
  }
  const Catalog::Origin& origin = catalog.origin(kernel_template.name());
  RenderedKernel rendered;
  rendered.template_name = kernel_template.name();
  rendered.template_digest = catalog.digest(kernel_template.name());
  rendered.config = config;
  rendered.name_expressions = make_name_expressions(kernel_template, config, problem, limits);

  HeaderInliner inliner(origin.headers, HeaderInliner::Mode::rendered);
  if (!problem.epilogue.empty()) {
    // The others need none of it.
    inliner.add(kEpilogueMath, embedded_files().at(std::string(kEpilogueMath)));
  }
  inliner.add(origin.path, kernel_template.source());
  rendered.text = provenance(rendered, kernel_template, problem, limits) +
                  preamble(problem, inliner) +
                  macros_text(kernel_template, config, problem, limits, inliner) + inliner.text();
  if (!kernel_template.macros().empty()) {
    const auto values = LaunchPlanner(kernel_template, problem, limits).config_fields(config);
    rendered.text +=
        redefinitions_text(origin.path, kernel_template.source(), kernel_template, values);
    for (std::size_t i = 0; i < inliner.inlined().size(); ++i) {
      rendered.text += redefinitions_text(inliner.inlined()[i], *inliner.inlined_texts()[i],
                                          kernel_template, values);
    }
  }
  rendered.digest = digest_hex(rendered.text);
  return rendered;
}

std::string render_support(const HeaderSearch& headers, std::string_view path,
                           std::string_view source, const Problem& problem,
                           std::string_view shown) {
  HeaderInliner inliner(headers, HeaderInliner::Mode::rendered);
  inliner.add(path, source, shown);
  return preamble(problem, inliner) + inliner.text();
}

std::string inline_headers(const HeaderSearch& headers, std::string_view path,
                           std::string_view source) {
  HeaderInliner inliner(headers, HeaderInliner::Mode::as_it_stands);
  inliner.add(path, source);
  std::string text;
  for (const auto& include : inliner.system_includes())
    text += fmt::format("#include {}\n", include);
  return text + inliner.text();
}

}  // namespace kiln
