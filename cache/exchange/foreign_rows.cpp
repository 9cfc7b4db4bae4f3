// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

/// Times that Kernel Tuner once wrote for a configuration that failed.
constexpr double kNoTimeMs = 1e20;
constexpr double kMostTimeMs = 1e12;  // 30 years

/// T4's names of times, and those of cache files. `compilation` and `runtimes` have fields of their
/// own.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTimes{
    {{"benchmark", "benchmark_time"},
     {"framework", "framework_time"},
     {"search_algorithm", "strategy_time"},
     {"validation", "verification_time"}}};

[[noreturn]] void refuse_result(const std::string& fault) {
  throw Error(ErrorKind::usage, fault);
}

std::string excerpt(const Json& json) {
  constexpr std::size_t kMost = 60;
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

double read_time(std::string_view field, const Json& json) {
  if (!json.is_number()) {
    refuse_result(fmt::format("field '{}' is {}, but must be a number", field, excerpt(json)));
  }
  const auto value = json.get<double>();
  if (!std::isfinite(value) || value < 0.0 || value > kMostTimeMs) {
    refuse_result(fmt::format("field '{}' is {}, but must be a time from 0 to {}", field,
                              excerpt(json), kMostTimeMs));
  }
  return value;
}

std::vector<double> read_samples(std::string_view field, const Json& json) {
  if (!json.is_array()) {
    refuse_result(
        fmt::format("field '{}' is {}, but must be a list of numbers", field, excerpt(json)));
  }
  std::vector<double> samples;
  samples.reserve(json.size());
  for (const Json& sample : json) samples.push_back(read_time(field, sample));
  return samples;
}

/// The field `time` of either format: a time, or why there is none.
void read_objective_time(ForeignResult& result, const Json& json) {
  if (json.is_string()) {
    result.failure = json.get<std::string>();
    const auto outcome = outcome_of_failure(result.failure);
    if (!outcome) {
      refuse_result(
          fmt::format("field 'time' is {}, which is neither a number nor one of "
                      "\"InvalidConfig\", \"CompilationFailedConfig\" and "
                      "\"RuntimeFailedConfig\"",
                      excerpt(json)));
    }
    result.outcome = *outcome;
    return;
  }
  if (json.is_number() && json.get<double>() >= kNoTimeMs) {
    result.outcome = Outcome::rejected;
    result.failure = "InvalidConfig";
    return;
  }
  result.time_ms = read_time("time", json);
}

/// Without a measured `time`, as when energy was the objective: the mean of the runs, which is how
/// Kernel Tuner computes it.
void complete_time(ForeignResult& result) {
  if (result.outcome != Outcome::ok) {
    result.time_ms = 0.0;
    return;
  }
  if (result.time_ms > 0.0) return;
  double sum = 0.0;
  for (const double sample : result.samples_ms) sum += sample;
  if (!result.samples_ms.empty()) sum /= static_cast<double>(result.samples_ms.size());
  if (sum <= 0.0) refuse_result("the result has no time, and no reason why it failed");
  result.time_ms = sum;
}

std::string others_text(const Json& others) {
  return others.empty() ? "" : others.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const Json& field_of(const Json& object, std::string_view name, Json::value_t type,
                     std::string_view kind) {
  const auto found = object.find(std::string(name));
  if (found == object.end()) refuse_result(fmt::format("the result has no field '{}'", name));
  if (found->type() != type) {
    refuse_result(fmt::format("field '{}' is {}, but must be {}", name, excerpt(*found), kind));
  }
  return *found;
}

std::vector<ForeignValue> read_values(const Json& configuration,
                                      const std::vector<std::string>& names) {
  std::vector<ForeignValue> values;
  values.reserve(names.size());
  for (const std::string& name : names) {
    const auto value = configuration.find(name);
    if (value == configuration.end())
      refuse_result(fmt::format("the result has no value for {}", name));
    try {
      values.push_back(foreign_value(*value));
    } catch (const Error& error) {
      refuse_result(fmt::format("tunable {} {}", name, error.what()));
    }
  }
  return values;
}

void read_t4_times(ForeignResult& result, const Json& times, double unit_ms, Json& others) {
  for (const auto& [name, value] : times.items()) {
    if (name == "compilation" || name == "compilation_time") {
      result.compile_ms = read_time(name, value) * unit_ms;
    } else if (name == "runtimes") {
      result.samples_ms = read_samples(name, value);
      for (double& sample : result.samples_ms) sample *= unit_ms;
    } else {
      const auto* const known =
          std::ranges::find(kTimes, name, [](const auto& pair) { return pair.first; });
      if (known == kTimes.end()) continue;
      // Times that are whole numbers stay so: 0 does not become 0.0.
      (void)read_time(name, value);
      others[std::string(known->second)] =
          unit_ms == 1.0 ? value : Json(value.get<double>() * unit_ms);
    }
  }
}

void read_t4_measurement(ForeignResult& result, const Json& json, double unit_ms, Json& others) {
  if (!json.is_object()) refuse_result("field 'measurements' must be a list of objects");
  const auto name = field_of(json, "name", Json::value_t::string, "a text").get<std::string>();
  const auto value = json.find("value");
  if (value == json.end()) refuse_result(fmt::format("measurement '{}' has no value", name));
  if (name != "time") {
    others[name] = *value;
    return;
  }
  read_objective_time(result, *value);
  const auto unit = json.find("unit");
  const bool has_unit = unit != json.end() && unit->is_string() && *unit != "";
  result.time_ms *=
      has_unit ? milliseconds_in(unit->get<std::string>()).value_or(unit_ms) : unit_ms;
}

}  // namespace

std::optional<Outcome> outcome_of_failure(std::string_view word) {
  if (word == "InvalidConfig") return Outcome::rejected;
  if (word == "CompilationFailedConfig") return Outcome::compile_failed;
  if (word == "RuntimeFailedConfig" || word == "ErrorConfig") return Outcome::launch_failed;
  return std::nullopt;
}

std::optional<Outcome> outcome_of_invalidity(std::string_view word) {
  if (word == "correct") return Outcome::ok;
  if (word == "constraints") return Outcome::rejected;
  if (word == "compile") return Outcome::compile_failed;
  if (word == "runtime") return Outcome::launch_failed;
  if (word == "correctness") return Outcome::wrong_result;
  if (word == "timeout") return Outcome::timed_out;
  return std::nullopt;
}

std::optional<double> milliseconds_in(std::string_view unit) {
  // "miliseconds" is how files of the benchmark hub spell it.
  constexpr std::array<std::pair<std::string_view, double>, 12> kUnits{{{"ms", 1.0},
                                                                        {"millisecond", 1.0},
                                                                        {"milliseconds", 1.0},
                                                                        {"miliseconds", 1.0},
                                                                        {"s", 1e3},
                                                                        {"seconds", 1e3},
                                                                        {"us", 1e-3},
                                                                        {"microseconds", 1e-3},
                                                                        {"ns", 1e-6},
                                                                        {"nanoseconds", 1e-6},
                                                                        {"sec", 1e3},
                                                                        {"", 1.0}}};
  const auto* const found =
      std::ranges::find(kUnits, unit, [](const auto& pair) { return pair.first; });
  if (found == kUnits.end()) return std::nullopt;
  return found->second;
}

std::int64_t unix_ms_of(std::string_view timestamp) {
  // Fixed places: YYYY-MM-DD HH:MM:SS[.ffffff][+00:00], with a space or a T between.
  const auto number = [&](std::size_t at, std::size_t digits) -> int {
    if (timestamp.size() < at + digits) return -1;
    int value = 0;
    const char* const begin = timestamp.data() + at;
    const auto [end, fault] = std::from_chars(begin, begin + digits, value);
    return fault == std::errc() && end == begin + digits ? value : -1;
  };
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  using namespace std::chrono;
  const year_month_day date{year(number(0, 4)), month(static_cast<unsigned>(number(5, 2))),
                            day(static_cast<unsigned>(number(8, 2)))};
  if (!date.ok() || hour < 0 || minute < 0 || second < 0) return 0;
  std::int64_t ms = duration_cast<milliseconds>(sys_days(date).time_since_epoch()).count() +
                    ((hour * 60LL + minute) * 60LL + second) * 1000LL;
  std::size_t at = 19;
  if (at < timestamp.size() && timestamp[at] == '.') {
    if (const int thousandths = number(at + 1, 3); thousandths > 0) ms += thousandths;
    at = std::min(timestamp.find_first_not_of("0123456789", at + 1), timestamp.size());
  }
  if (at + 6 == timestamp.size() && (timestamp[at] == '+' || timestamp[at] == '-')) {
    const int hours = number(at + 1, 2);
    const int minutes = number(at + 4, 2);
    if (hours < 0 || minutes < 0) return 0;
    const std::int64_t shift_ms = (hours * 60LL + minutes) * 60'000LL;
    ms += timestamp[at] == '+' ? -shift_ms : shift_ms;
  }
  return ms > 0 ? ms : 0;
}

ForeignValue foreign_value(const Json& json) {
  using Kind = ForeignValue::Kind;
  if (json.is_boolean()) return {Kind::boolean, json.get<bool>() ? "true" : "false"};
  if (json.is_string()) return {Kind::text, json.get<std::string>()};
  if (json.is_number_integer()) return {Kind::number, json.dump()};
  if (json.is_number()) return {Kind::number, fmt::format("{}", json.get<double>())};
  refuse_result(
      fmt::format("has the value {}, but must have a number, a text or a boolean", excerpt(json)));
}

ForeignResult read_cache_entry(const Json& entry, const std::vector<std::string>& names) {
  ForeignResult result;
  result.values = read_values(entry, names);
  Json others = Json::object();
  std::string failure;
  for (const auto& [name, value] : entry.items()) {
    // Any field of a failed configuration may have the word in place of its number.
    if (value.is_string() && outcome_of_failure(value.get<std::string>())) {
      failure = value.get<std::string>();
    }
    if (std::ranges::find(names, name) != names.end()) continue;
    if (name == "time") {
      read_objective_time(result, value);
    } else if (name == "times") {
      result.samples_ms = read_samples(name, value);
    } else if (name == "compile_time") {
      result.compile_ms = read_time(name, value);
    } else if (name == "timestamp" && value.is_string()) {
      result.created_unix_ms = unix_ms_of(value.get<std::string>());
      others[name] = value;
    } else {
      others[name] = value;
    }
  }
  if (result.outcome == Outcome::ok && !failure.empty()) {
    result.outcome = *outcome_of_failure(failure);
    result.failure = failure;
  }
  complete_time(result);
  result.others = others_text(others);
  return result;
}

ForeignResult read_t4_result(const Json& json, double unit_ms, std::vector<std::string>& names) {
  ForeignResult result;
  const Json& configuration = field_of(json, "configuration", Json::value_t::object, "an object");
  if (names.empty()) {
    for (const auto& [name, value] : configuration.items()) names.push_back(name);
  }
  result.values = read_values(configuration, names);
  if (configuration.size() != names.size()) {
    refuse_result("the configuration has other tunables than the first result");
  }
  const auto word =
      field_of(json, "invalidity", Json::value_t::string, "a text").get<std::string>();
  const auto outcome = outcome_of_invalidity(word);
  if (!outcome) {
    refuse_result(
        fmt::format("field 'invalidity' is {}, but must be one of correct, constraints, "
                    "compile, runtime, correctness and timeout",
                    excerpt(word)));
  }
  Json others = Json::object();
  if (const auto stamp = json.find("timestamp"); stamp != json.end() && stamp->is_string()) {
    result.created_unix_ms = unix_ms_of(stamp->get<std::string>());
    others["timestamp"] = *stamp;
  }
  read_t4_times(result, field_of(json, "times", Json::value_t::object, "an object"), unit_ms,
                others);
  if (const auto list = json.find("measurements"); list != json.end()) {
    if (!list->is_array()) refuse_result("field 'measurements' must be a list of objects");
    for (const Json& measurement : *list) read_t4_measurement(result, measurement, unit_ms, others);
  }
  if (*outcome != Outcome::ok) {
    result.outcome = *outcome;
    if (result.failure.empty()) result.failure = word;
  }
  // Kernel Tuner writes 1 for all, other programs 0 for what failed.
  if (const auto correctness = json.find("correctness");
      correctness != json.end() && *correctness != (result.outcome == Outcome::ok ? 1 : 0)) {
    others["correctness"] = *correctness;
  }
  complete_time(result);
  result.others = others_text(others);
  return result;
}

}  // namespace kiln
