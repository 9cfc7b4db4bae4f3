// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/session/failures.hpp"
#include "tuner/session/progress.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

struct TuneResult {
  SessionRecord session;
  std::optional<Trial> best;     ///< of the request's space, from this run or an earlier one
  std::vector<Trial> finalists;  ///< as re-measured, best first
  Progress progress;
  std::vector<FailureGroup> failures;    ///< of this run and of those before it, in its space
  std::vector<std::string> unsupported;  ///< templates that did not take part, with the reason
  std::size_t ragged_sizes = 0;  ///< that the best is verified on, besides the problem itself
  /// Why the device's checks did not look at the best, or at what may be it; "" if they did, or it
  /// has none.
  std::string unchecked;
  bool ended_by_count = false;  ///< the budget that ended the search is that of candidates
};

/// One tuning run over `space`, which make_search_space() makes for the problem and the device:
/// strategy -> static pruning -> compile pool -> verify and time -> store.
/// Every outcome is stored as soon as it is known. Candidates that already have a result in the
/// database (same key) are not run again unless `again`; those whose machine code and launches
/// already have one in this environment get a trial that shares it. Setting `stop` ends the run
/// cleanly, as the budget's end does: what is being compiled is given up, and the candidate in
/// flight gets a moment (StopGrace), then it is aborted and gets no outcome. Sessions may share a
/// database; none measures what another one is measuring. Throws Error for a broken environment,
/// Error(usage) for a problem with a size of 0 (why_nothing_to_tune); a failing candidate never
/// throws.
[[nodiscard]] TuneResult tune(const TuneRequest& request, const SearchSpace& space,
                              const Catalog& catalog, std::shared_ptr<Compiler> compiler,
                              Evaluator& evaluator, TuningStore& store, SessionObserver& observer,
                              const std::atomic<bool>& stop);

/// The same without a device: renders and compiles the whole space (or what the budget allows) for
/// `arch`, stores each outcome with provenance `compiled`, best occupancy first. The device class
/// is {"compile-only", arch, limits of the arch}. Nothing is shared, but what could be is counted.
[[nodiscard]] TuneResult tune_compile_only(const TuneRequest& request, const SearchSpace& space,
                                           const std::string& arch, const Catalog& catalog,
                                           std::shared_ptr<Compiler> compiler, TuningStore& store,
                                           SessionObserver& observer,
                                           const std::atomic<bool>& stop);

}  // namespace kiln
