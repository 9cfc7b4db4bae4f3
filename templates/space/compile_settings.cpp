// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/compile_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "templates/nearest_name.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {

bool is_setting(std::string_view name) {
  return name.starts_with(kSettingPrefix);
}

std::optional<std::string> why_bad_setting(std::string_view name, std::int64_t value) {
  const auto refuse = [&](std::string_view allowed) {
    return fmt::format(
        "{} cannot be {}; without this setting, the compiler does as usual, and the "
        "only other choice is {}",
        name, value_text(value), allowed);
  };
  if (name == kRouteSetting) {
    if (value == value_of_name("ptx")) return std::nullopt;
    return refuse("ptx");
  }
  if (name == kVectorizeSetting) {
    if (value == value_of_bool(true)) return std::nullopt;
    return refuse("true");
  }
  if (name == kRegistersSetting) {
    const CompileOptionRule& rule = *find_compile_option(kRegistersOption);
    if (value >= rule.least && value <= rule.most) return std::nullopt;
    return fmt::format("{} cannot be {}; it must be a number from {} to {}", name,
                       value_text(value), rule.least, rule.most);
  }
  const std::array<std::string, 3> known{std::string(kRegistersSetting), std::string(kRouteSetting),
                                         std::string(kVectorizeSetting)};
  return fmt::format("there is no setting \"{}\"{}", name, meant_or_known(name, known));
}

bool has_settings(const Config& config) {
  return std::ranges::any_of(config.values(),
                             [](const auto& pair) { return is_setting(pair.first); });
}

Config without_settings(const Config& config) {
  Config plain;
  for (const auto& [name, value] : config.values()) {
    if (!is_setting(name)) plain.set(name, value);
  }
  return plain;
}

Config with_settings_of(const Config& from, Config config) {
  for (const auto& [name, value] : from.values()) {
    if (is_setting(name)) config.set(name, value);
  }
  return config;
}

CompileOptions options_of_settings(const Config& config) {
  CompileOptions options;
  if (config.find(kVectorizeSetting)) options.flags.emplace_back(kVectorizeOption);
  if (const auto registers = config.find(kRegistersSetting)) {
    options.flags.push_back(fmt::format("{}={}", kRegistersOption, *registers));
  }
  if (config.find(kRouteSetting)) options.route = CompileRoute::ptx;
  return options;
}

}  // namespace kiln
