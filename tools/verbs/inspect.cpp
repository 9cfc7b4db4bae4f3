// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A profile without a GPU: what a kernel does, by source line.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/model/units.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/selection.hpp"
#include "tools/command_line/whole_number.hpp"
#include "tools/emulation.hpp"
#include "tools/output/json.hpp"
#include "tools/output/source_lines.hpp"
#include "tools/output/table.hpp"
#include "tools/output/trial_text.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/kernel_profile.hpp"
#include "tools/verbs/verbs.hpp"
#include "tuner/session/prepared_candidate.hpp"

namespace kiln::tools {
namespace {

/// More than any GPU has.
constexpr std::int64_t kSparseBytes = std::int64_t{1} << 40;

struct InspectOptions {
  ProblemFlags problem;
  SelectionFlags selection;
  int clusters = 4;
  int top = 12;
  bool source = false;
  std::string timeout = "60s";
};

struct Inspection {
  ProblemCase request;
  DeviceInfo device;
  Chosen chosen;
  PreparedCandidate prepared;
  std::vector<LaunchProfile> launches;
};

std::uint64_t scaled(const LaunchProfile& launch, std::uint64_t count) {
  return static_cast<std::uint64_t>(std::llround(launch.scale() * static_cast<double>(count)));
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string extent_text(const std::array<std::uint32_t, 3>& extent) {
  return fmt::format("{} x {} x {}", extent[0], extent[1], extent[2]);
}

/// "tensor 61.2 %, fp32 33.0 %": the resources that are busy for any of the time, busiest first.
std::string busy_text(const emulated::Prediction& prediction) {
  const auto names = emulated::resource_names();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (prediction.busy[i] >= 0.01) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) {
    return prediction.busy[x] > prediction.busy[y];
  });
  std::string text;
  for (const std::size_t i : order) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", names[i],
                        percent_text(prediction.busy[i]));
  }
  return text.empty() ? "no unit is busy for more than 1 % of the time" : text;
}

void add_launch_facts(FactSheet& sheet, const LaunchProfile& launch) {
  const auto& geometry = launch.geometry;
  const std::uint64_t clusters = count_of(geometry.cluster);
  sheet.add("grid", fmt::format("{} blocks of {} threads{}", extent_text(geometry.grid),
                                extent_text(geometry.block),
                                clusters > 1 ? fmt::format(", clusters of {}", clusters) : ""));
  if (launch.launches > 1) {
    sheet.add("launches", fmt::format("{} in a run; this is the first", launch.launches));
  }
  const auto& prediction = launch.prediction;
  sheet.add("predicted",
            fmt::format("{}, bound by {}", time_text(prediction.time_ns), prediction.bound));
  sheet.add("busy", busy_text(prediction));
  sheet.add("residency", fmt::format("{} blocks per multiprocessor at once, {:.2f} waves",
                                     prediction.blocks_per_sm, prediction.rounds));
  sheet.add("counted",
            fmt::format(
                "Kiln ran {} of {} blocks; the numbers below are extrapolated to the whole launch",
                count_text(launch.facts.blocks), count_text(launch.blocks)));
  const auto& total = launch.total;
  sheet.add("global",
            fmt::format("{} sectors; {} of these are excess sectors",
                        count_text(scaled(launch, total.facts.global_sectors)),
                        percent_text(share(total.excess_sectors, total.facts.global_sectors))));
  sheet.add("to L2", fmt::format("reads of {}, writes of {}; a sector counts once per cluster",
                                 bytes_text(static_cast<std::int64_t>(
                                     32 * scaled(launch, launch.facts.distinct_reads))),
                                 bytes_text(static_cast<std::int64_t>(
                                     32 * scaled(launch, launch.facts.distinct_writes)))));
  sheet.add("shared",
            fmt::format("{} wavefronts; bank conflicts cause {} of these",
                        count_text(scaled(launch, total.facts.shared_wavefronts)),
                        percent_text(share(total.conflicts, total.facts.shared_wavefronts))));
}

std::string units_text(const LaunchProfile& launch) {
  using enum Table::Align;
  Table table({{"unit"}, {"instructions", right}, {"share", right}});
  const auto issues = launch.facts.issues_by_unit();
  const std::uint64_t all = launch.total.facts.issues;
  std::vector<std::size_t> order(issues.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t x, std::size_t y) { return issues[x] > issues[y]; });
  for (const std::size_t unit : order) {
    if (issues[unit] == 0) continue;
    table.add_row({std::string(emulated::kUnitNames[unit]),
                   count_text(scaled(launch, issues[unit])),
                   percent_text(share(issues[unit], all))});
  }
  table.add_row({"all", count_text(scaled(launch, all)), percent_text(1.0)});
  return table.text();
}

/// The heaviest lines, and of the others those that waste anything.
std::vector<const LineProfile*> notable_lines(const LaunchProfile& launch, int top) {
  std::vector<const LineProfile*> lines;
  for (std::size_t i = 0; i < launch.lines.size(); ++i) {
    const LineProfile& line = launch.lines[i];
    if (i < static_cast<std::size_t>(top) || line.conflicts > 0 || line.excess_sectors > 0)
      lines.push_back(&line);
  }
  return lines;
}

std::string lines_text(const LaunchProfile& launch, int top, const SourceLines* source) {
  using enum Table::Align;
  std::vector<Table::Column> columns{
      {"line"},          {"called at"},         {"instructions", right}, {"sectors", right},
      {"excess", right}, {"wavefronts", right}, {"conflicts", right}};
  if (source != nullptr) columns.push_back({"source"});
  Table table(columns);
  const auto cell = [&](std::uint64_t count) {
    return count == 0 ? std::string("-") : count_text(scaled(launch, count));
  };
  for (const LineProfile* line : notable_lines(launch, top)) {
    std::vector<std::string> row{line->place,
                                 line->caller,
                                 cell(line->facts.issues),
                                 cell(line->facts.global_sectors),
                                 cell(line->excess_sectors),
                                 cell(line->facts.shared_wavefronts),
                                 cell(line->conflicts)};
    if (source != nullptr) row.emplace_back(source->at(line->place));
    table.add_row(std::move(row));
  }
  return table.text();
}

SourceLines source_of(const Inspection& inspection) {
  const RenderedKernel& rendered = inspection.prepared.rendered;
  return {rendered.text, rendered.template_name + ".cu"};
}

std::string inspection_text(const Inspection& inspection, const InspectOptions& options) {
  std::string text = fmt::format("{} on {}\n", heading_text(inspection.request.problem),
                                 full_device_text(inspection.device));
  FactSheet sheet;
  add_choice(sheet, inspection.chosen);
  sheet.add("resources", resources_text(inspection.prepared.resources));
  const CompileOptions& compile = inspection.prepared.rendered.options;
  if (!compile.empty()) sheet.add("compile", compile.text());
  const SourceLines source = source_of(inspection);
  const bool several = inspection.launches.size() > 1;
  if (!several) add_launch_facts(sheet, inspection.launches.front());
  text += sheet.text();
  for (std::size_t i = 0; i < inspection.launches.size(); ++i) {
    const LaunchProfile& launch = inspection.launches[i];
    if (several) {
      FactSheet facts;
      add_launch_facts(facts, launch);
      text += fmt::format("\nlaunch {} of {}\n{}", i + 1, inspection.launches.size(), facts.text());
    }
    text += "\n" + units_text(launch) + "\n" +
            lines_text(launch, options.top, options.source ? &source : nullptr);
  }
  return text;
}

Json facts_json(const LaunchProfile& launch, const LineProfile& line) {
  const auto& facts = line.facts;
  return {{"instructions", scaled(launch, facts.issues)},
          {"lane_instructions", scaled(launch, facts.lanes)},
          {"global_requests", scaled(launch, facts.global_requests)},
          {"global_sectors", scaled(launch, facts.global_sectors)},
          {"global_excess_sectors", scaled(launch, line.excess_sectors)},
          {"global_bytes", scaled(launch, facts.global_bytes)},
          {"shared_requests", scaled(launch, facts.shared_requests)},
          {"shared_wavefronts", scaled(launch, facts.shared_wavefronts)},
          {"shared_conflicts", scaled(launch, line.conflicts)}};
}

Json launch_json(const LaunchProfile& launch, const SourceLines& source) {
  Json json;
  json["grid"] = launch.geometry.grid;
  json["block"] = launch.geometry.block;
  json["cluster"] = launch.geometry.cluster;
  json["times_in_run"] = launch.launches;
  json["blocks"] = launch.blocks;
  json["blocks_counted"] = launch.facts.blocks;
  json["predicted_ns"] = launch.prediction.time_ns;
  json["bound"] = launch.prediction.bound;
  json["blocks_per_sm"] = launch.prediction.blocks_per_sm;
  json["rounds"] = launch.prediction.rounds;
  json["busy"] = Json::object();
  const auto names = emulated::resource_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    json["busy"][names[i]] = launch.prediction.busy[i];
  }
  json["l2_read_bytes"] = 32 * scaled(launch, launch.facts.distinct_reads);
  json["l2_written_bytes"] = 32 * scaled(launch, launch.facts.distinct_writes);
  json["total"] = facts_json(launch, launch.total);
  json["instructions_by_unit"] = Json::object();
  const auto issues = launch.facts.issues_by_unit();
  for (std::size_t i = 0; i < issues.size(); ++i) {
    json["instructions_by_unit"][std::string(emulated::kUnitNames[i])] = scaled(launch, issues[i]);
  }
  json["lines"] = Json::array();
  for (const LineProfile& line : launch.lines) {
    Json row = facts_json(launch, line);
    row["place"] = line.place;
    row["called_at"] = line.caller;
    row["source"] = source.at(line.place);
    json["lines"].push_back(std::move(row));
  }
  return json;
}

Json inspection_json(const Inspection& inspection) {
  Json document = json_document("inspect");
  document["problem"] = to_json(inspection.request.problem);
  document["device"] = inspection.device.spec;
  document["device_class"] = to_json(inspection.device.device_class);
  document.update(choice_json(inspection.chosen));
  const PreparedCandidate& prepared = inspection.prepared;
  document["outcome"] = to_string(prepared.outcome);
  if (!prepared.message.empty()) document["message"] = prepared.message;
  document["compile"] = {
      {"options", prepared.rendered.options.flags},
      {"route", prepared.rendered.options.route == CompileRoute::ptx ? "ptx" : "cubin"}};
  document["launches"] = Json::array();
  if (prepared.outcome != Outcome::ok) return document;
  const KernelResources& used = prepared.resources;
  document["registers"] = used.registers;
  document["smem_bytes"] = used.smem_static_bytes + used.smem_dynamic_bytes;
  document["occupancy"] = used.occupancy;
  const SourceLines source = source_of(inspection);
  for (const auto& launch : inspection.launches) {
    document["launches"].push_back(launch_json(launch, source));
  }
  return document;
}

int inspect(Context& context, const InspectOptions& options) {
  options.selection.check_usage();
  Inspection inspection;
  inspection.request = options.problem.request();
  const std::string spec = emulated_by_default(context);
  if (!names_emulated_device(spec)) {
    throw Error(ErrorKind::usage,
                fmt::format("inspect needs an emulated GPU, not {}; name an emulated GPU, e.g. "
                            "--device {}",
                            spec, kDefaultEmulated));
  }
  EmulationOptions emulation;
  emulation.timeout_s = parse_limit_s("--timeout", options.timeout);
  // A few blocks touch little of operands that may be larger than this machine's memory.
  emulation.sparse_memory = true;
  emulation.memory_bytes = kSparseBytes;
  const auto device = open_emulated(spec, emulation);
  inspection.device = device->info();
  const auto compiler = context.compiler();
  inspection.chosen = options.selection.choose(context, inspection.request.problem,
                                               inspection.device, compiler->identity());
  const ProblemCase& problem = inspection.request;
  inspection.prepared = prepare_candidate(inspection.chosen.candidate, context.catalog(), *compiler,
                                          inspection.device.limits, {problem}, Admission::runnable,
                                          inspection.device.code);
  if (inspection.prepared.outcome != Outcome::ok) {
    context.warn(
        fmt::format("{}: {}", to_string(inspection.prepared.outcome), inspection.prepared.message));
    if (context.flags.json) context.print(json_text(inspection_json(inspection)));
    return kExitFailure;
  }
  inspection.launches = profile_candidate(*device, inspection.prepared, problem, options.clusters);
  context.print(context.flags.json ? json_text(inspection_json(inspection))
                                   : inspection_text(inspection, options));
  return kExitOk;
}

}  // namespace

Action add_inspect(CLI::App& verb, const Operation& operation) {
  auto options = std::make_shared<InspectOptions>();
  options->problem.add_to(verb, operation, ProblemFlags::Word::required);
  options->selection.add_to(verb);
  auto& o = *options;
  verb.add_option(
          "--clusters", o.clusters,
          "Run only N thread block clusters, spread evenly over the grid (default 4; 0 means all). "
          "Without clusters, each block counts as a cluster")
      ->type_name("N")
      ->check(whole_number(0, kMostInt));
  verb.add_option("--top", o.top,
                  "Show the N costliest source lines (default 12). Lines with bank conflicts or "
                  "excess sectors are always shown")
      ->type_name("N")
      ->check(whole_number(0, kMostInt));
  verb.add_flag("--source", o.source, "Also show the text of each source line");
  verb.add_option("--timeout", o.timeout, "Time-out of one launch (default 60s)")
      ->type_name("TIME");
  return [options](Context& context) { return inspect(context, *options); };
}

}  // namespace kiln::tools
