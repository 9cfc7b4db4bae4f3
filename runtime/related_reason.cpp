// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/related_reason.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace kiln::detail {
namespace {

/// "types, layout": in what two problems differ besides their sizes.
std::vector<std::string_view> differences(const Problem& left, const Problem& right) {
  std::vector<std::string_view> names;
  if (left.types != right.types) names.emplace_back("types");
  const auto differ = [&](std::string_view trait) {
    return std::any_of(left.traits.begin(), left.traits.end(), [&](const NamedValue& own) {
      return own.name.starts_with(trait) && right.trait(own.name) != own.value;
    });
  };
  if (differ("trans_")) names.emplace_back("layout");
  if (differ("align_")) names.emplace_back("alignment");
  if (differ("reads_c")) names.emplace_back("use of C");
  if (left.epilogue != right.epilogue) names.emplace_back("epilogue");
  return names;
}

/// "repack=3 store=0": what is not as it was tuned.
std::string changes(const Config& there, const Config& here) {
  std::string text;
  for (const auto& [name, value] : here.values()) {
    if (there.find(name) == value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

std::string microseconds(double ns) {
  return fmt::format("{:.4g} us", ns / 1e3);
}

}  // namespace

std::string reason_for(const CarriedOver& carried) {
  const RelatedProblem& source = carried.from.of;
  const bool modelled =
      static_cast<Provenance>(carried.from.contender.rank.provenance) == Provenance::modelled;
  std::string text =
      fmt::format("{} for {} on {}", modelled ? "predicted" : "tuned", source.problem.sizes_text(),
                  source.device == carried.device ? "this device class" : source.device.name);
  const auto others = differences(carried.problem, source.problem);
  if (!others.empty()) text += fmt::format(" with other {}", fmt::join(others, ", "));
  const std::string changed = changes(carried.there, carried.here);
  if (!changed.empty()) text += fmt::format("; here with {}", changed);
  return text + fmt::format("; predicted to take {}", microseconds(carried.predicted_ns));
}

std::string reason_for_default(const std::string& template_name, double predicted_ns) {
  return fmt::format(
      "default configuration of {}: predicted to take {}, less than what was tuned for related "
      "problems",
      template_name, microseconds(predicted_ns));
}

}  // namespace kiln::detail
