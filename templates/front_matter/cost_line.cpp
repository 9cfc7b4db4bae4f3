// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/cost_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"

namespace kiln {
namespace {

constexpr std::string_view kLetOfCosts = "let ";

/// Of one of the costs, once.
void check_cost(const FrontMatterLine& line, std::string_view name,
                const std::vector<CostLine>& costs) {
  if (std::find(kCostNames.begin(), kCostNames.end(), name) == kCostNames.end()) {
    const std::vector<std::string> known(kCostNames.begin(), kCostNames.end());
    line.fail(0, fmt::format("unknown cost \"{}\"{}; the costs are: {}", name,
                             did_you_mean(name, known), fmt::join(known, " ")));
  }
  for (const auto& other : costs) {
    if (other.slot < 0 && other.name == name) {
      line.fail(0, fmt::format("the cost \"{}\" appears in two lines; remove one of them", name));
    }
  }
}

}  // namespace

void read_cost_line(const FrontMatterLine& line, NameTable& names, std::vector<CostLine>& costs) {
  const bool is_let = line.text.starts_with(kLetOfCosts);
  const auto [name, part] = name_and_value(line, is_let ? kLetOfCosts.size() : 0);
  if (!is_let) {
    check_cost(line, name, costs);
  } else if (names.find(name) >= 0) {
    line.fail(kLetOfCosts.size(),
              fmt::format("the name \"{}\" is already used; choose another name", name));
  }
  Expression value =
      Expression::parse(part.text, names, line.text_place.at(part.offset),
                        is_let ? Expression::Real::refused : Expression::Real::rounded_up);
  const int slot = is_let ? names.intern(name) : -1;
  costs.push_back({std::string(name), slot, std::move(value), line.comment, line.text_place.file,
                   line.text_place.line});
}

std::vector<DerivedValue> values_of(const std::vector<Requirement>& preferences,
                                    const std::vector<CostLine>& costs) {
  std::set<int> mentioned;
  for (const Requirement& each : preferences) {
    mentioned.insert(each.condition.names_used().begin(), each.condition.names_used().end());
  }
  std::vector<DerivedValue> values;
  // Backwards: a value may mention those above it.
  for (auto cost = costs.rbegin(); cost != costs.rend(); ++cost) {
    if (!mentioned.contains(cost->slot)) continue;
    mentioned.insert(cost->value.names_used().begin(), cost->value.names_used().end());
    values.push_back({cost->name, cost->value, cost->comment});
  }
  std::ranges::reverse(values);
  return values;
}

}  // namespace kiln
