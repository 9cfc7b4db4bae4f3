// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/records.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// Decides which candidate is tried next. The session asks ahead of the GPU (to keep the compile
/// pool busy), so several proposals may be open when results come back. Used by one thread.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// The next candidate, never one proposed before; nothing if the strategy is done. The
  /// defaults of all templates come first whatever the strategy, proposed by the session.
  [[nodiscard]] virtual std::optional<Candidate> propose() = 0;
  /// The result of a candidate, proposed here or known from an earlier session; it is not proposed
  /// after that. `time_ns` is meaningful if the outcome is ok.
  virtual void observe(const Candidate& candidate, Outcome outcome, double time_ns) = 0;
  /// Proposes no more candidates of that template, which is far behind the others.
  virtual void abandon(const std::string& template_name) = 0;
  /// Whether nothing that is left promises a gain worth a try. It may be proposed nevertheless.
  [[nodiscard]] virtual bool has_converged() const { return false; }
  /// "random seed=7".
  [[nodiscard]] virtual std::string canonical() const = 0;
};

/// What a strategy may use. The space must outlive it.
struct StrategyInput {
  const SearchSpace& space;
  const Problem& problem;
  const DeviceLimits& limits;
  const DeviceClass& device;
  std::uint64_t seed = 1;
  /// Whether no proposal will be used any more; empty: they all may be. For what takes long, from
  /// any thread.
  std::function<bool()> must_end = {};
  /// Seconds by which a try of that candidate is expected to delay the others, compiling included;
  /// empty: all tries cost the same. For the thread that uses the strategy.
  std::function<double(const Candidate&)> cost_s = {};
};

/// A stretch of a search space that is tried before the ones after it.
struct Stretch {
  std::size_t part = 0;  ///< of the search space
  ParamSpace space;
  std::optional<ParamSpace> done;  ///< what an earlier stretch covers of it

  [[nodiscard]] bool is_done(const Config& config) const { return done && done->contains(config); }
};

/// The search space as its templates prefer it: first what they prefer of each part, then the rest.
[[nodiscard]] std::vector<std::vector<Stretch>> stretches(const SearchSpace& space);

/// The strategy that suits devices which measure.
inline constexpr std::string_view kGuided = "guided";

/// Makes the strategy of that name. Throws Error(usage) that lists the names for an unknown one.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const std::string& name,
                                                      const StrategyInput& input);
/// Names of all strategies, sorted.
[[nodiscard]] std::vector<std::string> strategy_names();

/// "rows_fast block=64 ...": the candidate for messages and as a key.
[[nodiscard]] std::string candidate_text(const Candidate& candidate);

}  // namespace kiln
