// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/policy.hpp"

#include <fmt/format.h>

namespace kiln {
namespace {

constexpr std::string_view kDataMark = " data: ";

}  // namespace

// Racing and the finalists are left out: they decide which candidates are timed again, not what a
// stored time means.
std::string MeasurementPolicy::canonical() const {
  const std::string caches = cold ? fmt::format("cold l2x{:g}", l2_multiple) : "warm";
  return fmt::format("{} samples={} batch={:g}ms graph{}{}", caches, samples, batch_ms,
                     data.empty() ? std::string_view() : kDataMark, data);
}

std::string policy_of_model(std::string_view model, const MeasurementPolicy& policy) {
  return fmt::format("{}{}{}", model, policy.data.empty() ? std::string_view() : kDataMark,
                     policy.data);
}

std::string_view data_of_policy(std::string_view canonical) {
  const auto at = canonical.find(kDataMark);
  return at == std::string_view::npos ? std::string_view()
                                      : canonical.substr(at + kDataMark.size());
}

}  // namespace kiln
