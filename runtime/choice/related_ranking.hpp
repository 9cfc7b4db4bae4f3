// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cache/lookup/lookup.hpp"
#include "runtime/choice/choice.hpp"
#include "runtime/device.hpp"
#include "runtime/model/calibration.hpp"
#include "runtime/model/device_profile.hpp"
#include "templates/catalog.hpp"

namespace kiln::detail {

/// Says which configuration a problem gets that was never tuned: good ones of related problems are
/// carried over to it (runtime/model/transfer.hpp), and that comes first for which the static
/// model, calibrated with their measured times, predicts the shortest time. Compiles and reads
/// nothing. One thread.
class RelatedRanking {
 public:
  /// Both must outlive it.
  RelatedRanking(const Catalog& catalog, const DeviceInfo& device);

  /// The best few, the best first, each valid for the problem and not refused. `defaults`, of all
  /// templates that compute it, refused or not, and what these say is usual take part, as far as
  /// they state costs.
  /// If nothing is `related`, there is only that, by the model as it is; empty where none of
  /// `related` can be carried over. Deterministic.
  [[nodiscard]] std::vector<Suggestion> rank(const Problem& problem,
                                             const std::vector<RelatedTrial>& related,
                                             const Refused& refused,
                                             const std::vector<Choice>& defaults);

 private:
  /// A related trial, read: what was learned from it.
  struct Source {
    const KernelTemplate* kernel_template = nullptr;  ///< null: of no use
    Config config;
    std::string compiled;  ///< canonical text of its compiled part
    double factor = 0.0;   ///< measured over expected time, 0 if nothing was expected
  };
  struct Ranked {
    Suggestion suggestion;
    double predicted_ns = 0.0;
  };
  class Round;
  [[nodiscard]] const Source& source_of(const RelatedTrial& trial);
  [[nodiscard]] const DeviceProfile& profile_on(const DeviceClass& device);

  const Catalog& catalog_;
  const DeviceInfo& device_;
  std::map<std::string, DeviceProfile> profiles_;  ///< by the device class's text
  std::map<std::string, Source> sources_;          ///< by trial id
};

}  // namespace kiln::detail
