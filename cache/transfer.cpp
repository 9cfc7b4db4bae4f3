// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/transfer.hpp"

#include <fmt/format.h>

#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cache/trial_check.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kExportSchema = 1;
constexpr std::size_t kMaxComplaints = 20;
/// Trials per transaction: few enough to keep memory small, enough to make commits rare.
constexpr std::size_t kBatch = 500;
/// A line longer than this is no trial of ours.
constexpr std::size_t kMaxLineBytes = 4 << 20;

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

/// The library's own conversion would cut off digits, or a fraction, without a word.
template <class Int>
Int read_integer(const Json& object, const char* name) {
  const Json& value = object.at(name);
  using Limits = std::numeric_limits<Int>;
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= static_cast<std::uint64_t>(Limits::max())) return static_cast<Int>(number);
  } else if (value.is_number_integer()) {
    const auto number = value.get<std::int64_t>();
    if (number >= Limits::min() && number <= Limits::max()) return static_cast<Int>(number);
  }
  throw Error(ErrorKind::usage,
              fmt::format("trial field '{}' is {}, which is no whole number from {} to {}", name,
                          value.is_number() ? value.dump() : value.type_name(), Limits::min(),
                          Limits::max()));
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
  return {{"median_ns", timing.median_ns},     {"spread_ns", timing.spread_ns},
          {"interleaved", timing.interleaved}, {"sm_clock_mhz", timing.sm_clock_mhz},
          {"power_w", timing.power_w},         {"temperature_c", timing.temperature_c},
          {"samples_ns", timing.samples_ns}};
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
  return timing;
}

Trial decode(const Json& json) {
  Trial trial;
  trial.id = json.at("id").get<std::string>();
  trial.key.problem = Problem::parse(json.at("problem").get<std::string>());
  trial.key.device = read_device(json.at("device"));
  trial.key.template_name = json.at("template").get<std::string>();
  trial.key.template_digest = json.at("template_digest").get<std::string>();
  trial.key.config = Config::parse(json.at("config").get<std::string>());
  const Json& environment = json.at("environment");
  trial.environment = {environment.at("driver").get<std::string>(),
                       environment.at("toolkit").get<std::string>(),
                       environment.at("policy").get<std::string>()};
  const auto provenance = json.at("provenance").get<std::string>();
  trial.provenance = require(parse_provenance(provenance), provenance);
  const auto outcome = json.at("outcome").get<std::string>();
  trial.outcome = require(parse_outcome(outcome), outcome);
  trial.message = json.at("message").get<std::string>();
  if (const auto part = json.find("resources"); part != json.end()) {
    trial.resources = read_resources(*part);
  }
  if (const auto part = json.find("verification"); part != json.end()) {
    trial.verification = {part->at("passed").get<bool>(),
                          read_number_or_inf(part->at("worst_ratio")),
                          part->at("evidence").get<std::string>()};
  }
  if (const auto part = json.find("timing"); part != json.end()) trial.timing = read_timing(*part);
  trial.rendered_digest = json.at("rendered_digest").get<std::string>();
  trial.compile_seconds = json.at("compile_seconds").get<double>();
  trial.session_id = json.at("session").get<std::string>();
  trial.created_unix_ms = read_integer<std::int64_t>(json, "created_unix_ms");
  return trial;
}

void check_header(const std::string& line, const std::string& name) {
  const Json header = Json::parse(line, nullptr, false);
  const auto refuse = [&](const std::string& fault) {
    throw Error(ErrorKind::usage, fmt::format("{}:1: {}", name, fault));
  };
  if (!header.is_object() || header.value("kiln", Json()) != "trials") {
    refuse(
        "not a file that `kiln export` wrote: its first line must be "
        "{\"kiln\":\"trials\",\"schema\":1}");
  }
  const Json schema = header.value("schema", Json());
  if (schema != kExportSchema) {
    refuse(fmt::format("export schema {} is not known to this Kiln (it reads {}); update Kiln",
                       schema.dump(), kExportSchema));
  }
}

/// Collects lines into batches, and what became of them.
class Importer {
 public:
  Importer(TuningStore& store, const std::string& name) : store_(store), name_(name) {}

  void line(std::uint64_t number, const std::string& text) {
    try {
      if (text.size() > kMaxLineBytes) throw Error(ErrorKind::usage, "the line is too long");
      Trial trial = trial_from_json(text);
      lines_.push_back(number);
      batch_.push_back(std::move(trial));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::usage) throw;
      complain(number, error.what());
    }
    if (batch_.size() >= kBatch) flush();
  }

  TransferCount finish() {
    flush();
    return std::move(count_);
  }

 private:
  void flush() {
    const RecordCount recorded = store_.record_all(batch_);
    count_.written += recorded.written;
    count_.present += recorded.present;
    for (const std::size_t i : recorded.conflicts) {
      complain(lines_[i],
               fmt::format("trial {} is stored already with other content", batch_[i].id));
    }
    batch_.clear();
    lines_.clear();
  }

  void complain(std::uint64_t number, const std::string& fault) {
    ++count_.refused;
    if (count_.complaints.size() < kMaxComplaints) {
      count_.complaints.push_back(fmt::format("{}:{}: {}", name_, number, fault));
    }
  }

  TuningStore& store_;
  const std::string& name_;
  std::vector<Trial> batch_;
  std::vector<std::uint64_t> lines_;
  TransferCount count_;
};

}  // namespace

std::string trial_to_json(const Trial& trial) {
  Json json{{"id", trial.id},
            {"problem", trial.key.problem.canonical()},
            {"device", to_json(trial.key.device)},
            {"template", trial.key.template_name},
            {"template_digest", trial.key.template_digest},
            {"config", trial.key.config.canonical()},
            {"environment",
             {{"driver", trial.environment.driver},
              {"toolkit", trial.environment.toolkit},
              {"policy", trial.environment.policy}}},
            {"provenance", to_string(trial.provenance)},
            {"outcome", to_string(trial.outcome)},
            {"message", trial.message}};
  if (trial.resources) json["resources"] = to_json(*trial.resources);
  if (trial.verification) {
    json["verification"] = {{"passed", trial.verification->passed},
                            {"worst_ratio", number_or_inf(trial.verification->worst_ratio)},
                            {"evidence", trial.verification->evidence}};
  }
  if (trial.timing) json["timing"] = to_json(*trial.timing);
  json["rendered_digest"] = trial.rendered_digest;
  json["compile_seconds"] = trial.compile_seconds;
  json["session"] = trial.session_id;
  json["created_unix_ms"] = trial.created_unix_ms;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Trial trial_from_json(const std::string& line) {
  try {
    Trial trial = decode(Json::parse(line));
    if (!is_id(trial.id)) throw Error(ErrorKind::usage, "trial field 'id' is no trial id");
    if (trial.created_unix_ms <= 0) {
      throw Error(ErrorKind::usage, "trial field 'created_unix_ms' is no date");
    }
    return checked(std::move(trial));
  } catch (const Json::exception& error) {
    throw Error(ErrorKind::usage, fmt::format("not a trial: {}", error.what()));
  }
}

std::uint64_t export_trials(const TuningStore& store, const TrialFilter& filter,
                            std::ostream& out) {
  out << Json{{"kiln", "trials"}, {"schema", kExportSchema}}.dump() << '\n';
  std::uint64_t count = 0;
  for (const Trial& trial : store.trials(filter)) {
    out << trial_to_json(trial) << '\n';
    ++count;
  }
  if (!out.flush()) {
    throw Error(ErrorKind::usage, "the export could not be written completely: disk full?");
  }
  return count;
}

TransferCount import_trials(TuningStore& store, std::istream& in, const std::string& name) {
  std::string text;
  if (!std::getline(in, text)) throw Error(ErrorKind::usage, fmt::format("{}: is empty", name));
  check_header(text, name);
  Importer importer(store, name);
  for (std::uint64_t number = 2; std::getline(in, text); ++number) {
    if (!text.empty()) importer.line(number, text);
  }
  return importer.finish();
}

TransferCount merge(TuningStore& target, const TuningStore& source) {
  TransferCount count;
  const RecordCount sessions = target.adopt_sessions(source.sessions());
  const std::vector<Trial> offered = source.trials({});
  const RecordCount trials = target.record_all(offered);
  count.written = trials.written + sessions.written;
  count.present = trials.present + sessions.present;
  count.refused = trials.conflicts.size();
  for (const std::size_t i : trials.conflicts) {
    if (count.complaints.size() == kMaxComplaints) break;
    count.complaints.push_back(fmt::format("{}: trial {} has other content than in {}",
                                           source.path(), offered[i].id, target.path()));
  }
  return count;
}

}  // namespace kiln
