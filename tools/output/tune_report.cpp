// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cache/lookup/ranking.hpp"
#include "runtime/device.hpp"
#include "templates/space/tunable_value.hpp"
#include "tools/emulation.hpp"
#include "tools/output/how_to_use.hpp"
#include "tools/output/judged_by.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {
namespace {

std::string ending_text(const TuneResult& result) {
  const auto& progress = result.progress;
  const auto known = progress.done + progress.known;
  std::string text =
      fmt::format("{} of {} candidates", count_text(known), count_text(progress.space));
  if (progress.space > 0) {
    text += fmt::format(
        " ({})", percent_text(static_cast<double>(known) / static_cast<double>(progress.space)));
  }
  text += fmt::format(" in {}", seconds_text(progress.elapsed_s));
  if (progress.device_s > 0.0 && progress.elapsed_s > 0.0) {
    text += fmt::format(", {} of it on the device",
                        percent_text(progress.device_s / progress.elapsed_s));
  }
  if (progress.compilers_busy > 0.0) {
    text += fmt::format(", {} compiler{} {} busy", progress.compilers,
                        progress.compilers == 1 ? "" : "s", percent_text(progress.compilers_busy));
  }
  if (progress.known > 0) {
    text += fmt::format(", {} candidates known from earlier runs", count_text(progress.known));
  }
  return text;
}

/// How many machine codes the candidates that can run came to, and what that saved.
std::string codes_text(const TuneReport& report) {
  const auto [codes, shared] =
      std::pair(report.result->progress.codes, report.result->progress.shared);
  const bool ran = report.provenance != Provenance::compiled;
  std::string text = fmt::format("{} distinct {} {} {} candidate{}", count_text(codes),
                                 codes == 1 ? "binary" : "binaries", ran ? "ran for" : "among",
                                 count_text(codes + shared), codes + shared == 1 ? "" : "s");
  if (shared == 0) return text;
  const double share = static_cast<double>(shared) / static_cast<double>(codes + shared);
  return text + fmt::format("; {} candidate{} ({}) {}", count_text(shared), shared == 1 ? "" : "s",
                            percent_text(share),
                            ran ? "reused the result of an identical binary"
                                : "have the same binary as another candidate");
}

/// What took so long to compile that the budget had no time for it.
std::string put_off_text(const Progress& progress) {
  if (progress.put_off == 0) return "";
  return fmt::format(
      ". {} candidate{} left out, because compiling {} would have taken too long (the slowest "
      "compilation took {}: {})",
      count_text(progress.put_off), progress.put_off == 1 ? " was" : "s were",
      progress.put_off == 1 ? "it" : "them", seconds_text(progress.slowest_compile_s),
      progress.slowest_to_compile);
}

std::string session_end_text(const TuneResult& result) {
  const auto& state = result.session.state;
  if (state == "complete") {
    const auto given_up = result.progress.given_up;
    if (given_up == 0) return "Kiln tried every candidate";
    return fmt::format(
        "no candidate is left; {} candidates were skipped, because their templates are much slower "
        "than the best template",
        count_text(given_up));
  }
  if (state == "converged") {
    return "the search expects a gain of less than 0.3 % from any candidate that is left. To try "
           "others nevertheless, add --strategy random";
  }
  if (state == "budget") {
    return fmt::format(
        "{}; to continue, run the same command again{}",
        result.ended_by_count
            ? fmt::format("--max-candidates ended the search after {} candidate{}",
                          count_text(result.progress.done), result.progress.done == 1 ? "" : "s")
            : "the budget is spent",
        put_off_text(result.progress));
  }
  if (state == "interrupted") return "interrupted; to continue, run the same command again";
  return state;
}

std::string why_none(const TuneResult& result) {
  const auto tried = result.progress.done + result.progress.known;
  if (tried == 0) return "no candidate was tried";
  // Others gave right results, which is not enough where one of them was found to race.
  if (!result.unchecked.empty()) {
    return fmt::format(
        "Kiln found the fault below in one candidate. It did not check other candidates of the "
        "same template: {}",
        result.unchecked);
  }
  if (tried == 1) return "the only candidate failed";
  return fmt::format("all {} candidates that were tried failed", count_text(tried));
}

/// The group to speak of: what keeps others from being told as best; where something succeeded,
/// that a candidate did not fit the device is part of any search.
const FailureGroup* main_failure(const TuneResult& result) {
  if (!result.best && !result.unchecked.empty()) {
    const auto finding =
        std::ranges::find_if(result.failures, is_check_finding, &FailureGroup::example);
    if (finding != result.failures.end()) return &*finding;
  }
  const auto found = std::ranges::find_if(result.failures, [&](const FailureGroup& group) {
    return !result.best || is_fault(group.example.outcome);
  });
  return found == result.failures.end() ? nullptr : &*found;
}

/// "3 of 5 wrong_result: ...", where the other two have another reason.
std::string failure_line(const TuneResult& result, const FailureGroup& group) {
  const std::string& message = group.example.message;
  std::uint64_t all = 0;
  for (const FailureGroup& other : result.failures) {
    if (other.example.outcome == group.example.outcome) all += other.count;
  }
  return fmt::format("{}{} {}: {}", count_text(group.count),
                     all > group.count ? fmt::format(" of {}", count_text(all)) : "",
                     to_string(group.example.outcome),
                     message.empty() ? "no details" : message.substr(0, message.find('\n')));
}

/// `verify` of the candidate with every access watched, for which a GPU's own word is not enough.
std::string verify_command(const TuneReport& report, const Trial& trial, const Context& context) {
  const bool emulated = names_emulated_device(context.device().value);
  std::string words = fmt::format("verify {} --template {}", problem_words(report.request),
                                  trial.key.template_name);
  std::string choices;
  for (const auto& [name, value] : trial.key.config.values()) {
    choices += fmt::format("{}{}={}", choices.empty() ? "" : ",", name, value_text(value));
  }
  if (!choices.empty()) words += fmt::format(" --set {}", choices);
  Context watched;
  watched.flags = context.flags;
  if (!emulated) watched.flags.device = kDefaultEmulated;
  return watched.command(words);
}

/// What shows the candidate's fault in full.
std::string failure_command(const TuneReport& report, const Trial& trial, const Context& context) {
  if (is_fault(trial.outcome)) return verify_command(report, trial, context);
  return context.command(fmt::format("show {} --all", problem_words(report.request)));
}

void add_failures(FactSheet& sheet, const TuneReport& report, const Context& context) {
  const TuneResult& result = *report.result;
  const FailureGroup* const group = main_failure(result);
  if (group == nullptr) return;
  sheet.add("failed", failure_line(result, *group));
  const Trial& example = group->example;
  sheet.add("example",
            fmt::format("{} {}", example.key.template_name, example.key.config.canonical()));
  // What the device's checks find says nothing of the reference.
  if (example.outcome == Outcome::wrong_result && !is_check_finding(example)) {
    const bool all = !result.best && result.failures.size() == 1 && group->count > 1;
    const std::string judge =
        judged_by(*find_operation(example.key.problem.operation), example.message, all);
    if (!judge.empty()) sheet.add("criterion", judge);
  }
  sheet.add("next", failure_command(report, example, context));
}

/// What the device's checks found in other candidates, where the commonest failure is another.
void add_findings(FactSheet& sheet, const TuneReport& report, const Context& context) {
  const TuneResult& result = *report.result;
  const auto found =
      std::ranges::find_if(result.failures, is_check_finding, &FailureGroup::example);
  if (found == result.failures.end() || &*found == main_failure(result)) return;
  sheet.add("checks", "Kiln found this fault in other candidates: " + failure_line(result, *found));
  sheet.add("next", verify_command(report, found->example, context));
}

/// "energy: 1.234 mJ; ..."; "" for the time, which is what reports are about anyway.
std::string objective_fact(const TuneResult& result) {
  const auto objective = Objective::read(result.session.objective);
  if (!objective || objective->is_time()) return "";
  return fmt::format(
      "{}: {}; applications ask for it with LibraryOptions::objective or KILN_OBJECTIVE",
      objective->canonical(), objective_value_text(*objective, *result.best));
}

/// Whether the best was never verified on a partly filled tile.
bool is_edgeless(const TuneResult& result) {
  return result.best && result.best->verification && result.best->verification->passed &&
         result.ragged_sizes == 0;
}

}  // namespace

std::string edgeless_text(const std::string& template_name) {
  return fmt::format(
      "the requirements of {} exclude every ragged size (a size that is not a multiple of the tile "
      "size). Therefore Kiln added no test with partly filled tiles. Next: loosen the "
      "requirements, so that Kiln can test ragged sizes",
      template_name);
}

std::string report_text(const TuneReport& report, const Context& context) {
  std::string text = heading_text(report.request.problem);
  if (!report.idle.empty()) return fmt::format("{}\n  {}\n", text, report.idle);
  if (!report.result) return text + "\n  no template computes this:\n" + report.unsupported;
  const TuneResult& result = *report.result;
  text += fmt::format(" on {}{}\n", report.provenance == Provenance::modelled ? "emulated " : "",
                      device_text(result.session.device));
  FactSheet sheet;
  if (result.best) {
    add_trial_facts(sheet, *result.best, result.unchecked);
    if (!result.unchecked.empty()) {
      sheet.add("next", verify_command(report, *result.best, context));
    }
    if (const auto objective = objective_fact(result); !objective.empty()) {
      sheet.add("objective", objective);
    }
    if (report.contest) sheet.add("ratio", ratio_text(*report.contest));
    if (is_edgeless(result)) sheet.add("warning", edgeless_text(result.best->key.template_name));
  } else {
    sheet.add("best", "none: " + why_none(result));
  }
  sheet.add("searched", ending_text(result));
  sheet.add("outcomes", outcomes_text(result.progress.by_outcome) +
                            (result.progress.known > 0 ? " in this run" : ""));
  if (result.progress.codes + result.progress.shared > 0) sheet.add("code", codes_text(report));
  add_failures(sheet, report, context);
  add_findings(sheet, report, context);
  sheet.add("ended", session_end_text(result));
  text += sheet.text();
  for (const auto& reason : result.unsupported) text += fmt::format("  left out: {}\n", reason);
  const bool usable = result.best && result.best->provenance != Provenance::compiled;
  if (usable && report.name.empty()) {
    text += next_steps(report.request, context, result.unchecked.empty());
  }
  return text;
}

std::vector<std::string> report_row(const TuneReport& report) {
  std::vector<std::string> row{report.name, heading_text(report.request.problem)};
  if (!report.result || !report.result->best) {
    row.emplace_back(report.error           ? "error"
                     : !report.idle.empty() ? "none"
                     : report.result        ? "no valid candidate"
                                            : "unsupported");
    return row;
  }
  const Trial& best = *report.result->best;
  row.push_back(best.key.template_name);
  row.push_back(merit_text(best));
  row.push_back(best.timing ? rate_text(best.key.problem, best.timing->median_ns) : "");
  const bool compared = report.contest && report.contest->compared();
  row.push_back(compared ? fmt::format("{:.3f}", report.contest->ours->ratio) : "");
  row.push_back(report.result->ended_by_count ? "candidates" : report.result->session.state);
  return row;
}

std::string report_remark(const TuneReport& report) {
  if (report.error) return fmt::format("{}: error: {}\n", report.name, report.error->what());
  if (report.result && is_edgeless(*report.result)) {
    return fmt::format("{}: warning: {}\n", report.name,
                       edgeless_text(report.result->best->key.template_name));
  }
  if (!report.idle.empty()) return fmt::format("{}: {}\n", report.name, report.idle);
  if (report.result) {
    const FailureGroup* const group = main_failure(*report.result);
    return group == nullptr
               ? ""
               : fmt::format("{}: {}\n", report.name, failure_line(*report.result, *group));
  }
  return fmt::format("{} is unsupported:\n{}", report.name, report.unsupported);
}

Json contest_json(const Contest& contest) {
  Json json;
  json["outcome"] = to_string(contest.outcome);
  if (!contest.message.empty()) json["message"] = contest.message;
  json["verified"] = contest.verification.passed;
  json["worst_ratio"] = contest.verification.worst_ratio;
  if (contest.measured()) {
    json["time_ns"] = contest.ours->timing.median_ns;
    json["spread_ns"] = contest.ours->timing.spread_ns;
    if (contest.compared()) {
      json["ratio"] = contest.ours->ratio;
      json["ratio_spread"] = contest.ours->ratio_spread;
    }
  }
  json["baselines"] = Json::array();
  for (const auto& row : contest.baselines) {
    Json baseline{{"label", row.label}, {"outcome", to_string(row.outcome)}};
    if (!row.message.empty()) baseline["message"] = row.message;
    if (row.timing.median_ns > 0.0) {
      baseline["time_ns"] = row.timing.median_ns;
      baseline["spread_ns"] = row.timing.spread_ns;
    }
    json["baselines"].push_back(std::move(baseline));
  }
  if (!contest.note.empty()) json["note"] = contest.note;
  return json;
}

Json report_json(const TuneReport& report) {
  Json json;
  if (!report.name.empty()) json["name"] = report.name;
  json["problem"] = to_json(report.request.problem);
  if (report.error) {
    json["error"] = report.error->what();
    return json;
  }
  if (!report.idle.empty()) {
    json["idle"] = report.idle;
    return json;
  }
  if (!report.result) {
    json["unsupported"] = report.unsupported;
    return json;
  }
  const TuneResult& result = *report.result;
  json["device"] = to_json(result.session.device);
  json["session"] = to_json(result.session);
  json["best"] = result.best ? to_json(*result.best) : Json();
  if (!result.unchecked.empty()) json["unchecked"] = result.unchecked;
  if (result.best) json["ragged_sizes"] = result.ragged_sizes;
  json["finalists"] = Json::array();
  for (const auto& finalist : result.finalists) json["finalists"].push_back(to_json(finalist));
  json["outcomes"] = Json::object();
  for (const auto& [outcome, count] : result.progress.by_outcome) {
    json["outcomes"][std::string(to_string(outcome))] = count;
  }
  json["failures"] = Json::array();
  for (const FailureGroup& group : result.failures) {
    json["failures"].push_back({{"outcome", to_string(group.example.outcome)},
                                {"count", group.count},
                                {"message", group.example.message},
                                {"template", group.example.key.template_name},
                                {"config", to_json(group.example.key.config)}});
  }
  json["done"] = result.progress.done;
  json["known"] = result.progress.known;
  json["space"] = result.progress.space;
  json["given_up"] = result.progress.given_up;
  json["compiled"] = result.progress.compiled;
  json["codes"] = result.progress.codes;
  json["shared"] = result.progress.shared;
  json["elapsed_s"] = result.progress.elapsed_s;
  json["device_s"] = result.progress.device_s;
  json["compilers"] = result.progress.compilers;
  json["compilers_busy"] = result.progress.compilers_busy;
  json["put_off"] = result.progress.put_off;
  json["slowest_compile"] = {{"seconds", result.progress.slowest_compile_s},
                             {"candidate", result.progress.slowest_to_compile}};
  json["left_out"] = result.unsupported;
  if (report.contest) json["comparison"] = contest_json(*report.contest);
  return json;
}

ExitCode exit_code_of(const TuneReport& report) {
  if (report.error) return exit_code_of(report.error->kind());
  if (!report.idle.empty()) return kExitOk;
  if (!report.result) return kExitNoCandidate;
  if (report.result->session.state == "interrupted") return kExitInterrupted;
  if (report.result->best) return kExitOk;
  return report.result->session.state == "budget" ? kExitBudget : kExitNoCandidate;
}

}  // namespace kiln::tools
