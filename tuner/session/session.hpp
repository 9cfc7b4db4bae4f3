// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/store/store.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/render/renderer.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/policy.hpp"
#include "tuner/session/budget.hpp"
#include "tuner/session/failures.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// How many ragged sizes candidates are verified on.
enum class Thoroughness : std::uint8_t {
  full,
  brief,  ///< one large one instead of two: on an emulated device they are most of the work
  deep,   ///< also deeper ones, of which only the first that a candidate is valid for is needed
};

struct TuneRequest {
  ProblemCase tuned;                   ///< of declared_case(), or of the typed form
  std::vector<std::string> templates;  ///< empty: all that support the problem
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> choices;  ///< --set
  std::string strategy = "random";
  std::uint64_t seed = 1;
  Budget budget;
  MeasurementPolicy policy;
  int compile_threads = 0;  ///< see compile_threads()
  double candidate_timeout_s = 10.0;
  bool again = false;  ///< measure candidates that already have an outcome
  /// Try other launches of the best codes while compilers are busy, if a time is all that limits
  /// the session and the device measures.
  bool fill_waits = false;
  Thoroughness thoroughness = Thoroughness::full;
};

/// A session's progress; passed to the observer after each candidate.
struct Progress {
  std::uint64_t done = 0;      ///< candidates that got an outcome
  std::uint64_t known = 0;     ///< taken over from earlier sessions
  std::uint64_t space = 0;     ///< valid candidates
  std::uint64_t planned = 0;   ///< how many can be reached: budget or space
  std::uint64_t compiled = 0;  ///< of `done`, those that compiled
  std::uint64_t codes = 0;     ///< different machine codes, with their launches, among these
  std::uint64_t shared = 0;    ///< candidates that nothing ran for: their code had an outcome
  std::map<Outcome, std::uint64_t> by_outcome;
  std::uint64_t dropped = 0;   ///< ok, but abandoned early as hopeless
  std::uint64_t given_up = 0;  ///< never tried, because their template is hopeless
  std::optional<Trial> best;
  double elapsed_s = 0.0;
  double device_s = 0.0;     ///< of that, while a candidate or the finalists were on the device
  double remaining_s = 0.0;  ///< estimate; the smaller of budget and work left
  bool by_time = false;      ///< the budget of time ends before `planned` is reached
  double share = 0.0;        ///< 0 to 1: of that budget if `by_time`, else of `planned`
  std::string phase;         ///< "preparing", "searching", "finalists", "done"
};

/// Receives a session's events on the thread that runs it. Must not throw.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_progress(const Progress&) {}
  virtual void on_trial(const Trial&) {}
  virtual void on_note(const std::string&) {}
};

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

/// One tuning run: space -> strategy -> static pruning -> compile pool -> verify and time -> store.
/// Every outcome is stored as soon as it is known. Candidates that already have an outcome in the
/// database (same key) are not run again unless `again`; those whose machine code and launches
/// already have one in this environment get a trial that shares it. Setting `stop` ends the run
/// cleanly, as the budget's end does: what is being compiled is given up, and the candidate in
/// flight gets a moment (StopGrace), then it is aborted and gets no outcome. Sessions may share a
/// database; none measures what another one is measuring. Throws Error for a broken environment,
/// Error(usage) for a problem with a size of 0 (why_nothing_to_tune); a failing candidate never
/// throws.
[[nodiscard]] TuneResult tune(const TuneRequest& request, const Catalog& catalog,
                              std::shared_ptr<Compiler> compiler, Evaluator& evaluator,
                              TuningStore& store, SessionObserver& observer,
                              const std::atomic<bool>& stop);

/// The same without a device: renders and compiles the whole space (or what the budget allows) for
/// `arch`, stores each outcome with provenance `compiled`, best occupancy first. The device class
/// is {"compile-only", arch, limits of the arch}. Nothing is shared, but what could be is counted.
[[nodiscard]] TuneResult tune_compile_only(const TuneRequest& request, const std::string& arch,
                                           const Catalog& catalog,
                                           std::shared_ptr<Compiler> compiler, TuningStore& store,
                                           SessionObserver& observer,
                                           const std::atomic<bool>& stop);

/// The tuned problem first, then ragged sizes of the same kind that every candidate must get right
/// as well, then with Thoroughness::deep those where a fault would show that shows at no shorter
/// length: smallest first, and one of them is enough. None of those has more than `most_products`
/// multiply-adds (0: any number).
[[nodiscard]] std::vector<ProblemCase> verification_cases(const ProblemCase& tuned,
                                                          Thoroughness thoroughness,
                                                          std::int64_t most_products = 0);

/// How many of the cases, the first of which is the problem itself, are others that the
/// configuration is valid for.
[[nodiscard]] std::size_t count_ragged(const KernelTemplate& kernel_template, const Config& config,
                                       const DeviceLimits& limits,
                                       const std::vector<ProblemCase>& cases);

/// How many of the last of verification_cases() are there for Thoroughness::deep.
[[nodiscard]] std::size_t count_deep(const ProblemCase& tuned, std::int64_t most_products);

/// Whether candidates have to be exact on whole numbers, too.
[[nodiscard]] bool is_judged_exactly(const EvaluationSetup& setup);

/// Compiles what set_up() needs, through `compiler`. Throws Error(compiler) with the log if the
/// support kernels or the reference don't compile, Error(usage) for a problem without results.
[[nodiscard]] EvaluationSetup make_setup(const TuneRequest& request, Compiler& compiler,
                                         const DeviceInfo& device);

/// What prepare_candidate accepts.
enum class Admission : std::uint8_t {
  runnable,     ///< whatever compiles and fits the device
  competitive,  ///< also: no spilled registers, no instruction that ptxas serialised or ignored
};

/// A compiled candidate ready for the evaluator: renders, compiles, plans every case. If it
/// fails, `outcome` and `message` say why and the job is empty.
struct PreparedCandidate {
  Candidate candidate;
  RenderedKernel rendered;
  CompileResult compiled;
  KernelResources resources;      ///< meaningful when `compiled.ok`
  Outcome outcome = Outcome::ok;  ///< rejected, compile_failed, out_of_resources or ok
  std::string message;
  EvaluationJob job;
  std::string code_digest;  ///< run_digest() of the job; "" when there is none
};

/// `cases[0]` is the problem that the candidate is for. Thread-safe as far as `compiler` is.
/// Throws Error(usage) for an unknown template or a configuration that is invalid for the problem.
[[nodiscard]] PreparedCandidate prepare_candidate(const Candidate& candidate,
                                                  const Catalog& catalog, Compiler& compiler,
                                                  const DeviceLimits& limits,
                                                  const std::vector<ProblemCase>& cases,
                                                  Admission admission = Admission::runnable,
                                                  CodeKind code = CodeKind::cubin);

/// The same for a configuration that differs from a prepared one only in what is known at launch:
/// nothing is compiled. Precondition: the configuration is valid for the problem.
[[nodiscard]] PreparedCandidate prepare_variant(const PreparedCandidate& prepared,
                                                const Config& config, const Catalog& catalog,
                                                const DeviceLimits& limits,
                                                const std::vector<ProblemCase>& cases,
                                                CodeKind code);

}  // namespace kiln
