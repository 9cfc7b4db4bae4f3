// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/lookup/lookup.hpp"
#include "cache/store/store.hpp"
#include "kiln/types.hpp"
#include "runtime/choice/choice.hpp"
#include "runtime/choice/related_ranking.hpp"
#include "runtime/device.hpp"
#include "runtime/library/warning_sink.hpp"
#include "templates/catalog.hpp"

namespace kiln::detail {

/// What the databases know about a problem.
struct Known {
  std::optional<Choice> choice;  ///< the best candidate that can be used
  /// One sentence: which better one cannot be used; "" if there is none.
  std::string unavailable;
};

/// Looks for the best known candidate: in the user's database and the site's, then among what
/// the templates call usual and their defaults. A database that cannot be read is a miss and, once,
/// a warning; the next look-up tries again. One thread.
class KernelChooser {
 public:
  KernelChooser(const Catalog& catalog, const DeviceInfo& device, std::string database,
                std::vector<std::string> site_databases, WarningSink& warnings,
                Objective objective = {});

  /// Why the candidate was found wrong for that problem on this device; "": it was not.
  [[nodiscard]] std::string known_fault(const Problem& problem, const Choice& choice);

  /// Best stored candidate not in `refused`; no choice on a miss.
  [[nodiscard]] Known stored(const Problem& problem, const std::string& toolkit,
                             const Refused& refused);
  /// For a problem of which the databases know nothing: what the templates call usual, or one of
  /// their defaults, by the static model. The default of the template with the highest priority,
  /// where that calls nothing usual or states no costs. The reason also says what is `unavailable`.
  [[nodiscard]] std::optional<Choice> predicted(const Problem& problem, const Refused& refused,
                                                const std::string& unavailable);
  /// The first `most` kernels that an application would get, if each one before had failed. The
  /// list ends before the first template without costs, which would give any of its configurations.
  [[nodiscard]] std::vector<Choice> likely(const Problem& problem, const std::string& toolkit,
                                           std::size_t most);
  /// The default configuration of the template with the highest priority that computes the problem
  /// here and is not in `refused`; if all are, a configuration near one, until kMostTries are
  /// refused. The reason also says what is `unavailable`.
  [[nodiscard]] std::optional<Choice> fallback(const Problem& problem, const Refused& refused,
                                               const std::string& unavailable) const;
  /// For problems whose product is empty: the default configuration of the template with the lowest
  /// priority that takes the types. The plainest kernel is right whatever tuning or users brought
  /// in, and as fast as any at scaling C. `reason` becomes the choice's.
  [[nodiscard]] std::optional<Choice> plainest(const Problem& problem, const Refused& refused,
                                               std::string_view reason) const;
  /// One line for each template of the operation that cannot compute the problem, or of which all
  /// that was tried is in `refused`.
  [[nodiscard]] std::vector<std::string> why_none(const Problem& problem,
                                                  const Refused& refused) const;

  [[nodiscard]] std::uint64_t database_reads() const { return database_reads_; }

 private:
  [[nodiscard]] std::vector<const TuningStore*> open_stores();
  /// The templates that compute the problem here, highest priority first.
  [[nodiscard]] std::vector<const KernelTemplate*> by_priority(const Problem& problem) const;
  /// Their default configurations, in the same order, as far as they are quickly found: counting a
  /// large space for one takes some tenths of a second.
  [[nodiscard]] std::vector<Choice> near_defaults(
      const std::vector<const KernelTemplate*>& templates, const Problem& problem) const;
  /// The first of their defaults that is not in `refused`, else what is near one.
  [[nodiscard]] std::optional<Choice> default_or_near(
      const std::vector<const KernelTemplate*>& templates, const Problem& problem,
      const Refused& refused) const;
  /// judge_digest() of the operation: made when it is first asked for.
  [[nodiscard]] const std::string& judge_of(const std::string& operation);
  [[nodiscard]] bool valid(std::string_view template_name, const Config& config,
                           const Problem& problem) const;

  const Catalog& catalog_;
  const DeviceInfo& device_;
  WarningSink& warnings_;
  Objective objective_;  ///< of stored()
  RelatedRanking ranking_;
  struct Source {
    std::string path;
    std::optional<TuningStore> store;
  };
  std::vector<Source> sources_;                ///< the user's, then the site's
  std::map<std::string, std::string> judges_;  ///< by the name of the operation
  std::uint64_t database_reads_ = 0;
};

}  // namespace kiln::detail
