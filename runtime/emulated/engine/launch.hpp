// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/emulated/decode/report.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/observer.hpp"

namespace kiln::emulated {

struct LaunchOptions {
  int host_threads = 0;     ///< 0: one per processor
  double timeout_s = 60.0;  ///< of the whole launch
  /// Ends the launch, too, once its warps have executed that many; 0: none.
  std::uint64_t instruction_limit = 0;
  /// Makes what watches one cluster; null: nothing does.
  std::function<std::unique_ptr<Observer>()> make_observer;
  /// The first blocks of the clusters to run; empty: all of the grid.
  std::vector<Extent> clusters;
};

struct LaunchResult {
  std::optional<Report> fault;     ///< what ended the launch, if anything did
  std::vector<Report> reports;     ///< other findings, each place (of a race: each pair) once
  std::uint64_t instructions = 0;  ///< executed by warps
};

/// The first blocks of `count` clusters of the launch that lie spread evenly over its grid, in the
/// order in which a GPU begins them. None, which LaunchOptions take for all: for 0, when there are
/// no more, and for a launch that run_grid() refuses.
[[nodiscard]] std::vector<Extent> spread_clusters(const LaunchState& state, int count);

/// The first block of a cluster by its number, in that order.
[[nodiscard]] Extent cluster_place(const LaunchState& state, std::uint64_t index);

/// The first blocks of up to `count` clusters that a multiprocessor runs together: the one in the
/// middle of the grid, and others as far apart as there are multiprocessors. None for a launch that
/// run_grid() refuses.
[[nodiscard]] std::vector<Extent> clusters_together(const LaunchState& state, std::uint64_t count);

/// The cluster that a kernel with a .reqnctapercluster states.
[[nodiscard]] Extent required_cluster(const Program& program);

/// Runs a grid on the host's processors and waits for it. `state.report` is set here. Throws
/// Error(device) for parameters of the wrong size. A launch that a GPU would refuse for its shape
/// (more threads than the kernel allows, another cluster than it states), or that needs too much of
/// the host's memory, is a fault of kind invalid_operand. How much shared memory there may be is
/// for the caller to check.
[[nodiscard]] LaunchResult run_grid(LaunchState state, const LaunchOptions& options);

}  // namespace kiln::emulated
