// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sessions without a device: every candidate is rendered and compiled, none is run.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kiln/error.hpp"
#include "tuner/session/compiler.hpp"
#include "tuner/session/context.hpp"
#include "tuner/session/ledger.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/resume.hpp"
#include "tuner/session/search.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/session.hpp"

namespace kiln {
namespace {

DeviceLimits limits_or_throw(const std::string& arch, const Compiler& compiler) {
  const auto limits = limits_of_arch(arch);
  if (!limits) {
    throw Error(ErrorKind::usage, fmt::format("unknown architecture '{}'. Next: choose from {}",
                                              arch, fmt::join(known_archs(), ", ")));
  }
  const auto supported = compiler.supported_archs();
  if (std::find(supported.begin(), supported.end(), limits->arch) == supported.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("the compiler {} does not support {}. Next: choose from {}",
                            compiler.identity(), limits->arch, fmt::join(supported, ", ")));
  }
  return *limits;
}

}  // namespace

TuneResult tune_compile_only(const TuneRequest& request, const SearchSpace& space,
                             const std::string& arch, const Catalog& catalog,
                             std::shared_ptr<Compiler> compiler, TuningStore& store,
                             SessionObserver& observer, const std::atomic<bool>& stop) {
  require_product(request.tuned.problem);
  const BudgetClock clock(request.budget);
  const DeviceLimits limits = limits_or_throw(arch, *compiler);
  const SessionContext context{
      .request = request,
      .catalog = catalog,
      .store = store,
      .observer = observer,
      .stop = stop,
      .problem = request.tuned.problem,
      .limits = limits,
      .device = {"compile-only", limits.arch, limits.sm_count, limits.l2_bytes, ""},
      .environment = {"", compiler->identity(), ""},
      .provenance = Provenance::compiled,
      .judge = "",
      .session_id = random_id()};
  const StrategyInput input{space, context.problem, limits, context.device, request.seed};
  const auto strategy = make_strategy(request.strategy, input);
  ProposalQueue proposals(input, *strategy);
  SessionLedger ledger(context, space, strategy->canonical(), clock);
  std::set<std::string> codes;
  for (auto& trial : inherit(context, space).known) {
    const Candidate candidate{trial.key.template_name, trial.key.config};
    proposals.exclude(candidate);
    strategy->observe(candidate, trial.outcome, 0.0);
    codes.insert(trial.code_digest);
    ledger.take_over(std::move(trial));
  }

  const std::vector<ProblemCase> cases{request.tuned};
  SessionCompiler given_time(*compiler, [&] { return stop || clock.search_left_s() <= 0.0; });
  CandidateSearch search(context, clock, ledger, proposals, [&](const Proposal& proposal) {
    const auto admission = proposal.origin == Proposal::Origin::standard ? Admission::runnable
                                                                         : Admission::competitive;
    return prepare_candidate(proposal.candidate, catalog, given_time, limits, cases, admission);
  });
  const EndOfCompiling end(given_time);
  ledger.enter("searching");
  const std::string state =
      search.run([&](const Proposal& proposal, const PreparedCandidate& prepared) {
        if (prepared.outcome == Outcome::ok) {
          const std::string& code = prepared.code_digest;
          ledger.count_code(!code.empty() && !codes.insert(code).second);
        }
        const Trial& trial = ledger.record(prepared_trial(context, prepared));
        strategy->observe(proposal.candidate, trial.outcome, 0.0);
        return true;
      });
  return ledger.conclude(space, state);
}

}  // namespace kiln
