// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/store.hpp"
#include "kiln/types.hpp"

namespace kiln {

struct LookupRequest {
  Problem problem;
  DeviceClass device;
  Environment environment;  ///< the current one; only driver and toolkit are compared
  /// Digest of a template as it is now, or empty if there is none of that name: rows with other
  /// digests are stale and ignored.
  std::function<std::string(std::string_view template_name)> current_digest;
  /// Whether that config is valid for the requested problem on this device (a nearest match was
  /// tuned for another one).
  std::function<bool(std::string_view template_name, const Config&)> is_valid;
};

/// Why an answer may not be the one that the databases should give.
struct LookupWarning {
  std::string cause;  ///< equal for warnings of which one is enough
  std::string text;
};

struct LookupAnswer {
  Match match = Match::none;  ///< exact, same_device_class, nearest_problem or none
  std::optional<Trial> trial;
  std::string reason;  ///< one sentence for a person
  /// The better kernel that is known but unusable, and why; also part of `reason`.
  std::string unavailable;
  /// A store that failed while another one answered, rows that were damaged, a better
  /// kernel whose template is gone or has changed.
  std::vector<LookupWarning> warnings;
};

/// Best stored candidate for the request. Measured ones come first whatever the match: even a
/// neighbour's measurement is better knowledge than a prediction. Among those of one provenance, a
/// nearest problem is the one with the smallest sum of |log2(size/size')| over all sizes, at most 2
/// for any one size and 4 in all; a row beyond that never answers. The first store that has an
/// exact answer wins, then the best class of match over all stores (the user's before the site's;
/// of nearest problems the nearer). Ignores `compiled` rows. Throws Error(database) when a store
/// fails and no other one answers.
[[nodiscard]] LookupAnswer look_up(const std::vector<const TuningStore*>& stores,
                                   const LookupRequest& request);

}  // namespace kiln
