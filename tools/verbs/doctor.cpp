// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/verbs/health.hpp"
#include "tools/verbs/save_profile.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

std::string_view state_text(Finding::State state) {
  switch (state) {
    case Finding::State::ok:
      return "ok";
    case Finding::State::warning:
      return "warning";
    case Finding::State::broken:
      return "broken";
  }
  return "broken";
}

Json health_json(const Health& health) {
  Json document = json_document("doctor");
  document["findings"] = Json::array();
  for (const auto& finding : health.findings) {
    document["findings"].push_back({{"item", finding.item},
                                    {"state", state_text(finding.state)},
                                    {"text", finding.text},
                                    {"fix", finding.fix}});
  }
  document["settings"] = Json::array();
  for (const auto& setting : health.settings) {
    document["settings"].push_back(
        {{"name", setting.name}, {"value", setting.value}, {"origin", setting.origin}});
  }
  return document;
}

/// Text of several lines stays in its column.
std::string indented(const std::string& text, std::size_t width) {
  std::string result;
  for (const char letter : text) {
    result += letter;
    if (letter == '\n') result.append(width, ' ');
  }
  return result;
}

std::string health_text(const Health& health) {
  constexpr std::size_t kColumn = 22;
  std::string text;
  for (const auto& finding : health.findings) {
    text += fmt::format("{:<8} {:<12} {}\n", state_text(finding.state), finding.item,
                        indented(finding.text, kColumn));
    if (!finding.fix.empty()) {
      text += fmt::format("{:<{}}-> {}\n", "", kColumn, indented(finding.fix, kColumn + 3));
    }
  }
  Table table({{"setting"}, {"from"}, {"value"}});
  for (const auto& setting : health.settings) {
    table.add_row({setting.name, setting.origin, setting.value.empty() ? "-" : setting.value});
  }
  return text + "\n" + table.text();
}

int doctor(Context& context) {
  const Health health = examine(context);
  context.print(context.flags.json ? json_text(health_json(health)) : health_text(health));
  if (health.broken()) return kExitFailure;
  return health.device_found ? kExitOk : kExitNoDevice;
}

}  // namespace

Action add_doctor(CLI::App& verb, const Operation& /*operation*/) {
  const auto profile = std::make_shared<std::string>();
  verb.add_option(
          "--save-profile", *profile,
          "Measure the GPU's peak rates and write them to FILE (- means stdout), instead of "
          "checking the machine. To emulate this GPU later, use --device emulated:FILE")
      ->type_name("FILE");
  return [profile](Context& context) {
    if (profile->empty()) return doctor(context);
    if (context.flags.json) {
      throw Error(ErrorKind::usage,
                  "--save-profile writes a TOML file, not JSON; leave out --json");
    }
    return save_profile(context, *profile);
  };
}

}  // namespace kiln::tools
