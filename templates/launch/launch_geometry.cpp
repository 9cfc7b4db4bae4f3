// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Launch geometry, arguments and costs of a template: expressions evaluated and checked against
// CUDA's limits.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kiln/error.hpp"
#include "templates/front_matter/allow_line.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/launch_evaluator.hpp"
#include "templates/launch/tensor_maps.hpp"
#include "templates/operation/operation.hpp"
#include "templates/text_pieces.hpp"

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

}  // namespace

std::string rounded_up_division(std::string_view text) {
  std::size_t slash = std::string_view::npos;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth > 0 || std::string_view("+-*/%<>=!&|?:,").find(text[i]) == std::string_view::npos) {
      continue;
    }
    if (text[i] != '/' || slash != std::string_view::npos) return {};
    slash = i;
  }
  if (slash == std::string_view::npos) return {};
  const auto side = [](std::string_view part) {
    part = trimmed(part);
    // "(n + 1)" needs no parentheses as an argument; "(a) * (b)" was refused above.
    const bool is_group = part.starts_with('(') && part.find(')') == part.size() - 1;
    return is_group ? part.substr(1, part.size() - 2) : part;
  };
  return fmt::format("ceil_div({}, {})", side(text.substr(0, slash)), side(text.substr(slash + 1)));
}

struct KernelTemplate::Bound {
  const Config& config;
  const Problem& problem;
  std::span<const std::int64_t> values;
};

std::vector<LaunchGeometry> KernelTemplate::geometry(const Config& config, const Problem& problem,
                                                     const DeviceLimits& limits) const {
  return geometry({config, problem, bind(config, problem, limits)}, limits,
                  LaunchDetail::arguments);
}

std::int64_t KernelTemplate::workspace_bytes(const Config& config, const Problem& problem,
                                             const DeviceLimits& limits) const {
  if (!workspace_) return 0;
  return workspace_bytes({config, problem, bind(config, problem, limits)});
}

std::vector<NamedValue> KernelTemplate::costs(const Config& config, const Problem& problem,
                                              const DeviceLimits& limits) const {
  if (costs_.empty()) return {};
  return costs({config, problem, bind(config, problem, limits)});
}

LaunchPlan KernelTemplate::plan(const Config& config, const Problem& problem,
                                const DeviceLimits& limits, std::span<const std::int64_t> bindings,
                                LaunchDetail detail) const {
  std::vector<std::int64_t> own;
  if (bindings.empty()) bindings = own = bind(config, problem, limits);
  const Bound bound{config, problem, bindings};
  LaunchPlan plan;
  plan.costs = costs(bound);
  plan.launches = geometry(bound, limits, detail);
  plan.workspace_bytes = workspace_bytes(bound);
  return plan;
}

std::vector<LaunchGeometry> KernelTemplate::geometry(const Bound& bound, const DeviceLimits& limits,
                                                     LaunchDetail detail) const {
  const Config& config = bound.config;
  const Problem& problem = bound.problem;
  const auto values = bound.values;
  const Operation& operation = *find_operation(operation_);
  LaunchValues at_launch;
  const bool has_arguments = detail == LaunchDetail::arguments;
  if (has_arguments && !operation.is_declared()) {
    for (const auto& field : launch_fields_) {
      at_launch.items[at_launch.count++] =
          static_cast<std::int32_t>(field_value(field, config, values));
    }
  }
  std::vector<LaunchGeometry> result;
  result.reserve(launches_.size());
  for (const auto& launch : launches_) {
    const LaunchEvaluator evaluator([&] { return launch_text(launch, bound); }, values);
    LaunchGeometry& geometry = result.emplace_back();
    geometry.values = at_launch;
    if (launch.when && evaluator.value("when", *launch.when, kLeast, kMost) == 0) {
      geometry.grid = {0, 0, 0};
      continue;
    }
    geometry.grid = evaluator.extent("grid", launch.grid, kMaxGrid);
    geometry.block = evaluator.extent("block", launch.block, kMaxBlock);
    geometry.cluster = evaluator.extent("cluster", launch.cluster, kMaxCluster);
    if (launch.smem) {
      geometry.smem_bytes =
          static_cast<std::uint32_t>(evaluator.value("smem", *launch.smem, 0, limits.smem_optin));
    }
    geometry.overlaps = limits.sm >= kFirstOverlapSm && launch.overlap &&
                        evaluator.value("overlap", *launch.overlap, kLeast, kMost) != 0;
    geometry.allowed = allowed_mask(launch.allowances);
    geometry.cooperative = launch.cooperative &&
                           evaluator.value("cooperative", *launch.cooperative, kLeast, kMost) != 0;
    if (geometry.cooperative && geometry.overlaps) {
      evaluator.fail(
          "a cooperative launch needs all of its blocks resident at once, so it cannot overlap "
          "with the previous launch; let \"overlap\" be 0 where \"cooperative\" is not");
    }
    // Each dimension is in range; the product need not be.
    if (std::cmp_greater(count_of(geometry.block), limits.max_threads)) {
      evaluator.fail(fmt::format("a block of {} threads exceeds {}", count_of(geometry.block),
                                 limits.max_threads));
    }
    const auto cluster_blocks = count_of(geometry.cluster);
    if (cluster_blocks > kMaxClusterBlocks) {
      evaluator.fail(
          fmt::format("a cluster of {} blocks exceeds {}", cluster_blocks, kMaxClusterBlocks));
    }
    if (cluster_blocks > 1) {
      if (limits.sm < kFirstClusterSm) {
        evaluator.fail(fmt::format("clusters need sm >= {}", kFirstClusterSm));
      }
      for (std::size_t i = 0; i < 3; ++i) {
        if (geometry.grid[i] % geometry.cluster[i] != 0) {
          evaluator.fail(fmt::format("grid.{} = {} is not a multiple of the cluster's {}", "xyz"[i],
                                     geometry.grid[i], geometry.cluster[i]));
        }
      }
    }
    if (!has_arguments) continue;
    for (const auto& map : launch.maps) {
      geometry.maps.items[geometry.maps.count++] =
          plan_tensor_map(map, operation, problem, [&](const Expression& expression) {
            return evaluator.value("map", expression, kLeast, kMost);
          });
    }
  }
  if (std::ranges::all_of(result, &LaunchGeometry::left_out)) {
    throw Error(ErrorKind::template_, fmt::format("{}: every launch is left out with \"{}\" for {}",
                                                  file_, config.canonical(), problem.sizes_text()));
  }
  return result;
}

std::vector<ArgumentPlan> KernelTemplate::argument_plans(const Config& config,
                                                         const Problem& problem,
                                                         const DeviceLimits& limits) const {
  if (!find_operation(operation_)->is_declared()) return {};
  const std::vector<std::int64_t> values = bind(config, problem, limits);
  const Bound bound{config, problem, values};
  std::vector<ArgumentPlan> plans;
  for (const LaunchSpec& launch : launches_) {
    const LaunchEvaluator evaluator([&] { return launch_text(launch, bound); }, bound.values);
    if (launch.when && evaluator.value("when", *launch.when, kLeast, kMost) == 0) {
      plans.emplace_back();
      continue;
    }
    plans.push_back(plan_arguments(
        launch.args,
        [&](const Expression& value) { return evaluator.value("argument", value, kLeast, kMost); },
        [&](const std::string& why) { evaluator.fail(why); }));
  }
  return plans;
}

std::vector<ConstantFill> KernelTemplate::constant_fills(const Problem& problem) const {
  return kiln::constant_fills(constants_, file_, *find_operation(operation_), problem);
}

std::string KernelTemplate::launch_place(std::size_t index) const {
  return fmt::format("{}:{}: launch of {}", file_, launches_[index].line, launches_[index].kernel);
}

std::string KernelTemplate::launch_text(const LaunchSpec& launch, const Bound& bound) const {
  return fmt::format("{}:{}: launch of {} with \"{}\" for {}", file_, launch.line, launch.kernel,
                     bound.config.canonical(), bound.problem.sizes_text());
}

std::int64_t KernelTemplate::workspace_bytes(const Bound& bound) const {
  if (!workspace_) return 0;
  const LaunchEvaluator evaluator(
      [&] {
        return fmt::format("{}: workspace with \"{}\" for {}", file_, bound.config.canonical(),
                           bound.problem.sizes_text());
      },
      bound.values);
  return evaluator.value("workspace", *workspace_, 0, kMost);
}

std::vector<NamedValue> KernelTemplate::costs(const Bound& bound) const {
  std::vector<NamedValue> result;
  result.reserve(costs_.size());
  std::vector<std::int64_t> values;
  values.reserve(bound.values.size() + costs_.size());
  values.assign(bound.values.begin(), bound.values.end());
  for (const auto& cost : costs_) {
    const LaunchEvaluator evaluator(
        [&] {
          return fmt::format("{}:{}: cost with \"{}\" for {}", cost.file, cost.line,
                             bound.config.canonical(), bound.problem.sizes_text());
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

}  // namespace kiln
