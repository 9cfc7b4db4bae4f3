// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/value_kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>

#include "cache/objective.hpp"
#include "kiln/types.hpp"
#include "runtime/emulated/profiles/device_profile.hpp"
#include "runtime/library/warning_sink.hpp"
#include "templates/device_limits.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"
#include "tools/output/terminal.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln::tools {
namespace {

using Words = std::vector<std::string>;

template <class Names>
Words words_of(const Names& names) {
  return Words(names.begin(), names.end());
}

Words layouts() {
  Words words;
  for (const Storage a : {Storage::n, Storage::t}) {
    for (const Storage b : {Storage::n, Storage::t}) words.push_back(layout_text(a, b));
  }
  return words;
}

Words operation_names() {
  Words words;
  for (const Operation* operation : operations()) words.push_back(operation->name);
  return words;
}

/// One GPU, as most machines have, and every emulated one by name.
Words devices() {
  Words words{"cuda:0"};
  for (const auto& profile : built_in_profiles()) words.push_back("emulated:" + profile);
  return words;
}

std::vector<ValueKind> make_kinds() {
  using enum ValueKind::Source;
  return {
      {"ARCH", words, "architecture of a GPU", known_archs()},
      {"BYTES", free, "number of bytes", {}},
      {"DEVICE", words, "GPU (cuda:N) or emulated GPU (emulated:NAME or emulated:FILE.toml)",
       devices()},
      {"DIR", folders, "folder", {}},
      {"DIR[:DIR...]", folders, "folders", {}, false, ':'},
      {"EXPR", free, "expression", {}},
      {"FILE", files, "file", {}},
      {"FORMAT", words, "format of exported trials", {"csv", "kernel_tuner", "t4"}, true},
      {"LEVEL", words, "what the library prints to stderr", words_of(detail::kLogLevels), true},
      {"LIBRARY", words, "library to compare with", {std::string(kCublasLt)}, true},
      {"MODE", words, "what the library does for a problem without a tuned kernel",
       words_of(kModeNames), true},
      {"N", free, "whole number", {}},
      {"OBJECTIVE", words, "what the best kernel has least of: a name, or an expression",
       words_of(Objective::kNames)},
      {"NAME", operations, "name of an operation: built-in, or declared in the template path", {}},
      {"NAME=V,...", free, "values of tunables", {}},
      {std::string(kOperationKind), operations, "operation to compute", {}, true},
      {"SIZE", free, "number of bytes, with or without a unit: 512KiB, 64MiB, 2GB", {}},
      {"STRATEGY", words, "search strategy", strategy_names(), true},
      {"TEMPLATE", templates, "name of a template", {}},
      {"TEMPLATE,...", templates, "names of templates", {}, false, ','},
      {"TEXT", free, "text", {}},
      {"TIME", free, "duration with its unit: 500ms, 45s, 2m, 1h, 30d", {}},
      {"TYPE", words, "element type", words_of(kDTypeNames), true},
      {"WHEN", words, "when to use colour", words_of(kColourModes), true},
      {"X", free, "number", {}},
      {"XY", words, "storage of A and B", layouts(), true},
  };
}

CLI::Validator one_of(const Words& words) {
  const auto check = [words](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    const std::string choices = words.size() == 1 ? "the only choice is " : "choose from ";
    return fmt::format("{} is unknown; {}{}{}", text, choices, fmt::join(words, ", "),
                       suggestion(text, words));
  };
  return {check, ""};
}

/// What others call the words of Kiln.
struct Alias {
  std::string_view name;
  std::string_view word;
};
constexpr std::array<Alias, 45> kAliases{{
    {"half", "f16"},
    {"fp16", "f16"},
    {"float16", "f16"},
    {"bfloat16", "bf16"},
    {"bfloat", "bf16"},
    {"float", "f32"},
    {"fp32", "f32"},
    {"float32", "f32"},
    {"single", "f32"},
    {"double", "f64"},
    {"fp64", "f64"},
    {"float64", "f64"},
    {"tfloat32", "tf32"},
    {"fp8", "e4m3"},
    {"float8", "e4m3"},
    {"fp8_e4m3", "e4m3"},
    {"float8_e4m3fn", "e4m3"},
    {"fp8_e5m2", "e5m2"},
    {"float8_e5m2", "e5m2"},
    {"int8", "s8"},
    {"char", "s8"},
    {"uint8", "u8"},
    {"int32", "s32"},
    {"int", "s32"},
    {"int16", "s16"},
    {"short", "s16"},
    {"uint16", "u16"},
    {"uint32", "u32"},
    {"unsigned", "u32"},
    {"int64", "s64"},
    {"long", "s64"},
    {"uint64", "u64"},
    {"complex", "cf32"},
    {"complex64", "cf32"},
    {"complex128", "cf64"},
    {"int4", "s4"},
    {"uint4", "u4"},
    {"gpu", "cuda:0"},
    {"cuda", "cuda:0"},
    {"check", "verify"},
    {"test", "verify"},
    {"autotune", "tune"},
    {"optimize", "tune"},
    {"profile", "inspect"},
    {"benchmark", "bench"},
}};

}  // namespace

Words ValueKind::words() const {
  return source == Source::operations ? operation_names() : fixed_words;
}

std::string suggestion(std::string_view text, const std::vector<std::string>& words) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto alias = std::ranges::find(kAliases, lower, &Alias::name);
  if (alias != kAliases.end() && std::ranges::find(words, alias->word) != words.end()) {
    return fmt::format("; did you mean \"{}\"?", alias->word);
  }
  if (const auto near = did_you_mean(lower, words); !near.empty()) return near;
  // The beginning of one word alone.
  constexpr std::size_t kLeast = 3;
  const auto begins = [&](const std::string& word) { return word.starts_with(lower); };
  if (lower.size() < kLeast || std::ranges::count_if(words, begins) != 1) return {};
  return fmt::format("; did you mean \"{}\"?", *std::ranges::find_if(words, begins));
}

const std::vector<ValueKind>& value_kinds() {
  static const std::vector<ValueKind> kinds = make_kinds();
  return kinds;
}

const ValueKind* find_value_kind(std::string_view name) {
  const auto& kinds = value_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const ValueKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

void check_closed_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const ValueKind* kind = find_value_kind(option->get_type_name());
    if (kind == nullptr || !kind->closed) continue;
    option->check(one_of(kind->words()));
  }
}

}  // namespace kiln::tools
