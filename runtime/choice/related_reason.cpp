// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/choice/related_reason.hpp"
#include "templates/space/tunable_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace kiln::detail {
namespace {

/// What people call traits whose names begin like this; others go by their own names.
struct NamedTraits {
  std::string_view begin;
  std::string_view name;
};
constexpr std::array<NamedTraits, 3> kNamedTraits{
    {{"trans_", "layout"}, {"align_", "alignment"}, {"reads_c", "use of C"}}};

/// "types, layout": in what two problems differ besides their sizes.
std::vector<std::string_view> differences(const Problem& left, const Problem& right) {
  std::vector<std::string_view> names;
  if (left.types != right.types) names.emplace_back("types");
  for (const NamedValue& own : left.traits) {
    if (right.trait(own.name) == own.value) continue;
    const auto known =
        std::find_if(kNamedTraits.begin(), kNamedTraits.end(),
                     [&](const NamedTraits& traits) { return own.name.starts_with(traits.begin); });
    const std::string_view name = known != kNamedTraits.end() ? known->name : own.name;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  if (left.epilogue != right.epilogue) names.emplace_back("epilogue");
  return names;
}

/// "repack=3 store=0": what is not as it was tuned.
std::string changes(const Config& there, const Config& here) {
  std::string text;
  for (const auto& [name, value] : here.values()) {
    if (there.find(name) == value) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value_text(value));
  }
  return text;
}

std::string microseconds(double ns) {
  return fmt::format("{:.4g} us", ns / 1e3);
}

/// Of what was not tuned.
std::string prediction(double ns, bool nothing_tuned) {
  return fmt::format("predicted to take {}, {}", microseconds(ns),
                     nothing_tuned
                         ? "less than all other usable kernels; no similar problem was tuned"
                         : "less than kernels that were tuned for similar problems");
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
  if (!others.empty()) text += fmt::format(" with different {}", fmt::join(others, ", "));
  const std::string changed = changes(carried.there, carried.here);
  if (!changed.empty()) text += fmt::format("; here with {}", changed);
  return text + fmt::format("; predicted to take {}", microseconds(carried.predicted_ns));
}

std::string reason_for_default(const std::string& template_name, double predicted_ns,
                               bool nothing_tuned) {
  return fmt::format("default configuration of {}: {}", template_name,
                     prediction(predicted_ns, nothing_tuned));
}

std::string reason_for_usual(const std::string& template_name, const Config& there,
                             const Config& here, double predicted_ns, bool nothing_tuned) {
  const std::string changed = changes(there, here);
  return fmt::format("configuration from a \"usual\" line of {}{}: {}", template_name,
                     changed.empty() ? "" : ", with " + changed,
                     prediction(predicted_ns, nothing_tuned));
}

}  // namespace kiln::detail
