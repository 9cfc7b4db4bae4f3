// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "templates/device_limits.hpp"
#include "templates/kernel_template.hpp"
#include "templates/launch/argument_plan.hpp"
#include "templates/launch/launch_plan.hpp"
#include "templates/operation/problem.hpp"
#include "templates/space/config.hpp"

namespace kiln {

/// Evaluates a template's launches, arguments, workspace and costs for one problem and device.
/// Every `config` must be valid there.
class LaunchPlanner {
 public:
  /// All must outlive it. It only keeps the references: making one is free.
  LaunchPlanner(const KernelTemplate& kernel_template, const Problem& problem,
                const DeviceLimits& limits)
      : kernel_template_(kernel_template), problem_(problem), limits_(limits) {}

  /// Geometry of every launch, with its values at launch; one that is left out keeps its place,
  /// with a grid of zeros, and one that repeats is there as often as it runs. Throws
  /// Error(template_) if a grid, block or shared-memory expression is undefined or out of CUDA's
  /// range, or all launches are left out.
  [[nodiscard]] std::vector<LaunchGeometry> geometry(const Config& config) const;
  /// What each launch gives its kernel: its arguments, then the launch struct if there is one.
  /// Empty for an operation without a reference, whose kernels get its one struct; a launch that is
  /// left out has no parameters. Throws Error(template_) if an argument is undefined or does not
  /// fit its type.
  [[nodiscard]] std::vector<ArgumentPlan> argument_plans(const Config& config) const;
  /// With the scratch arrays.
  [[nodiscard]] std::int64_t workspace_bytes(const Config& config) const;
  /// Of the `workspace` line only.
  [[nodiscard]] std::int64_t own_workspace_bytes(const Config& config) const;
  /// Throws Error(template_) if an extent is undefined or negative.
  [[nodiscard]] std::vector<ScratchPlan> scratch(const Config& config) const;
  /// Every stated cost of a block of the launch that does the work, in the order of the front
  /// matter; empty if the template states none. Throws Error(template_) if one is undefined or
  /// negative.
  [[nodiscard]] std::vector<NamedValue> costs(const Config& config) const;
  /// Geometry, workspace and costs together, in the time of one; throws what they throw, costs
  /// first. `bindings`: what the space of that problem and device says of the configuration
  /// (ParamSpace::bindings), where it was asked before, which takes half of the time.
  [[nodiscard]] LaunchPlan plan(const Config& config, std::span<const std::int64_t> bindings = {},
                                LaunchDetail detail = LaunchDetail::arguments) const;
  /// The fields of the config struct, or the macros, with their values, in the order of
  /// declaration: the part of a configuration that is compiled in.
  /// Throws Error(usage) for an invalid `config`, Error(template_) for a value that is not an int.
  [[nodiscard]] std::vector<NamedValue> config_fields(const Config& config) const;

 private:
  // A candidate, with the values of all names by slot.
  struct Bound {
    const Config& config;
    std::span<const std::int64_t> values;
  };
  [[nodiscard]] std::vector<std::int64_t> bind(const Config& config) const;
  /// A launch of the template, and which of its repetitions.
  struct Instance {
    std::size_t launch = 0;
    std::int64_t index = 0, count = 1;
  };
  /// In the order in which they run; or of launches that repeat only the first repetition.
  [[nodiscard]] std::vector<Instance> instances(const Bound& bound, bool all) const;
  /// How often the group of launches that begins at this one runs.
  [[nodiscard]] std::int64_t times(std::size_t launch, const Bound& bound) const;
  /// The values of an instance's expressions, in `own` if they are not the bound ones.
  [[nodiscard]] std::span<const std::int64_t> values_of(const Instance& instance,
                                                        const Bound& bound,
                                                        std::vector<std::int64_t>& own) const;
  [[nodiscard]] LaunchGeometry launch_geometry(const LaunchSpec& launch, const Bound& bound,
                                               LaunchDetail detail) const;
  [[nodiscard]] std::vector<LaunchGeometry> geometry_of(const Bound& bound, LaunchDetail detail,
                                                        bool all) const;
  [[nodiscard]] std::vector<ScratchPlan> scratch_of(const Bound& bound,
                                                    std::int64_t own_bytes) const;
  [[nodiscard]] LaunchValues values_at_launch(const Bound& bound) const;
  [[nodiscard]] std::int64_t workspace_bytes_of(const Bound& bound) const;
  [[nodiscard]] std::int64_t own_workspace_bytes_of(const Bound& bound) const;
  [[nodiscard]] std::vector<NamedValue> costs_of(const Bound& bound) const;
  [[nodiscard]] std::int64_t field_value(const ConfigField& field, const Bound& bound) const;
  [[nodiscard]] std::string launch_text(const LaunchSpec& launch, const Bound& bound) const;

  const KernelTemplate& kernel_template_;
  const Problem& problem_;
  const DeviceLimits& limits_;
};

}  // namespace kiln
