// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <set>
#include <string>

#include "runtime/model/device_profile.hpp"
#include "runtime/model/static_model.hpp"
#include "templates/kernel_template.hpp"
#include "templates/space/param_space.hpp"

namespace kiln {

/// Time by which a problem that a template states no costs for is compared with another one, in ns:
/// its arithmetic and its traffic at usual rates. Only ratios mean something.
[[nodiscard]] double work_ns(const Problem& problem, const DeviceProfile& profile);

/// static_time_ns(), of which this takes its arguments, or work_ns() where the template states no
/// costs.
[[nodiscard]] double expected_ns(const KernelTemplate& kernel_template, const Config& config,
                                 const Problem& problem, const DeviceProfile& profile);

/// Carries configurations of one template over to one problem: repairs what is not valid there, by
/// changing as few tunables as possible, and sets what is given only at launch, which costs no
/// compilation, by the static model.
class Transfer {
 public:
  /// All must outlive it; the template computes the problem.
  Transfer(const KernelTemplate& kernel_template, const Problem& problem,
           const DeviceProfile& profile);

  struct Result {
    Config config;
    double expected_ns = 0.0;
    double repaired_ns = 0.0;                 ///< before what is given at launch was set
    std::vector<std::int64_t> bindings = {};  ///< values of all names
  };
  /// `distance` is that of the problem it was measured for (cache/lookup/related.hpp). Nothing if
  /// no few changes make it valid, or the device cannot launch it; or if it would take more than
  /// `most_ns` once repaired, because setting what is given at launch takes longer than all else.
  /// Throws Error(template_) if a cost is undefined.
  [[nodiscard]] std::optional<Result> carry(
      const Config& config, double distance,
      double most_ns = std::numeric_limits<double>::infinity());

 private:
  using Changes = std::vector<std::pair<std::string, std::int64_t>>;
  /// Predicted time. `bindings`: values of all names for that configuration.
  [[nodiscard]] double time_ns(const Config& config, const std::vector<std::int64_t>& bindings,
                               LaunchDetail detail) const;
  /// Nothing if it is not valid.
  [[nodiscard]] std::optional<Result> timed(Config config) const;
  /// `result` with another value of one tunable; nothing if that is not valid.
  [[nodiscard]] std::optional<Result> timed_with(const Result& result, const std::string& tunable,
                                                 std::int64_t value) const;
  /// The best of what few changes make of it.
  [[nodiscard]] std::optional<Result> repair(const Config& config);
  /// Makes `best` the best by that tunable, as far as that pays step by step. False if no value
  /// made a difference.
  bool seek(const Tunable& tunable, Result& best) const;
  void set_at_launch(const Tunable& tunable, Result& best, bool is_far);

  const KernelTemplate& kernel_template_;
  const Problem& problem_;
  const DeviceProfile& profile_;
  StaticModel model_;
  ParamSpace space_;
  /// What repaired configurations before: rows that tensor copies do not take break most of them in
  /// the same way, and looking for it takes longer than all else.
  std::vector<Changes> repairs_;
  /// Tunables at launch whose values made no difference to the first configuration: the model does
  /// not see them, and is not asked again.
  std::set<std::string> unseen_;
};

}  // namespace kiln
