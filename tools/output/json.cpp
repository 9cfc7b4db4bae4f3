// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/json.hpp"

#include "cache/exchange/trial_json.hpp"
#include "templates/printable.hpp"
#include "tools/output/units.hpp"

namespace kiln::tools {

Json json_document(const std::string& kind) {
  Json document;
  document["schema"] = 2;
  document["kiln"] = kind;
  return document;
}

std::string json_text(const Json& json) {
  // Characters that a terminal obeys occur only in strings, where their escape means the same.
  return printable(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Json to_json(const Problem& problem) {
  Json json;
  json["canonical"] = problem.canonical();
  json["operation"] = problem.operation;
  for (const auto& size : problem.sizes) json["sizes"][size.name] = size.value;
  for (const auto& type : problem.types) json["types"][type.slot] = to_string(type.type);
  for (const auto& trait : problem.traits) json["traits"][trait.name] = trait.value;
  if (!problem.epilogue.empty()) json["epilogue"] = problem.epilogue;
  return json;
}

Json to_json(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.values()) json[name] = value_json(value);
  return json;
}

Json to_json(const DeviceClass& device) {
  Json json;
  json["name"] = device.name;
  json["arch"] = device.arch;
  json["sm_count"] = device.sm_count;
  json["l2_bytes"] = device.l2_bytes;
  json["mig_profile"] = device.mig_profile;
  return json;
}

Json to_json(const SessionRecord& session) {
  Json json;
  json["id"] = session.id;
  json["state"] = session.state;
  json["strategy"] = session.strategy;
  json["objective"] = session.objective;
  json["budget"] = session.budget;
  json["space_size"] = session.space_size;
  json["evaluated"] = session.evaluated;
  json["started_unix_ms"] = session.started_unix_ms;
  json["ended_unix_ms"] = session.ended_unix_ms;
  return json;
}

void add_metrics(Json& json, const Problem& problem, double time_ns, double energy_j) {
  for (const auto& metric : metrics_of(problem, time_ns, energy_j)) {
    json["metrics"][metric.name] = metric.value;
  }
}

Json to_json(const Trial& trial) {
  Json json = Json::parse(trial_to_json(trial));
  json["problem"] = to_json(trial.key.problem);
  if (trial.timing) {
    json["tflops"] = tera_flops(trial.key.problem, trial.timing->median_ns);
    json["gbytes_per_s"] = giga_bytes(trial.key.problem, trial.timing->median_ns);
    add_metrics(json, trial.key.problem, trial.timing->median_ns, trial.timing->energy_j);
  }
  return json;
}

}  // namespace kiln::tools
