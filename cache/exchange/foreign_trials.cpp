// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <utility>

#include "cache/exchange/trial_json.hpp"
#include "cache/statistics.hpp"
#include "templates/digest.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerMs = 1e6;
constexpr double kMsPerSecond = 1e3;
/// Longer texts would be cut when the trial is stored, or refused.
constexpr std::size_t kMostPolicyBytes = 4000;
constexpr std::size_t kMostOthersBytes = 60'000;
constexpr std::string_view kUnverified = "measured by another autotuner, and not verified by Kiln";

Json object_of(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

std::string compact_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The number that `scale` made `scaled` of; the one with fewer digits if there are several.
double unscaled(double scaled, double scale) {
  const double value = scaled / scale;
  const double shorter = std::strtod(fmt::format("{:.15g}", value).c_str(), nullptr);
  return shorter * scale == scaled ? shorter : value;
}

double ms_of_ns(double ns) {
  return unscaled(ns, kNsPerMs);
}

/// Seconds to milliseconds, so that reading them again gives the same seconds.
double ms_of_seconds(double seconds) {
  const double value = seconds * kMsPerSecond;
  const double shorter = std::strtod(fmt::format("{:.15g}", value).c_str(), nullptr);
  return shorter / kMsPerSecond == seconds ? shorter : value;
}

std::string policy_text(const ForeignResults& file) {
  Json policy = Json::object();
  if (!file.kernel.empty()) policy["kernel_name"] = file.kernel;
  if (!file.problem_size.empty()) {
    policy["problem_size"] = Json::parse(file.problem_size, nullptr, false);
  }
  policy["objective"] = file.objective;
  policy["tune_params_keys"] = file.names;
  std::string text = compact_text(policy);
  if (text.size() > kMostPolicyBytes) {
    policy.erase("tune_params_keys");
    text = compact_text(policy);
  }
  return text.size() > kMostPolicyBytes ? "{}" : text;
}

/// Numbers that a trial's units cannot give back bit by bit are kept as they are.
std::string others_with_exact_numbers(const ForeignResult& result, const Trial& trial) {
  const Timing* const timing = trial.timing ? &*trial.timing : nullptr;
  const bool is_time_kept = timing == nullptr || ms_of_ns(timing->median_ns) == result.time_ms;
  const bool are_samples_kept =
      timing == nullptr || std::ranges::equal(timing->samples_ns, result.samples_ms, {}, ms_of_ns);
  const bool is_compile_kept = ms_of_seconds(trial.compile_seconds) == result.compile_ms;
  if (is_time_kept && are_samples_kept && is_compile_kept) return result.others;
  Json others = object_of(result.others);
  if (!is_time_kept) others["time"] = result.time_ms;
  if (!are_samples_kept) others["times"] = result.samples_ms;
  if (!is_compile_kept) others["compile_time"] = result.compile_ms;
  return compact_text(others);
}

std::string message_of(const ForeignResult& result, const Trial& trial) {
  std::string text(result.failure.empty() ? kUnverified : std::string_view(result.failure));
  const std::string others = others_with_exact_numbers(result, trial);
  if (!others.empty() && others.size() <= kMostOthersBytes) text += '\n' + others;
  return text;
}

/// What an export says of a trial that Kiln made itself. Kernel Tuner wants all of these times.
Json own_fields(const Trial& trial) {
  using namespace std::chrono;
  Json others = Json::object();
  for (const char* const name :
       {"verification_time", "benchmark_time", "strategy_time", "framework_time"}) {
    others[name] = 0;
  }
  if (trial.resources) others["num_regs"] = trial.resources->registers;
  const sys_time<milliseconds> moment{milliseconds(trial.created_unix_ms)};
  const auto midnight = floor<days>(moment);
  const year_month_day date{midnight};
  const hh_mm_ss time{moment - midnight};
  others["timestamp"] = fmt::format(
      "{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03}000+00:00", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
      time.minutes().count(), time.seconds().count(), time.subseconds().count());
  return others;
}

/// Takes a number or list out of the fields that an import kept.
template <class Value>
void take_exact(Json& others, const char* name, Value& value) {
  const auto found = others.find(name);
  if (found == others.end()) return;
  try {
    value = found->get<Value>();
  } catch (const Json::exception&) {
    return;  // someone wrote the row by hand
  }
  others.erase(found);
}

ForeignResult foreign_of_trial(const Trial& trial, const std::vector<std::string>& names) {
  ForeignResult result;
  for (const std::string& name : names) {
    const auto value = trial.key.config.find(name);
    result.values.push_back(value ? foreign_value_of(*value)
                                  : ForeignValue{ForeignValue::Kind::text, ""});
  }
  result.outcome = trial.outcome;
  result.created_unix_ms = trial.created_unix_ms;
  result.compile_ms = ms_of_seconds(trial.compile_seconds);
  if (trial.timing && trial.outcome == Outcome::ok)
    result.time_ms = ms_of_ns(trial.timing->median_ns);
  if (trial.timing) {
    for (const double ns : trial.timing->samples_ns) result.samples_ms.push_back(ms_of_ns(ns));
  }
  if (trial.provenance != Provenance::imported) {
    result.others = compact_text(own_fields(trial));
    return result;
  }
  const std::size_t end = std::min(trial.message.find('\n'), trial.message.size());
  if (trial.outcome != Outcome::ok) result.failure = trial.message.substr(0, end);
  Json others =
      object_of(std::string_view(trial.message).substr(std::min(end + 1, trial.message.size())));
  take_exact(others, "time", result.time_ms);
  take_exact(others, "times", result.samples_ms);
  take_exact(others, "compile_time", result.compile_ms);
  if (!others.empty()) result.others = compact_text(others);
  return result;
}

std::string size_list(const Problem& problem) {
  Json sizes = Json::array();
  for (const NamedValue& size : problem.sizes) sizes.push_back(size.value);
  return compact_text(sizes);
}

bool names_all(const std::vector<std::string>& names, const Config& config) {
  return names.size() == config.values().size() &&
         std::ranges::all_of(names,
                             [&](const auto& name) { return config.find(name).has_value(); });
}

}  // namespace

ForeignValue foreign_value_of(std::int64_t value) {
  using Kind = ForeignValue::Kind;
  std::string text = value_text(value);
  if (is_real_value(value) && text.ends_with('f')) text.pop_back();
  if (!is_named_value(value)) return {Kind::number, std::move(text)};
  const bool is_boolean = text == "true" || text == "false";
  return {is_boolean ? Kind::boolean : Kind::text, std::move(text)};
}

Trial trial_of_foreign(const ForeignResults& file, const ForeignResult& result, CandidateKey key) {
  Trial trial;
  trial.key = std::move(key);
  trial.provenance = Provenance::imported;
  trial.environment.toolkit =
      file.format == ForeignFormat::kernel_tuner ? "Kernel Tuner cache file" : "T4 file";
  trial.environment.policy = policy_text(file);
  trial.outcome = result.outcome;
  trial.compile_seconds = result.compile_ms / kMsPerSecond;
  if (result.time_ms > 0.0 || !result.samples_ms.empty()) {
    Timing timing;
    for (const double ms : result.samples_ms) timing.samples_ns.push_back(ms * kNsPerMs);
    summarise(timing);
    if (result.time_ms > 0.0) timing.median_ns = result.time_ms * kNsPerMs;
    trial.timing = std::move(timing);
  }
  trial.message = message_of(result, trial);
  trial.created_unix_ms = result.created_unix_ms > 0 ? result.created_unix_ms : next_unix_ms();
  DigestBuilder content;
  content.add(content_of_import(trial)).add(std::to_string(trial.created_unix_ms));
  trial.id = content.hex();
  return trial;
}

std::string content_of_import(const Trial& trial) {
  Trial content = trial;
  content.id.clear();
  content.created_unix_ms = 0;
  return digest_hex(trial_to_json(content));
}

ForeignResults foreign_of_trials(std::span<const Trial> trials,
                                 const std::vector<std::string>& names) {
  ForeignResults file;
  if (trials.empty()) return file;
  const Trial& first = trials.front();
  file.device = first.key.device.name;
  file.kernel = first.key.template_name;
  file.objective = "time";
  file.problem_size = size_list(first.key.problem);
  file.names = names;
  if (first.provenance == Provenance::imported) {
    const Json policy = object_of(first.environment.policy);
    const auto text = [&](const char* name, std::string& field) {
      const auto found = policy.find(name);
      if (found != policy.end() && found->is_string()) field = found->get<std::string>();
    };
    text("kernel_name", file.kernel);
    text("objective", file.objective);
    if (const auto size = policy.find("problem_size"); size != policy.end()) {
      file.problem_size = compact_text(*size);
    }
    std::vector<std::string> order;
    const auto list = policy.find("tune_params_keys");
    if (list != policy.end() && list->is_array()) {
      for (const Json& name : *list) {
        if (name.is_string()) order.push_back(name.get<std::string>());
      }
    }
    if (names_all(order, first.key.config)) file.names = std::move(order);
  }
  for (const Trial& trial : trials) file.results.push_back(foreign_of_trial(trial, file.names));
  return file;
}

}  // namespace kiln
