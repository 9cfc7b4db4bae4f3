// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

/// T4's names of times, and those of cache files.
constexpr std::array<std::pair<const char*, const char*>, 4> kTimeNames{
    {{"benchmark", "benchmark_time"},
     {"framework", "framework_time"},
     {"search_algorithm", "strategy_time"},
     {"validation", "verification_time"}}};

std::string line_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json json_of(const ForeignValue& value) {
  switch (value.kind) {
    case ForeignValue::Kind::number: {
      Json number = Json::parse(value.text, nullptr, false);
      return number.is_number() ? number : Json(value.text);
    }
    case ForeignValue::Kind::boolean:
      return value.text == "true";
    case ForeignValue::Kind::text:
      break;
  }
  return value.text;
}

Json others_of(const ForeignResult& result) {
  Json others = Json::parse(result.others, nullptr, false);
  return others.is_object() ? others : Json::object();
}

/// Kernel Tuner's word for the outcome.
std::string cache_failure(const ForeignResult& result) {
  if (result.failure.ends_with("Config")) return result.failure;
  if (result.outcome == Outcome::rejected) return "InvalidConfig";
  return result.outcome == Outcome::compile_failed ? "CompilationFailedConfig"
                                                   : "RuntimeFailedConfig";
}

std::string_view invalidity_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "correct";
    case Outcome::rejected:
      return "constraints";
    case Outcome::compile_failed:
      return "compile";
    case Outcome::wrong_result:
      return "correctness";
    case Outcome::timed_out:
      return "timeout";
    case Outcome::launch_failed:
    case Outcome::out_of_resources:
    case Outcome::crashed:
      break;
  }
  return "runtime";
}

Json time_or_failure(const ForeignResult& result) {
  if (result.outcome == Outcome::ok) return result.time_ms;
  return cache_failure(result);
}

/// Times that other programs wrote as whole numbers are written so.
Json time_json(double ms) {
  if (ms == 0.0) return 0;
  return ms;
}

/// "16,32,soa": how Python joins the values.
std::string entry_key(const ForeignResult& result) {
  std::string key;
  for (const ForeignValue& value : result.values) {
    if (!key.empty()) key += ',';
    const bool is_boolean = value.kind == ForeignValue::Kind::boolean;
    key += !is_boolean ? value.text : value.text == "true" ? "True" : "False";
  }
  return key;
}

Json entry_json(const ForeignResults& file, const ForeignResult& result) {
  Json entry = Json::object();
  for (std::size_t i = 0; i < file.names.size(); ++i) {
    entry[file.names[i]] = json_of(result.values[i]);
  }
  entry["time"] = time_or_failure(result);
  if (!result.samples_ms.empty()) entry["times"] = result.samples_ms;
  entry["compile_time"] = time_json(result.compile_ms);
  const Json others = others_of(result);
  for (const auto& [name, value] : others.items()) {
    if (name != "correctness") entry[name] = value;
  }
  return entry;
}

std::vector<std::string> objectives_of(const ForeignResults& file) {
  std::vector<std::string> list;
  for (std::size_t at = 0; at <= file.objective.size();) {
    const std::size_t comma = std::min(file.objective.find(',', at), file.objective.size());
    list.push_back(file.objective.substr(at, comma - at));
    at = comma + 1;
  }
  return list;
}

/// The schema allows numbers, texts and lists.
bool is_measurement(const Json& value) {
  return value.is_number() || value.is_string() || value.is_array();
}

Json t4_result(const ForeignResults& file, const ForeignResult& result) {
  Json others = others_of(result);
  Json json = Json::object();
  if (const auto stamp = others.find("timestamp"); stamp != others.end()) {
    json["timestamp"] = *stamp;
    others.erase(stamp);
  }
  Json configuration = Json::object();
  for (std::size_t i = 0; i < file.names.size(); ++i) {
    configuration[file.names[i]] = json_of(result.values[i]);
  }
  json["configuration"] = std::move(configuration);
  Json times{{"compilation", time_json(result.compile_ms)},
             {"compilation_time", time_json(result.compile_ms)}};
  for (const auto& [t4, name] : kTimeNames) {
    const auto time = others.find(name);
    if (time == others.end()) continue;
    if (time->is_number()) times[t4] = *time;
    others.erase(time);
  }
  if (!result.samples_ms.empty()) times["runtimes"] = result.samples_ms;
  json["times"] = std::move(times);
  json["invalidity"] = invalidity_of(result.outcome);
  json["correctness"] = result.outcome == Outcome::ok ? 1 : 0;
  if (const auto known = others.find("correctness"); known != others.end()) {
    if (known->is_number()) json["correctness"] = *known;
    others.erase(known);
  }
  Json measurements = Json::array();
  measurements.push_back({{"name", "time"}, {"value", time_or_failure(result)}, {"unit", "ms"}});
  for (const auto& [name, value] : others.items()) {
    if (!is_measurement(value)) continue;
    measurements.push_back({{"name", name}, {"value", value}, {"unit", ""}});
  }
  json["measurements"] = std::move(measurements);
  json["objectives"] = objectives_of(file);
  return json;
}

}  // namespace

std::string cache_file_text(const ForeignResults& file,
                            const std::vector<std::vector<ForeignValue>>& values) {
  Json header = Json::object();
  header["device_name"] = file.device;
  header["kernel_name"] = file.kernel;
  const Json size = Json::parse(file.problem_size, nullptr, false);
  header["problem_size"] = size.is_discarded() ? Json::array() : size;
  header["tune_params_keys"] = file.names;
  Json lists = Json::object();
  for (std::size_t i = 0; i < file.names.size(); ++i) {
    Json list = Json::array();
    for (const ForeignValue& value : values[i]) list.push_back(json_of(value));
    lists[file.names[i]] = std::move(list);
  }
  header["tune_params"] = std::move(lists);
  const auto objectives = objectives_of(file);
  header["objective"] = objectives.size() == 1 ? Json(objectives[0]) : Json(objectives);
  std::string text = line_text(header);
  text.back() = ',';
  text += "\n\"cache\": {";
  for (const ForeignResult& result : file.results) {
    if (&result != file.results.data()) text += ',';
    text +=
        fmt::format("\n{}: {}", line_text(entry_key(result)), line_text(entry_json(file, result)));
  }
  // Kernel Tuner recognises a closed file by exactly these last characters.
  return text + "}\n}";
}

std::string t4_file_text(const ForeignResults& file) {
  std::string text = "{\"results\": [";
  for (const ForeignResult& result : file.results) {
    text += fmt::format("{}\n{}", &result == file.results.data() ? "" : ",",
                        line_text(t4_result(file, result)));
  }
  return text +
         "\n],\n\"schema_version\": \"1.0.0\",\n\"metadata\": {\"timeunit\": \"milliseconds\"}}\n";
}

}  // namespace kiln
