// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/trial_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cache/exchange/line_json.hpp"
#include "cache/exchange/value_json.hpp"
#include "cache/rows/trial_check.hpp"
#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no infinity; the worst ratio of a NaN result is one.
Json number_or_inf(double value) {
  return std::isinf(value) ? Json("inf") : Json(value);
}
double read_number_or_inf(const Json& value) {
  if (value == "inf") return std::numeric_limits<double>::infinity();
  return value.get<double>();
}

template <class Enum>
Enum require(std::optional<Enum> value, const std::string& name) {
  if (!value) throw Error(ErrorKind::usage, fmt::format("'{}' is unknown", name));
  return *value;
}

/// The library's own conversion would silently cut off digits, or a fraction.
template <class Int>
Int read_integer(const Json& object, const std::string& name) {
  const Json& value = object.at(name);
  using Limits = std::numeric_limits<Int>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (std::in_range<Int>(number)) return static_cast<Int>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (std::in_range<Int>(number)) return static_cast<Int>(number);
  }
  throw Error(ErrorKind::usage,
              fmt::format("field '{}' is {}, but must be a whole number from {} to {}", name,
                          value.is_number() ? value.dump() : value.type_name(), Limits::min(),
                          Limits::max()));
}

Json to_json(const Problem& problem) {
  Json json{{"operation", problem.operation},
            {"sizes", Json::object()},
            {"types", Json::object()},
            {"traits", Json::object()}};
  for (const NamedValue& size : problem.sizes) json["sizes"][size.name] = size.value;
  for (const NamedType& type : problem.types) json["types"][type.slot] = to_string(type.type);
  for (const NamedValue& trait : problem.traits) json["traits"][trait.name] = trait.value;
  if (!problem.epilogue.empty()) json["epilogue"] = problem.epilogue;
  return json;
}

/// The names of an object's fields in the order of the operation, because JSON objects are
/// unordered and other programs sort them; then those that the operation does not know.
std::vector<std::string> field_names(const Json& object, const std::vector<std::string>& known) {
  std::vector<std::string> names;
  for (const std::string& name : known) {
    if (object.contains(name)) names.push_back(name);
  }
  for (const auto& [name, value] : object.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) names.push_back(name);
  }
  return names;
}

/// An object since export schema 2, canonical text before.
Problem read_problem(const Json& json) {
  if (json.is_string()) return Problem::parse(json.get<std::string>());
  Problem problem;
  problem.operation = json.at("operation").get<std::string>();
  const Operation* found = find_operation(problem.operation);
  const Operation operation = found == nullptr ? Operation{} : *found;
  const Json& sizes = json.at("sizes");
  for (const std::string& name : field_names(sizes, operation.size_names())) {
    problem.sizes.push_back({name, read_integer<std::int64_t>(sizes, name)});
  }
  const Json& types = json.at("types");
  for (const std::string& slot : field_names(types, operation.type_slots())) {
    const auto type = types.at(slot).get<std::string>();
    problem.types.push_back({slot, require(parse_dtype(type), type)});
  }
  const Json& traits = json.at("traits");
  for (const std::string& name : field_names(traits, operation.trait_names())) {
    problem.traits.push_back({name, read_integer<std::int64_t>(traits, name)});
  }
  if (json.contains("epilogue")) problem.epilogue = json.at("epilogue").get<std::string>();
  return problem;
}

Json to_json(const Config& config) {
  Json json = Json::object();
  for (const auto& [name, value] : config.values()) json[name] = value_json(value);
  return json;
}

/// An object since export schema 2, canonical text before.
Config read_config(const Json& json) {
  if (json.is_string()) return Config::parse(json.get<std::string>());
  if (!json.is_object()) throw Error(ErrorKind::usage, "field 'config' must be a JSON object");
  Config config;
  for (const auto& [name, value] : json.items()) {
    const auto known = value_of_json(value);
    if (!known) {
      throw Error(ErrorKind::usage,
                  fmt::format("field '{}' is {}, but must be a 32-bit integer, a decimal number of "
                              "at most {} digits, a boolean or a name",
                              name, value.is_primitive() ? value.dump() : value.type_name(),
                              kMostDecimalDigits));
    }
    config.set(name, *known);
  }
  return config;
}

Json to_json(const Environment& environment) {
  return {{"driver", environment.driver},
          {"toolkit", environment.toolkit},
          {"policy", environment.policy}};
}

Environment read_environment(const Json& json) {
  return {json.at("driver").get<std::string>(), json.at("toolkit").get<std::string>(),
          json.at("policy").get<std::string>()};
}

Json to_json(const DeviceClass& device) {
  return {{"name", device.name},
          {"arch", device.arch},
          {"sm_count", device.sm_count},
          {"l2_bytes", device.l2_bytes},
          {"mig_profile", device.mig_profile}};
}

DeviceClass read_device(const Json& json) {
  return {json.at("name").get<std::string>(), json.at("arch").get<std::string>(),
          read_integer<int>(json, "sm_count"), read_integer<std::int64_t>(json, "l2_bytes"),
          json.at("mig_profile").get<std::string>()};
}

Json to_json(const KernelResources& used) {
  return {{"registers", used.registers},
          {"spill_store_bytes", used.spill_store_bytes},
          {"spill_load_bytes", used.spill_load_bytes},
          {"stack_bytes", used.stack_bytes},
          {"smem_static_bytes", used.smem_static_bytes},
          {"smem_dynamic_bytes", used.smem_dynamic_bytes},
          {"occupancy", used.occupancy}};
}

KernelResources read_resources(const Json& json) {
  KernelResources used;
  used.registers = read_integer<int>(json, "registers");
  used.spill_store_bytes = read_integer<int>(json, "spill_store_bytes");
  used.spill_load_bytes = read_integer<int>(json, "spill_load_bytes");
  used.stack_bytes = read_integer<int>(json, "stack_bytes");
  used.smem_static_bytes = read_integer<std::int64_t>(json, "smem_static_bytes");
  used.smem_dynamic_bytes = read_integer<std::int64_t>(json, "smem_dynamic_bytes");
  used.occupancy = json.at("occupancy").get<double>();
  return used;
}

Json to_json(const Timing& timing) {
  Json json{{"median_ns", timing.median_ns},     {"spread_ns", timing.spread_ns},
            {"interleaved", timing.interleaved}, {"sm_clock_mhz", timing.sm_clock_mhz},
            {"power_w", timing.power_w},         {"temperature_c", timing.temperature_c},
            {"samples_ns", timing.samples_ns}};
  if (timing.energy_j > 0.0) {
    json["energy_j"] = timing.energy_j;
    json["energy_spread_j"] = timing.energy_spread_j;
  }
  return json;
}

Timing read_timing(const Json& json) {
  Timing timing;
  timing.median_ns = json.at("median_ns").get<double>();
  timing.spread_ns = json.at("spread_ns").get<double>();
  timing.interleaved = json.at("interleaved").get<bool>();
  timing.sm_clock_mhz = read_integer<int>(json, "sm_clock_mhz");
  timing.power_w = json.at("power_w").get<double>();
  timing.temperature_c = read_integer<int>(json, "temperature_c");
  timing.samples_ns = json.at("samples_ns").get<std::vector<double>>();
  timing.energy_j = json.value("energy_j", 0.0);  // since export schema 5
  timing.energy_spread_j = json.value("energy_spread_j", 0.0);
  return timing;
}

Trial decode_trial(const Json& json) {
  Trial trial;
  trial.id = json.at("id").get<std::string>();
  trial.key.problem = read_problem(json.at("problem"));
  trial.key.device = read_device(json.at("device"));
  trial.key.template_name = json.at("template").get<std::string>();
  trial.key.template_digest = json.at("template_digest").get<std::string>();
  trial.key.config = read_config(json.at("config"));
  trial.environment = read_environment(json.at("environment"));
  const auto provenance = json.at("provenance").get<std::string>();
  trial.provenance = require(parse_provenance(provenance), provenance);
  const auto outcome = json.at("outcome").get<std::string>();
  trial.outcome = require(parse_outcome(outcome), outcome);
  trial.message = json.at("message").get<std::string>();
  if (const auto part = json.find("resources"); part != json.end()) {
    trial.resources = read_resources(*part);
  }
  if (const auto part = json.find("verification"); part != json.end()) {
    trial.verification = {
        part->at("passed").get<bool>(), read_number_or_inf(part->at("worst_ratio")),
        part->at("evidence").get<std::string>(), part->value("checked", false)};  // since 4
  }
  if (const auto part = json.find("timing"); part != json.end()) trial.timing = read_timing(*part);
  trial.rendered_digest = json.at("rendered_digest").get<std::string>();
  trial.compile_seconds = json.at("compile_seconds").get<double>();
  trial.session_id = json.at("session").get<std::string>();
  trial.created_unix_ms = read_integer<std::int64_t>(json, "created_unix_ms");
  // Since export schema 3.
  trial.code_digest = json.value("code_digest", "");
  trial.shared_from = json.value("shared_from", "");
  trial.judge_digest = json.value("judge_digest", "");  // since 4
  return trial;
}

SessionRecord decode_session(const Json& json) {
  SessionRecord session;
  session.id = json.at("id").get<std::string>();
  session.problem = read_problem(json.at("problem"));
  session.device = read_device(json.at("device"));
  session.environment = read_environment(json.at("environment"));
  session.strategy = json.at("strategy").get<std::string>();
  session.budget = json.at("budget").get<std::string>();
  session.space_size = read_integer<std::uint64_t>(json, "space_size");
  session.evaluated = read_integer<std::uint64_t>(json, "evaluated");
  session.state = json.at("state").get<std::string>();
  session.started_unix_ms = read_integer<std::int64_t>(json, "started_unix_ms");
  session.ended_unix_ms = read_integer<std::int64_t>(json, "ended_unix_ms");
  session.objective = json.value("objective", session.objective);  // since export schema 5
  return session;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string trial_to_json(const Trial& trial) {
  Json json{{"id", trial.id},
            {"problem", to_json(trial.key.problem)},
            {"device", to_json(trial.key.device)},
            {"template", trial.key.template_name},
            {"template_digest", trial.key.template_digest},
            {"config", to_json(trial.key.config)},
            {"environment", to_json(trial.environment)},
            {"provenance", to_string(trial.provenance)},
            {"outcome", to_string(trial.outcome)},
            {"message", trial.message}};
  if (trial.resources) json["resources"] = to_json(*trial.resources);
  if (trial.verification) {
    json["verification"] = {{"passed", trial.verification->passed},
                            {"worst_ratio", number_or_inf(trial.verification->worst_ratio)},
                            {"evidence", trial.verification->evidence}};
    if (trial.verification->checked) json["verification"]["checked"] = true;
  }
  if (trial.timing) json["timing"] = to_json(*trial.timing);
  json["rendered_digest"] = trial.rendered_digest;
  json["compile_seconds"] = trial.compile_seconds;
  json["session"] = trial.session_id;
  json["created_unix_ms"] = trial.created_unix_ms;
  if (!trial.code_digest.empty()) json["code_digest"] = trial.code_digest;
  if (!trial.shared_from.empty()) json["shared_from"] = trial.shared_from;
  if (!trial.judge_digest.empty()) json["judge_digest"] = trial.judge_digest;
  return line_of(json);
}

Trial trial_from_json(const std::string& line) {
  try {
    Trial trial = decode_trial(json_of_line(line));
    if (!is_id(trial.id))
      throw Error(ErrorKind::usage, "trial field 'id' must be 32 hexadecimal digits");
    if (trial.created_unix_ms <= 0) {
      throw Error(ErrorKind::usage, "trial field 'created_unix_ms' must be greater than 0");
    }
    return checked(std::move(trial));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, fmt::format("not a trial: {}", error.what()));
  }
}

std::string session_to_json(const SessionRecord& session) {
  return line_of({{"kiln", "session"},
                  {"id", session.id},
                  {"problem", to_json(session.problem)},
                  {"device", to_json(session.device)},
                  {"environment", to_json(session.environment)},
                  {"strategy", session.strategy},
                  {"budget", session.budget},
                  {"space_size", session.space_size},
                  {"evaluated", session.evaluated},
                  {"state", session.state},
                  {"started_unix_ms", session.started_unix_ms},
                  {"ended_unix_ms", session.ended_unix_ms},
                  {"objective", session.objective}});
}

SessionRecord session_from_json(const std::string& line) {
  try {
    return checked(decode_session(json_of_line(line)));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, fmt::format("not a session: {}", error.what()));
  }
}

}  // namespace kiln
