// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/selection.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/emulation.hpp"
#include "tools/output/json.hpp"
#include "tools/output/judged_by.hpp"
#include "tools/output/source_lines.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/tune_report.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"
#include "tools/workbench.hpp"
#include "tuner/kept_sizes.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/checks.hpp"
#include "tuner/session/prepared_candidate.hpp"
#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"
#include "tuner/verify/verifier.hpp"

namespace kiln::tools {
namespace {

struct VerifyOptions {
  ProblemFlags problem;
  SelectionFlags selection;
  std::string timeout = "60s";
  std::uint64_t seed = 1;
  bool all = false;
  std::uint64_t sample = 0;
};

/// What the verifier says of one candidate, and on an emulated GPU what its checks found.
struct Judgement {
  ProblemCase request;
  DeviceInfo device;
  Chosen chosen;
  RenderedKernel rendered;
  std::string file;  ///< of its template, as the user can open it
  Outcome outcome = Outcome::ok;
  std::string message;
  Verification verification;
  std::vector<Problem> judged_on;  ///< the sizes that it is right on; none if it is not
  bool too_large = false;          ///< the problem itself is not one of them
  std::size_t ragged = 0;          ///< sizes besides it, deep ones not counted, that are valid
  bool exact = false;              ///< whole numbers had to come out exactly
  bool checked = false;            ///< whether `findings` say anything
  bool found = false;              ///< it ran to its end, and the verdict is what the checks found
  std::uint64_t space = 0;         ///< valid configurations of the template, this one among them
  std::vector<emulated::Report> findings;
  std::string remark;  ///< Device::take_remark()

  [[nodiscard]] bool clean() const { return outcome == Outcome::ok && findings.empty(); }
};

/// Whether it got as far as the device.
bool was_run(Outcome outcome) {
  return outcome == Outcome::ok || outcome == Outcome::wrong_result ||
         outcome == Outcome::crashed || outcome == Outcome::timed_out;
}

bool ran_out_of_time(const std::vector<emulated::Report>& reports) {
  return std::any_of(reports.begin(), reports.end(), [](const emulated::Report& report) {
    return report.finding == emulated::Finding::timed_out;
  });
}

/// Runs what is judged: on the emulated GPU in this process, with its checks on, which a faulty
/// kernel cannot harm; on a real one in a worker.
class Judge {
 public:
  Judge(Context& context, const std::string& spec, double timeout_s) : context_(context) {
    if (names_emulated_device(spec)) {
      EmulationOptions options;
      options.checks = true;
      options.timeout_s = timeout_s;
      auto device = open_emulated(spec, options);
      emulated_ = device.get();
      bench_.evaluator = std::make_unique<LocalEvaluator>(std::move(device), BaselineSource{});
      bench_.compiler = context.compiler();
    } else {
      bench_ = open_workbench(context, {.times = false});
    }
  }

  [[nodiscard]] Evaluator& evaluator() { return *bench_.evaluator; }
  [[nodiscard]] CachingCompiler& compiler() { return *bench_.compiler; }
  [[nodiscard]] bool checks() const { return emulated_ != nullptr; }

  /// `request` is the same for all that it judges.
  void judge(Judgement& judgement, const TuneRequest& request) {
    const DeviceInfo& info = evaluator().info();
    if (!setup_) setup_ = make_setup(request, compiler(), info);
    EvaluationSetup setup = *setup_;
    auto prepared = prepare_candidate(judgement.chosen.candidate, context_.catalog(), compiler(),
                                      info.limits, setup.cases, Admission::runnable, info.code);
    judgement.rendered = std::move(prepared.rendered);
    judgement.file = context_.catalog().at(judgement.chosen.candidate.template_name).file();
    judgement.outcome = prepared.outcome;
    judgement.message = prepared.message;
    if (prepared.outcome != Outcome::ok) return;
    const std::size_t deep = count_deep(request.tuned, info.most_products);
    const auto first_deep = setup.cases.end() - static_cast<std::ptrdiff_t>(deep);
    judgement.ragged =
        count_ragged(context_.catalog().at(judgement.rendered.template_name),
                     judgement.rendered.config, info.limits, {setup.cases.begin(), first_deep});
    set_up(setup, leave_out_needless(setup, prepared.job, deep));
    // Nothing that the reference and the data did is the candidate's doing.
    if (emulated_ != nullptr) {
      static_cast<void>(emulated_->take_reports());
      static_cast<void>(emulated_->take_remark());
    }
    prepared.job.time_it = false;
    prepared.job.timeout_s = request.candidate_timeout_s;
    judgement.too_large = !is_checkable(info, setup.cases.front());
    judgement.exact = is_judged_exactly(setup);
    Evaluation evaluation = evaluate(prepared.job);
    judgement.outcome = evaluation.outcome;
    judgement.message = std::move(evaluation.message);
    // The first wrong case ends it; the message names that one.
    for (const ProblemCase& one : setup.cases) {
      const bool run = evaluation.outcome == Outcome::ok && is_checkable(info, one);
      if (run) judgement.judged_on.push_back(one.problem);
    }
    judgement.verification = std::move(evaluation.verification);
    judgement.checked = checks() && was_run(judgement.outcome);
    if (emulated_ != nullptr) {
      judgement.findings = emulated_->take_reports();
      judgement.remark = emulated_->take_remark();
    }
    // A launch that a race spoils crashes nothing.
    const auto ended = [](const emulated::Report& finding) { return finding.ended; };
    const auto& findings = judgement.findings;
    judgement.found = judgement.outcome == Outcome::wrong_result && !findings.empty() &&
                      std::none_of(findings.begin(), findings.end(), ended);
  }

 private:
  /// References are computed again only for other cases than those of the candidate before.
  void set_up(const EvaluationSetup& setup, std::vector<std::size_t> cases) {
    if (cases == cases_) return;
    cases_.clear();
    try {
      evaluator().set_up(setup);
    } catch (const Error&) {
      blame_limit();
      throw;
    }
    cases_ = std::move(cases);
  }

  Evaluation evaluate(const EvaluationJob& job) {
    try {
      return evaluator().evaluate(job);
    } catch (const Error&) {
      blame_limit();
      throw;
    }
  }

  /// The limit holds for the launches that make data and compare results, too; that these ran into
  /// it is no fault of the device.
  void blame_limit() {
    if (emulated_ == nullptr || !ran_out_of_time(emulated_->take_reports())) return;
    throw Error(ErrorKind::usage,
                "--timeout: Kiln could not compute the inputs or the reference results within the "
                "time limit of one launch. Next: raise --timeout, or verify a smaller problem.");
  }

  Context& context_;
  EmulatedDevice* emulated_ = nullptr;
  Workbench bench_;
  std::optional<EvaluationSetup> setup_;
  std::vector<std::size_t> cases_;  ///< of it, that the evaluator is set up for
};

std::string verdict_text(const Judgement& judgement) {
  if (judgement.outcome == Outcome::ok) {
    const std::string& unchecked = judgement.verification.evidence;
    return fmt::format(
        "correct: {}{} on random data{}{}", judgement.exact ? "no errors on integer data, " : "",
        error_text(judgement.verification.worst_ratio), unchecked.empty() ? "" : "; ", unchecked);
  }
  // A finding ends the launch, and its text the message; it follows in full.
  std::string why = judgement.message;
  if (!judgement.findings.empty()) {
    const std::string first = judgement.findings.front().describe();
    if (const auto at = why.find(first); at != std::string::npos) {
      why.replace(at, first.size(), emulated::name_of(judgement.findings.front().finding));
    }
  }
  if (judgement.found) return fmt::format("NOT correct; the checks found: {}", why);
  return fmt::format("NOT correct, {}: {}{}", to_string(judgement.outcome), why,
                     ran_out_of_time(judgement.findings)
                         ? "; a launch exceeded --timeout. If the kernel is slow but does not "
                           "hang, raise --timeout"
                         : "");
}

std::string sizes_text(const Judgement& judgement) {
  std::vector<std::string> sizes;
  for (const Problem& problem : judgement.judged_on) {
    std::vector<std::int64_t> values;
    for (const NamedValue& size : problem.sizes) values.push_back(size.value);
    sizes.push_back(fmt::format("{}", fmt::join(values, " x ")));
  }
  const std::string run = fmt::format("{}", fmt::join(sizes, ", "));
  if (!judgement.too_large) return run;
  return fmt::format(
      "{} (smaller problems, because the requested problem is too large to run on {})", run,
      judgement.device.spec);
}

std::string checks_text(const Judgement& judgement) {
  if (!judgement.checked && judgement.device.provenance == Provenance::modelled) {
    return "none: the kernel did not run";
  }
  if (!judgement.checked) {
    return fmt::format("none on {}; use --device {} to look for races and missing waits",
                       judgement.device.spec, kDefaultEmulated);
  }
  if (judgement.findings.empty()) {
    return "no findings; Kiln checked bounds, alignment, uninitialised reads, races, waits, "
           "fences, barriers";
  }
  std::uint64_t repeats = 0;
  for (const auto& finding : judgement.findings) repeats += finding.times - 1;
  if (repeats == 0) return fmt::format("{} found", judgement.findings.size());
  return fmt::format("{} found; {} more at the same line{} not listed", judgement.findings.size(),
                     count_text(repeats), repeats == 1 ? " is" : "s are");
}

/// The lines that a finding names, of a race both.
std::string source_text(const emulated::Report& finding, const SourceLines& lines) {
  std::string text;
  const auto add = [&](const char* before, const std::string& place) {
    const auto line = lines.at(place);
    if (line.empty()) return;
    text += fmt::format("  {}{} | {}\n", before, lines.with_folder(place), line);
  };
  add("", finding.place);
  add("called at ", finding.caller);
  if (finding.other != finding.place) add("", finding.other);
  if (finding.other_caller != finding.caller) add("called at ", finding.other_caller);
  return text;
}

std::string findings_text(const Judgement& judgement) {
  const SourceLines lines(judgement.rendered.text, judgement.rendered.template_name + ".cu",
                          judgement.file);
  std::string text;
  for (const auto& finding : judgement.findings) {
    text += fmt::format("\n{}\n", finding.describe());
    text += source_text(finding, lines);
    const auto next = finding.next_step();
    if (!next.empty()) text += fmt::format("  Next: {}\n", next);
  }
  return text;
}

/// How much of the template the verdict is about.
std::string tried_text(const Judgement& judgement) {
  return fmt::format("1 of {} configurations; --all tries all, --sample N tries N",
                     count_text(judgement.space));
}

/// `all_disagree`: as judged_by() takes it.
void add_verdict(FactSheet& facts, const Judgement& judgement, bool all_disagree) {
  facts.add("verdict", verdict_text(judgement));
  if (judgement.outcome != Outcome::wrong_result || !judgement.findings.empty()) return;
  const std::string judge = judged_by(*find_operation(judgement.request.problem.operation),
                                      judgement.message, all_disagree);
  if (!judge.empty()) facts.add("criterion", judge);
}

std::string judgement_text(const Judgement& judgement) {
  FactSheet facts;
  add_choice(facts, judgement.chosen);
  if (judgement.space > 1) facts.add("tried", tried_text(judgement));
  add_verdict(facts, judgement, false);
  if (!judgement.judged_on.empty()) {
    facts.add("run on", sizes_text(judgement));
    if (judgement.ragged == 0) {
      facts.add("warning", edgeless_text(judgement.rendered.template_name));
    }
  }
  facts.add("checks", checks_text(judgement));
  if (!judgement.remark.empty()) facts.add("remark", judgement.remark);
  return fmt::format("{} on {}\n{}{}", heading_text(judgement.request.problem),
                     full_device_text(judgement.device), facts.text(), findings_text(judgement));
}

Json finding_json(const emulated::Report& finding, const SourceLines& lines) {
  Json found = {{"kind", emulated::name_of(finding.finding)},
                {"place", finding.place},
                {"line", lines.at(finding.place)},
                {"called_at", finding.caller},
                {"caller", lines.at(finding.caller)},
                {"kernel", finding.kernel},
                {"block", finding.block},
                {"thread", finding.thread},
                {"address", fmt::format("{:#x}", finding.address)},
                {"times", finding.times},
                {"text", finding.text},
                {"next", finding.next_step()}};
  if (finding.other.empty()) return found;
  found["other_place"] = finding.other;
  found["other_line"] = lines.at(finding.other);
  found["other_called_at"] = finding.other_caller;
  found["other_caller"] = lines.at(finding.other_caller);
  return found;
}

Json judgement_json(const Judgement& judgement) {
  Json document = json_document("verify");
  document["problem"] = to_json(judgement.request.problem);
  document["device"] = judgement.device.spec;
  document["device_class"] = to_json(judgement.device.device_class);
  document.update(choice_json(judgement.chosen));
  document["configurations"] = judgement.space;
  document["outcome"] = to_string(judgement.outcome);
  document["found_by_checks"] = judgement.found;
  if (!judgement.message.empty()) document["message"] = judgement.message;
  document["run_on"] = Json::array();
  for (const Problem& problem : judgement.judged_on) {
    Json sizes = Json::object();
    for (const NamedValue& size : problem.sizes) sizes[size.name] = size.value;
    document["run_on"].push_back(std::move(sizes));
  }
  document["ragged_sizes"] = judgement.ragged;
  document["verified"] = judgement.verification.passed;
  document["worst_ratio"] = judgement.verification.worst_ratio;
  document["evidence"] = judgement.verification.evidence;
  document["checked"] = judgement.checked;
  document["clean"] = judgement.clean();
  if (!judgement.remark.empty()) document["remark"] = judgement.remark;
  const SourceLines lines(judgement.rendered.text, judgement.rendered.template_name + ".cu");
  document["findings"] = Json::array();
  for (const auto& finding : judgement.findings) {
    document["findings"].push_back(finding_json(finding, lines));
  }
  return document;
}

/// Nothing runs, so nothing can be wrong.
int report_idle(Context& context, const Problem& problem) {
  if (context.flags.json) {
    Json document = json_document("verify");
    document["problem"] = to_json(problem);
    document["outcome"] = to_string(Outcome::ok);
    document["run_on"] = Json::array();
    context.print(json_text(document));
  } else {
    context.print(fmt::format("{}\n  nothing to verify: {}, so a launch does nothing\n",
                              heading_text(problem), no_results_text(problem)));
  }
  return kExitOk;
}

/// Of several configurations of one template.
struct Survey {
  std::vector<Judgement> judged;  ///< the one that would be judged alone first
  std::uint64_t space = 0;

  [[nodiscard]] std::size_t faulty() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(judged, [](const Judgement& one) { return !one.clean(); }));
  }
};

/// The first line, cut where a table would become unreadable.
std::string brief(const std::string& text) {
  constexpr std::size_t kMost = 100;
  const std::string line = text.substr(0, text.find('\n'));
  return line.size() <= kMost ? line : line.substr(0, kMost) + "...";
}

std::string survey_text(const Survey& survey) {
  const Judgement& first = survey.judged.front();
  const std::size_t faulty = survey.faulty();
  FactSheet facts;
  facts.add("template", first.chosen.candidate.template_name);
  facts.add("tried", fmt::format("{} of {} configurations", count_text(survey.judged.size()),
                                 count_text(survey.space)));
  facts.add("verdict", faulty == 0
                           ? "correct: all tried configurations"
                           : fmt::format("NOT correct: {} of {} configurations", count_text(faulty),
                                         count_text(survey.judged.size())));
  const auto right = std::ranges::find_if(
      survey.judged, [](const Judgement& one) { return !one.judged_on.empty(); });
  if (right != survey.judged.end()) facts.add("run on", sizes_text(*right));
  facts.add("checks", first.checked ? "for each configuration: bounds, alignment, uninitialised "
                                      "reads, races, waits, fences, barriers"
                                    : checks_text(first));
  const auto remarked =
      std::ranges::find_if(survey.judged, [](const Judgement& one) { return !one.remark.empty(); });
  if (remarked != survey.judged.end()) {
    facts.add("remark", fmt::format("{}: {}", remarked->chosen.candidate.config.canonical(),
                                    remarked->remark));
  }
  std::string text = fmt::format("{} on {}\n{}", heading_text(first.request.problem),
                                 full_device_text(first.device), facts.text());
  if (faulty == 0) return text;
  Table table({{"config"}, {"verdict"}});
  const Judgement* example = nullptr;
  bool all_disagree = faulty > 1 && faulty == survey.judged.size();
  for (const Judgement& one : survey.judged) {
    if (one.clean()) continue;
    if (example == nullptr) example = &one;
    all_disagree = all_disagree && one.outcome == Outcome::wrong_result && !one.found;
    table.add_row({one.chosen.candidate.config.canonical(), brief(verdict_text(one))});
  }
  FactSheet fault;
  add_verdict(fault, *example, all_disagree);
  return text + fmt::format("\n{}\nfor {}\n{}{}", table.text(),
                            example->chosen.candidate.config.canonical(), fault.text(),
                            findings_text(*example));
}

Json survey_json(const Survey& survey) {
  Json document = json_document("verify");
  document["problem"] = to_json(survey.judged.front().request.problem);
  document["device"] = survey.judged.front().device.spec;
  document["configurations"] = survey.space;
  document["clean"] = survey.faulty() == 0;
  document["results"] = Json::array();
  for (const Judgement& one : survey.judged) {
    document["results"].push_back(judgement_json(one));
  }
  return document;
}

/// The configurations besides `first` that were asked for.
std::vector<Config> others(const ParamSpace& space, const VerifyOptions& options,
                           const Config& first) {
  constexpr std::uint64_t kMost = 10'000;
  const std::uint64_t count = space.count();
  const std::uint64_t wanted = options.all ? count : std::min(options.sample, count);
  if (wanted > kMost) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: {} configurations are too many. Next: verify at most {} with --sample N, "
                    "or restrict the values with --set",
                    options.all ? "--all" : "--sample", count_text(count), count_text(kMost)));
  }
  std::vector<Config> found;
  if (wanted == count) {
    space.for_each([&](const Config& config) {
      if (config != first) found.push_back(config);
      return true;
    });
    return found;
  }
  std::mt19937_64 random(options.seed);
  std::set<Config> known{first};
  while (known.size() < wanted) {
    const auto config = space.sample(random);
    if (config && known.insert(*config).second) found.push_back(*config);
  }
  return found;
}

int verify_many(Context& context, const VerifyOptions& options, Judge& judge,
                const TuneRequest& request, const Judgement& first, const ParamSpace& space) {
  Survey survey;
  survey.space = first.space;
  survey.judged.push_back(first);
  for (const Config& config : others(space, options, first.chosen.candidate.config)) {
    Judgement& next = survey.judged.emplace_back(first);
    next.chosen.candidate.config = config;
    next.chosen.match = Match::none;
    next.chosen.reason = "one of the template's configurations";
  }
  for (Judgement& one : survey.judged) judge.judge(one, request);
  context.print(context.flags.json ? json_text(survey_json(survey)) : survey_text(survey));
  return survey.faulty() == 0 ? kExitOk : kExitFailure;
}

int verify(Context& context, const VerifyOptions& options) {
  options.selection.check_usage();
  Judgement judgement;
  judgement.request = options.problem.request();
  TuneRequest request;
  request.tuned = judgement.request;
  request.seed = options.seed;
  request.candidate_timeout_s = parse_limit_s("--timeout", options.timeout);
  request.thoroughness = Thoroughness::deep;
  request.policy.cold = false;  // nothing is timed, so one set of operands will do
  const Problem& problem = judgement.request.problem;
  if (work_of(problem) == Work::none) return report_idle(context, problem);

  const std::string spec = emulated_by_default(context);
  Judge judge(context, spec, request.candidate_timeout_s);
  judgement.device = judge.evaluator().info();
  judgement.chosen =
      options.selection.choose(context, problem, judgement.device, judge.compiler().identity());
  const std::string& name = judgement.chosen.candidate.template_name;
  const KernelTemplate& kernel_template = context.catalog().at(name);
  if (auto kept = kept_sizes(kernel_template, problem, judgement.device.limits); !kept.empty()) {
    request.tuned.kept_sizes.push_back(std::move(kept));
  }
  if (options.all || options.sample > 0) {
    const ParamSpace space =
        options.selection.space(context, name, problem, judgement.device.limits);
    judgement.space = space.count();
    return verify_many(context, options, judge, request, judgement, space);
  }
  judgement.space = kernel_template.space(problem, judgement.device.limits).count();
  judge.judge(judgement, request);
  context.print(context.flags.json ? json_text(judgement_json(judgement))
                                   : judgement_text(judgement));
  return judgement.clean() ? kExitOk : kExitFailure;
}

}  // namespace

Action add_verify(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<VerifyOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::required);
  options->selection.add_to(verb);
  verb.add_option(
          "--timeout", options->timeout,
          "Time limit (default 60s). On an emulated GPU, the limit applies to each launch. On "
          "a real GPU, the limit applies to the total time of all launches")
      ->type_name("TIME");
  verb.add_option(
          "--seed", options->seed,
          "Seed for the random data and for the random configurations of --sample (default 1)")
      ->type_name("N")
      ->check(whole_number(0));
  CLI::Option* const all =
      verb.add_flag("--all", options->all, "Verify every configuration of the template");
  verb.add_option("--sample", options->sample,
                  "Verify N random configurations of the template. The choice depends on --seed")
      ->type_name("N")
      ->check(whole_number(1))
      ->excludes(all);
  return [options](Context& context) { return verify(context, *options); };
}

}  // namespace kiln::tools
