// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/lookup/contender.hpp"
#include "cache/store/store.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// A good result for a problem that resembles the requested one.
struct RelatedTrial {
  RelatedProblem of;  ///< what it was measured for, and how far that is
  Contender contender;
  const TuningStore* store = nullptr;  ///< where it is
};

/// A configuration to answer with: that of a related trial, or made from it.
struct Suggestion {
  std::size_t source = 0;  ///< number of the related trial
  std::string template_name;
  Config config;
  Match match = Match::related_problem;
  std::string reason;  ///< one sentence for a person
};

struct LookupRequest {
  Problem problem;
  DeviceClass device;
  Environment environment;  ///< the current one; only driver and toolkit are compared
  /// Digest of a template as it is now, or empty if there is none of that name: rows with other
  /// digests are stale and ignored.
  std::function<std::string(std::string_view template_name)> current_digest;
  /// judge_digest() of the operation as it is now: verdicts of others are history. Unset: any.
  std::optional<std::string> judge;
  /// Whether that config is valid for the requested problem on this device.
  std::function<bool(std::string_view template_name, const Config&)> is_valid;
  /// What "best" means for the problem itself. Related problems answer by time, whatever it is.
  Objective objective = {};
  /// Where the problem itself was never tuned: what to answer with, judging by these results, of
  /// one provenance and of the current templates; the best first. Without it nothing answers.
  std::function<std::vector<Suggestion>(const std::vector<RelatedTrial>&)> suggest;
};

/// Why an answer may not be the one that the databases should give.
struct LookupWarning {
  enum class About : std::uint8_t {
    database,     ///< one that failed
    rows,         ///< damaged ones
    unavailable,  ///< a better kernel without its template
  };
  About about;
  std::string cause;  ///< equal for warnings of which one is enough
  std::string text;
};

struct LookupAnswer {
  Match match = Match::none;   ///< none if nothing answers
  std::optional<Trial> trial;  ///< what it is known from
  std::string template_name;   ///< the trial's, or
  Config config;               ///< what was proposed instead
  std::string reason;          ///< one sentence for a person
  /// The better kernel that is known but unusable, and why; also part of `reason`.
  std::string unavailable;
  /// A store that failed while another one answered, rows that were damaged, a better
  /// kernel whose template is gone or has changed, or whose judge has.
  std::vector<LookupWarning> warnings;
};

/// Best stored candidate for the request. Measured ones come first whatever the match: even a
/// neighbour's measurement is better knowledge than a prediction. Among those of one provenance,
/// the first store that has an exact answer wins, then the best class of match over all stores (the
/// user's before the site's). Otherwise the good results of the nearest related problems of all
/// stores (related.hpp) are handed to `suggest`, the nearest first. Ignores `compiled` rows. Throws
/// Error(database) when a store fails and no other one answers.
[[nodiscard]] LookupAnswer look_up(const std::vector<const TuningStore*>& stores,
                                   const LookupRequest& request);

}  // namespace kiln
