// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/compile_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace kiln {
namespace {

/// NVRTC lets a later option override what --use_fast_math implies.
constexpr std::array<CompileOptionRule, 14> kRules{{
    {"--use_fast_math"},
    {"--ftz", OptionValue::truth},
    {"--prec-div", OptionValue::truth},
    {"--prec-sqrt", OptionValue::truth},
    {"--fmad", OptionValue::truth},
    {"--restrict"},
    {kVectorizeOption},
    {kRegistersOption, OptionValue::number, 16, 255},
    {"--ptxas-options=--register-usage-level", OptionValue::number, 0, 10},
    {"--ptxas-options=--opt-level", OptionValue::number, 0, 3},
    {"--ptxas-options=--allow-expensive-optimizations", OptionValue::truth},
    {"--ptxas-options=--def-load-cache", OptionValue::word, 0, 0, "ca cg cs cv"},
    {"--ptxas-options=--def-store-cache", OptionValue::word, 0, 0, "wb cg cs wt"},
    {kRouteOption, OptionValue::word, 0, 0, "cubin ptx"},
}};

struct RefusedOption {
  std::string_view name;
  std::string_view why;
};

constexpr std::string_view kHeaders =
    "Kiln finds the headers itself; name their folder in an \"include\" line";
constexpr std::string_view kMacros =
    "declare a tunable or a \"let\" value, which the kernel finds as a macro or as a field";
constexpr std::string_view kArch = "Kiln compiles for the architecture of the device";
constexpr std::string_view kDebug =
    "a kernel with debug information is not the kernel that applications use";
constexpr std::string_view kLines = "Kiln adds line information where it needs it";
constexpr std::string_view kLinking = "Kiln compiles each kernel as a whole, and links nothing";
constexpr std::string_view kLanguage = "Kiln compiles all kernels as C++20";

constexpr std::array<RefusedOption, 28> kRefused{{
    {"-I", kHeaders},
    {"--include-path", kHeaders},
    {"-include", kHeaders},
    {"--pre-include", kHeaders},
    {"-D", kMacros},
    {"--define-macro", kMacros},
    {"-U", kMacros},
    {"--undefine-macro", kMacros},
    {"-arch", kArch},
    {"--gpu-architecture", kArch},
    {"-gencode", kArch},
    {"--generate-code", kArch},
    {"-G", kDebug},
    {"--device-debug", kDebug},
    {"--dopt", kDebug},
    {"-dopt", kDebug},
    {"-lineinfo", kLines},
    {"--generate-line-info", kLines},
    {"-rdc", kLinking},
    {"-dc", kLinking},
    {"--device-c", kLinking},
    {"-dlto", kLinking},
    {"--dlink-time-opt", kLinking},
    {"--relocatable-device-code", kLinking},
    {"-std", kLanguage},
    {"--std", kLanguage},
    {"-Xptxas", "write --ptxas-options=OPTION"},
    {"--ptxas-options=-v", "Kiln adds this option itself"},
}};

}  // namespace

std::string CompileOptions::text() const {
  std::string text;
  for (const std::string& flag : flags) text += (text.empty() ? "" : " ") + flag;
  if (route == CompileRoute::ptx) text += text.empty() ? "route=ptx" : " route=ptx";
  return text;
}

CompileOptions combined(const CompileOptions& options, const CompileOptions& more) {
  CompileOptions all;
  all.route = more.route == CompileRoute::ptx ? more.route : options.route;
  const auto flag_of = [](const CompileOptionRule& rule, const CompileOptions& of) {
    return std::ranges::find_if(of.flags, [&](std::string_view flag) {
      return flag.starts_with(rule.name) &&
             (flag.size() == rule.name.size() || flag[rule.name.size()] == '=');
    });
  };
  for (const CompileOptionRule& rule : kRules) {
    auto flag = flag_of(rule, more);
    if (flag == more.flags.end()) {
      flag = flag_of(rule, options);
      if (flag == options.flags.end()) continue;
    }
    all.flags.push_back(*flag);
  }
  return all;
}

std::span<const CompileOptionRule> compile_option_rules() {
  return kRules;
}

const CompileOptionRule* find_compile_option(std::string_view name) {
  const auto* const found = std::ranges::find(kRules, name, &CompileOptionRule::name);
  return found == kRules.end() ? nullptr : found;
}

std::string_view why_not_an_option(std::string_view name) {
  // `-Ifolder` and `-DX=1` continue without a break.
  if (name.starts_with("-I")) name = "-I";
  if (name.starts_with("-D")) name = "-D";
  const auto* const found = std::ranges::find(kRefused, name, &RefusedOption::name);
  return found == kRefused.end() ? std::string_view() : found->why;
}

std::optional<int> register_limit(std::span<const std::string> flags) {
  for (const std::string& flag : flags) {
    const std::string_view text = flag;
    if (!text.starts_with(kRegistersOption)) continue;
    const std::string_view number = text.substr(std::min(kRegistersOption.size() + 1, text.size()));
    int registers = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), registers);
    if (error == std::errc{} && end == number.data() + number.size()) return registers;
  }
  return std::nullopt;
}

}  // namespace kiln
