// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/lookup/lookup.hpp"

namespace kiln::detail {

/// A configuration that was carried over from one problem to another.
struct CarriedOver {
  const Problem& problem;  ///< the wanted one
  const DeviceClass& device;
  const RelatedTrial& from;
  const Config& there;  ///< as it was tuned
  const Config& here;   ///< as it is used
  double predicted_ns = 0.0;
};

/// "tuned for m=2048 n=2048 k=2048 on this device class, other types and alignment; with repack=3
/// store=0; predicted to take 35.2 us".
[[nodiscard]] std::string reason_for(const CarriedOver& carried);

/// Why a default configuration answers where related problems were tuned, or if `nothing_tuned`
/// where none was.
[[nodiscard]] std::string reason_for_default(const std::string& template_name, double predicted_ns,
                                             bool nothing_tuned);

/// The same for one that its template says is usual, as it is there and as it is used.
[[nodiscard]] std::string reason_for_usual(const std::string& template_name, const Config& there,
                                           const Config& here, double predicted_ns,
                                           bool nothing_tuned);

}  // namespace kiln::detail
