// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/allow_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "templates/nearest_name.hpp"
#include "templates/template_parts.hpp"

namespace kiln {
namespace {

struct NamedAllowance {
  std::string_view name;
  Allowed what;
};
constexpr std::array<NamedAllowance, 2> kAllowances{
    {{"race same_value", Allowed::race_same_value},
     {"uninitialised unused", Allowed::uninitialised_unused}}};

std::string_view name_of(Allowed what) {
  return std::ranges::find(kAllowances, what, &NamedAllowance::what)->name;
}

}  // namespace

void add_allowance(const FrontMatterLine& line, std::vector<AllowSpec>& allowances) {
  const auto* const known = std::ranges::find(kAllowances, line.text, &NamedAllowance::name);
  if (known == kAllowances.end()) {
    std::vector<std::string> names;
    for (const NamedAllowance& each : kAllowances) names.emplace_back(each.name);
    line.fail(0, fmt::format("\"allow\" does not accept the name \"{}\"{}", line.text,
                             meant_or_known(line.text, names)));
  }
  if (line.comment.empty()) {
    line.fail(line.text.size(), fmt::format("an \"allow\" line needs a reason, which `kiln "
                                            "verify` shows. Next: write allow {}  // REASON",
                                            line.text));
  }
  if (std::ranges::find(allowances, known->what, &AllowSpec::what) != allowances.end()) {
    line.fail_at_key(fmt::format(
        "this launch already has a line \"allow {}\"; remove one of the two lines", line.text));
  }
  allowances.push_back({known->what, line.comment, line.text_place.line});
}

std::uint8_t allowed_mask(const std::vector<AllowSpec>& allowances) {
  std::uint8_t mask = 0;
  for (const AllowSpec& each : allowances) mask |= static_cast<std::uint8_t>(each.what);
  return mask;
}

std::string accepted_text(const std::vector<LaunchSpec>& launches) {
  std::string text;
  for (const LaunchSpec& launch : launches) {
    for (const AllowSpec& each : launch.allowances) {
      text += fmt::format("{}accepted in {}: {} ({})", text.empty() ? "" : "; ", launch.kernel,
                          name_of(each.what), each.reason);
    }
  }
  return text;
}

}  // namespace kiln
