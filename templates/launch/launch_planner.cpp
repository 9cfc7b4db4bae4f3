// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Expressions of the front matter evaluated, and checked against CUDA's limits.
#include "templates/launch/launch_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "templates/front_matter/allow_line.hpp"
#include "templates/launch/launch_evaluator.hpp"
#include "templates/launch/tensor_maps.hpp"
#include "templates/operation/operation.hpp"
#include "templates/space/space_program.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

constexpr std::array<std::int64_t, 3> kMaxGrid{std::numeric_limits<std::int32_t>::max(), 65535,
                                               65535};
constexpr std::array<std::int64_t, 3> kMaxBlock{1024, 1024, 64};
constexpr std::array<std::int64_t, 3> kMaxCluster{16, 16, 16};
/// Sixteen blocks need a kernel attribute; eight work everywhere from Hopper on.
constexpr std::int64_t kMaxClusterBlocks = 16;
constexpr int kFirstClusterSm = 90;
/// Below, a launch begins when those before it on the stream have ended.
constexpr int kFirstOverlapSm = 90;
/// What a truth value may be.
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostScratchBytes = std::int64_t{1} << 48;
/// What allocators give.
constexpr std::int64_t kScratchAlignment = 256;

}  // namespace

std::vector<LaunchGeometry> LaunchPlanner::geometry(const Config& config) const {
  return geometry_of({config, bind(config)}, LaunchDetail::arguments, true);
}

std::int64_t LaunchPlanner::workspace_bytes(const Config& config) const {
  const RunSpec& run = kernel_template_.run_spec();
  if (!run.workspace && run.scratch.empty()) return 0;
  return workspace_bytes_of({config, bind(config)});
}

std::int64_t LaunchPlanner::own_workspace_bytes(const Config& config) const {
  if (!kernel_template_.workspace()) return 0;
  return own_workspace_bytes_of({config, bind(config)});
}

std::vector<ScratchPlan> LaunchPlanner::scratch(const Config& config) const {
  if (kernel_template_.run_spec().scratch.empty()) return {};
  const std::vector<std::int64_t> values = bind(config);
  const Bound bound{config, values};
  return scratch_of(bound, own_workspace_bytes_of(bound));
}

std::vector<NamedValue> LaunchPlanner::costs(const Config& config) const {
  if (kernel_template_.cost_lines().empty()) return {};
  return costs_of({config, bind(config)});
}

LaunchPlan LaunchPlanner::plan(const Config& config, std::span<const std::int64_t> bindings,
                               LaunchDetail detail) const {
  std::vector<std::int64_t> own;
  if (bindings.empty()) bindings = own = bind(config);
  const Bound bound{config, bindings};
  LaunchPlan plan;
  plan.costs = costs_of(bound);
  plan.launches = geometry_of(bound, detail, false);
  plan.workspace_bytes = workspace_bytes_of(bound);
  plan.times.assign(plan.launches.size(), 1);
  if (kernel_template_.run_spec().repeat_slot < 0) return plan;
  for (const Instance& instance : instances(bound, false)) {
    plan.times[instance.launch] = instance.count;
  }
  return plan;
}

std::vector<ArgumentPlan> LaunchPlanner::argument_plans(const Config& config) const {
  if (!find_operation(kernel_template_.operation())->is_declared()) return {};
  const std::vector<std::int64_t> values = bind(config);
  const Bound bound{config, values};
  std::vector<std::int64_t> scratch_offsets;
  for (const ScratchPlan& scratch : scratch_of(bound, own_workspace_bytes_of(bound))) {
    scratch_offsets.push_back(scratch.offset);
  }
  std::vector<ArgumentPlan> plans;
  std::vector<std::int64_t> own;
  for (const Instance& instance : instances(bound, true)) {
    const LaunchSpec& launch = kernel_template_.launches()[instance.launch];
    const LaunchEvaluator evaluator([&] { return launch_text(launch, bound); },
                                    values_of(instance, bound, own));
    if (launch.when && evaluator.value("when", *launch.when, kLeast, kMost) == 0) {
      plans.emplace_back();
      continue;
    }
    plans.push_back(plan_arguments(
        launch.args,
        [&](const Expression& value) { return evaluator.value("argument", value, kLeast, kMost); },
        [&](const std::string& why) { evaluator.fail(why); }, scratch_offsets));
  }
  return plans;
}

std::vector<NamedValue> LaunchPlanner::config_fields(const Config& config) const {
  const std::vector<std::int64_t> values = bind(config);
  std::vector<NamedValue> fields;
  for (const ConfigField& field : kernel_template_.config_struct().fields) {
    fields.push_back({field.name, field_value(field, {config, values})});
  }
  return fields;
}

// Without a ParamSpace: a valid candidate is bound many times.
std::vector<std::int64_t> LaunchPlanner::bind(const Config& config) const {
  const SpaceSpec& space = kernel_template_.space_spec();
  auto values = kernel_template_.fixed_values(problem_, limits_);
  for (std::size_t i = 0; i < space.tunables.size(); ++i) {
    values[static_cast<std::size_t>(space.layout->tunable_slots()[i])] =
        config.at(space.tunables[i].name);
  }
  for (std::size_t i = 0; i < space.derived.size(); ++i) {
    const DerivedValue& let = space.derived[i];
    const auto value = let.value.evaluate(values);
    if (!value) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: the \"let\" value {} is undefined (division by zero or "
                              "overflow); the configuration is \"{}\"",
                              kernel_template_.name(), let.name, config.canonical()));
    }
    values[static_cast<std::size_t>(space.layout->derived_slots()[i])] = *value;
  }
  return values;
}

std::int64_t LaunchPlanner::times(std::size_t launch, const Bound& bound) const {
  const LaunchSpec& spec = kernel_template_.launches()[launch];
  if (!spec.repeat) return 1;
  const LaunchEvaluator evaluator([&] { return launch_text(spec, bound); }, bound.values);
  return evaluator.value("repeat", spec.repeat->times, 0, kMostLaunches);
}

std::vector<LaunchPlanner::Instance> LaunchPlanner::instances(const Bound& bound, bool all) const {
  const std::vector<LaunchSpec>& launches = kernel_template_.launches();
  std::vector<Instance> result;
  for (std::size_t first = 0; first < launches.size();) {
    const std::size_t group =
        launches[first].repeat ? static_cast<std::size_t>(launches[first].repeat->launches) : 1;
    const std::int64_t count = times(first, bound);
    for (std::int64_t index = 0; index < (all ? count : 1); ++index) {
      for (std::size_t i = first; i < first + group; ++i) result.push_back({i, index, count});
    }
    first += group;
    if (std::cmp_less_equal(result.size(), kMostLaunches)) continue;
    throw Error(ErrorKind::template_,
                fmt::format("{}: with all repetitions, a run has more than {} launches. Next: do "
                            "more in one launch",
                            launch_text(launches[first - group], bound), kMostLaunches));
  }
  return result;
}

std::span<const std::int64_t> LaunchPlanner::values_of(const Instance& instance, const Bound& bound,
                                                       std::vector<std::int64_t>& own) const {
  const int slot = kernel_template_.run_spec().repeat_slot;
  if (slot < 0) return bound.values;
  const auto at = static_cast<std::size_t>(slot);
  if (own.empty()) {
    own.assign(bound.values.begin(), bound.values.end());
    own.resize(std::max(own.size(), at + 2));
  }
  own[at] = instance.index;
  own[at + 1] = instance.count;
  return own;
}

LaunchGeometry LaunchPlanner::launch_geometry(const LaunchSpec& launch, const Bound& bound,
                                              LaunchDetail detail) const {
  const LaunchEvaluator evaluator([&] { return launch_text(launch, bound); }, bound.values);
  LaunchGeometry geometry;
  if (launch.when && evaluator.value("when", *launch.when, kLeast, kMost) == 0) {
    geometry.grid = {0, 0, 0};
    return geometry;
  }
  geometry.grid = evaluator.extent("grid", launch.grid, kMaxGrid);
  geometry.block = evaluator.extent("block", launch.block, kMaxBlock);
  geometry.cluster = evaluator.extent("cluster", launch.cluster, kMaxCluster);
  if (launch.smem) {
    geometry.smem_bytes =
        static_cast<std::uint32_t>(evaluator.value("smem", *launch.smem, 0, limits_.smem_optin));
  }
  geometry.overlaps = limits_.sm >= kFirstOverlapSm && launch.overlap &&
                      evaluator.value("overlap", *launch.overlap, kLeast, kMost) != 0;
  geometry.allowed = allowed_mask(launch.allowances);
  geometry.cooperative =
      launch.cooperative && evaluator.value("cooperative", *launch.cooperative, kLeast, kMost) != 0;
  if (geometry.cooperative && geometry.overlaps) {
    evaluator.fail(
        "a cooperative launch cannot overlap with the previous launch: all blocks of a "
        "cooperative launch must be resident at once. Next: make the \"overlap\" "
        "expression 0 for every cooperative launch");
  }
  // Each dimension is in range; the product need not be.
  if (std::cmp_greater(count_of(geometry.block), limits_.max_threads)) {
    evaluator.fail(fmt::format("a block has {} threads, but the device allows at most {}",
                               count_of(geometry.block), limits_.max_threads));
  }
  const auto cluster_blocks = count_of(geometry.cluster);
  if (cluster_blocks > kMaxClusterBlocks) {
    evaluator.fail(fmt::format("a cluster has {} blocks, but Kiln allows at most {}",
                               cluster_blocks, kMaxClusterBlocks));
  }
  if (cluster_blocks > 1) {
    if (limits_.sm < kFirstClusterSm) {
      evaluator.fail(fmt::format("clusters of thread blocks need sm_{} or newer", kFirstClusterSm));
    }
    for (std::size_t i = 0; i < 3; ++i) {
      if (geometry.grid[i] % geometry.cluster[i] != 0) {
        evaluator.fail(fmt::format("grid.{} = {} is not a multiple of the cluster size {}",
                                   "xyz"[i], geometry.grid[i], geometry.cluster[i]));
      }
    }
  }
  if (detail != LaunchDetail::arguments) return geometry;
  for (const auto& map : launch.maps) {
    geometry.maps.items[geometry.maps.count++] =
        plan_tensor_map(map, *find_operation(kernel_template_.operation()), problem_,
                        [&](const Expression& expression) {
                          return evaluator.value("map", expression, kLeast, kMost);
                        });
  }
  return geometry;
}

std::vector<LaunchGeometry> LaunchPlanner::geometry_of(const Bound& bound, LaunchDetail detail,
                                                       bool all) const {
  const bool is_typed = !find_operation(kernel_template_.operation())->is_declared();
  const bool repeats = kernel_template_.run_spec().repeat_slot >= 0;
  LaunchValues at_launch;
  if (detail == LaunchDetail::arguments && is_typed) at_launch = values_at_launch(bound);
  std::vector<LaunchGeometry> result;
  std::vector<std::int64_t> own;
  for (const Instance& instance : instances(bound, all)) {
    LaunchGeometry& geometry = result.emplace_back();
    if (instance.count == 0) {
      geometry.grid = {0, 0, 0};
    } else {
      geometry = launch_geometry(kernel_template_.launches()[instance.launch],
                                 {bound.config, values_of(instance, bound, own)}, detail);
    }
    geometry.values = at_launch;
    if (repeats && all) geometry.kernel = static_cast<std::int32_t>(instance.launch);
  }
  if (std::ranges::all_of(result, &LaunchGeometry::left_out)) {
    const std::string_view cause =
        repeats ? "\"when\" condition or \"repeat\" number is 0; change one of them"
                : "\"when\" condition is 0; change a condition";
    throw Error(
        ErrorKind::template_,
        fmt::format("{}: no launch would run, because every {}. The configuration is \"{}\", and "
                    "the sizes are {}",
                    kernel_template_.file(), cause, bound.config.canonical(),
                    problem_.sizes_text()));
  }
  return result;
}

LaunchValues LaunchPlanner::values_at_launch(const Bound& bound) const {
  LaunchValues at_launch;
  for (const ConfigField& field : kernel_template_.launch_struct().fields) {
    at_launch.items[at_launch.count++] = static_cast<std::int32_t>(field_value(field, bound));
  }
  return at_launch;
}

std::int64_t LaunchPlanner::workspace_bytes_of(const Bound& bound) const {
  const std::int64_t own_bytes = own_workspace_bytes_of(bound);
  const auto scratch = scratch_of(bound, own_bytes);
  return scratch.empty() ? own_bytes : scratch.back().offset + scratch.back().bytes;
}

std::vector<ScratchPlan> LaunchPlanner::scratch_of(const Bound& bound,
                                                   std::int64_t own_bytes) const {
  std::vector<ScratchPlan> result;
  std::int64_t end = own_bytes;
  for (const ScratchSpec& spec : kernel_template_.run_spec().scratch) {
    const LaunchEvaluator evaluator(
        [&] {
          return fmt::format("{}:{}: the scratch array {} (configuration \"{}\"; sizes {})",
                             kernel_template_.file(), spec.line, spec.name,
                             bound.config.canonical(), problem_.sizes_text());
        },
        bound.values);
    const auto slot = problem_.type(spec.type);
    ScratchPlan plan{spec.name, size_bytes(slot ? *slot : parse_dtype(spec.type).value())};
    for (const Expression& extent : spec.extents) {
      const std::int64_t length = evaluator.value("extent", extent, 0, kMost);
      if (length > 0 && plan.bytes > kMostScratchBytes / length) {
        evaluator.fail("the array has more than 2^48 bytes; make an extent smaller");
      }
      plan.bytes *= length;
    }
    plan.offset = (end + kScratchAlignment - 1) / kScratchAlignment * kScratchAlignment;
    end = plan.offset + plan.bytes;
    result.push_back(std::move(plan));
  }
  return result;
}

std::int64_t LaunchPlanner::own_workspace_bytes_of(const Bound& bound) const {
  const std::optional<Expression>& workspace = kernel_template_.workspace();
  if (!workspace) return 0;
  const LaunchEvaluator evaluator(
      [&] {
        return fmt::format("{}: workspace (configuration \"{}\"; sizes {})",
                           kernel_template_.file(), bound.config.canonical(),
                           problem_.sizes_text());
      },
      bound.values);
  return evaluator.value("workspace", *workspace, 0, kMost);
}

std::vector<NamedValue> LaunchPlanner::costs_of(const Bound& bound) const {
  const std::vector<CostLine>& lines = kernel_template_.cost_lines();
  std::vector<NamedValue> result;
  result.reserve(lines.size());
  std::vector<std::int64_t> values;
  values.reserve(bound.values.size() + lines.size());
  values.assign(bound.values.begin(), bound.values.end());
  for (const auto& cost : lines) {
    const LaunchEvaluator evaluator(
        [&] {
          return fmt::format("{}:{}: cost (configuration \"{}\"; sizes {})", cost.file, cost.line,
                             bound.config.canonical(), problem_.sizes_text());
        },
        values);
    if (cost.slot < 0) {
      result.push_back({cost.name, evaluator.value(cost.name, cost.value, 0, kMost)});
      continue;
    }
    const std::int64_t value = evaluator.value(cost.name, cost.value, kLeast, kMost);
    values.resize(static_cast<std::size_t>(cost.slot) + 1);
    values[static_cast<std::size_t>(cost.slot)] = value;
  }
  return result;
}

// Tunables were checked against their type when the file was read; lets can outgrow it.
std::int64_t LaunchPlanner::field_value(const ConfigField& field, const Bound& bound) const {
  const auto value = bound.values[static_cast<std::size_t>(field.slot)];
  const bool is_flag = field.type == "bool";
  const bool is_number = is_flag || field.type == "int";
  const bool fits = is_flag ? value == 0 || value == 1 || is_boolean_value(value)
                            : std::in_range<std::int32_t>(value) ||
                                  (!is_number && (is_named_value(value) || is_real_value(value)));
  if (!fits) {
    throw Error(ErrorKind::template_,
                fmt::format("{0}: {1} = {2} does not fit the type {3}; correct the expression of "
                            "{1}. The configuration is \"{4}\"",
                            kernel_template_.file(), field.name, value, is_flag ? "bool" : "int",
                            bound.config.canonical()));
  }
  return value;
}

std::string LaunchPlanner::launch_text(const LaunchSpec& launch, const Bound& bound) const {
  return fmt::format("{}:{}: launch of {} (configuration \"{}\"; sizes {})",
                     kernel_template_.file(), launch.line, launch.kernel, bound.config.canonical(),
                     problem_.sizes_text());
}

}  // namespace kiln
