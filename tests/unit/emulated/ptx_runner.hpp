// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/check/checker.hpp"
#include "runtime/emulated/device/emulated_module.hpp"
#include "runtime/emulated/engine/launch.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/model/facts.hpp"
#include "runtime/emulated/model/trace.hpp"
#include "templates/device_limits.hpp"
#include "tests/unit/emulated/refused_statement.hpp"

namespace kiln::emulated::test {

/// PTX around the body of a kernel `k` with parameters p0, p1, ... of 64 bits.
inline std::string kernel_text(std::string_view body, int parameters,
                               std::string_view before = "") {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n";
  text += std::string(before) + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(".param .u64 p") + std::to_string(i);
  }
  return text + ")\n{\n" + std::string(body) + "\n}\n";
}

/// The blocks of a launch that its multiprocessors, of compute capability 9.0, hold at once.
inline std::uint64_t resident_blocks(const LaunchState& state) {
  const auto threads = static_cast<int>(std::min<std::uint64_t>(state.block.count(), 1025));
  const Occupancy fit =
      occupancy(*limits_of_arch("sm_90a"), threads, 0,
                std::int64_t{state.dynamic_smem_bytes} + state.program->static_smem_bytes);
  return std::uint64_t{state.sm_count} * static_cast<unsigned>(fit.blocks_per_sm);
}

/// One kernel on an emulated GPU, with checks on unless told otherwise.
class PtxRunner {
 public:
  explicit PtxRunner(const std::string& text, const std::string& name = "k", bool checks = true)
      : checks_(checks), module_(text, {name}, memory_) {}

  template <class T>
  std::uint64_t buffer(const std::vector<T>& values) {
    const Allocation& at = raw_buffer(values.size() * sizeof(T));
    std::memcpy(at.host(at.address), values.data(), values.size() * sizeof(T));
    std::memset(at.written.get(), 1, values.size() * sizeof(T));
    return at.address;
  }
  /// Uninitialised memory.
  std::uint64_t fresh_buffer(std::size_t bytes) { return raw_buffer(bytes).address; }

  template <class T>
  std::vector<T> read(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    const Allocation* at = memory_.find(address);
    std::memcpy(values.data(), at->host(address), count * sizeof(T));
    return values;
  }

  template <class... Arguments>
  LaunchResult launch(Extent grid, Extent block, Arguments... arguments) {
    return launch_with(grid, block, parameters_of(arguments...));
  }
  /// The same with parameters of any types, as they lie in memory.
  LaunchResult launch_with(Extent grid, Extent block, std::vector<std::byte> parameters) {
    LaunchOptions options = launch_options();
    if (allows(allowed, Allowed::race_same_value)) options.host_threads = 1;
    const auto shadow = std::make_shared<GlobalShadow>();
    if (checks_) options.make_observer = [shadow] { return std::make_unique<Checker>(shadow); };
    return run_grid(state_of(grid, block, std::move(parameters)), options);
  }

  template <class... Arguments>
  FactSheet facts(Extent grid, Extent block, Arguments... arguments) {
    LaunchState state = state_of(grid, block, parameters_of(arguments...));
    FactCollector collector(state.program);
    LaunchOptions options = launch_options();
    options.make_observer = [&collector] { return collector.watch(); };
    const LaunchResult result = run_grid(std::move(state), options);
    EXPECT_FALSE(result.fault) << result.fault->describe();
    return collector.take();
  }

  /// What the first blocks of all clusters read in common.
  template <class... Arguments>
  ReadSharing sharing(Extent grid, Extent block, Arguments... arguments) {
    SharedReads reads;
    LaunchOptions options = launch_options();
    options.make_observer = [&reads] { return reads.watch(); };
    const LaunchResult result =
        run_grid(state_of(grid, block, parameters_of(arguments...)), options);
    EXPECT_FALSE(result.fault) << result.fault->describe();
    return reads.sharing();
  }

  /// launch(), expecting that nothing is found.
  template <class... Arguments>
  void launch_clean(Extent grid, Extent block, Arguments... arguments) {
    const LaunchResult result = launch(grid, block, arguments...);
    EXPECT_FALSE(result.fault) << result.fault->describe();
    for (const Report& report : result.reports) ADD_FAILURE() << report.describe();
  }

  Extent cluster{1, 1, 1};
  std::uint32_t smem_bytes = 0;
  bool overlaps = false;     ///< with the launch before
  std::uint8_t allowed = 0;  ///< what checks may find
  std::uint32_t sm_count = LaunchState{}.sm_count;
  int host_threads = 1;      ///< of the machine that emulates
  double timeout_s = 120.0;  ///< so that sanitizers may take their time

 private:
  [[nodiscard]] LaunchOptions launch_options() const {
    LaunchOptions options;
    options.host_threads = host_threads;
    options.timeout_s = timeout_s;
    return options;
  }
  LaunchState state_of(Extent grid, Extent block, std::vector<std::byte> parameters) {
    LaunchState state;
    state.program =
        *static_cast<const std::shared_ptr<const Program>*>(module_.functions().front().handle);
    state.memory = &memory_;
    state.grid = grid;
    state.block = block;
    state.cluster = cluster;
    state.dynamic_smem_bytes = smem_bytes;
    state.overlaps = overlaps;
    state.allowed = allowed;
    state.sm_count = sm_count;
    state.parameters = std::move(parameters);
    state.resident_blocks = resident_blocks(state);
    return state;
  }
  const Allocation& raw_buffer(std::size_t bytes) {
    return memory_.allocate(static_cast<std::int64_t>(bytes));
  }
  template <class... Arguments>
  static std::vector<std::byte> parameters_of(Arguments... arguments) {
    const std::array<std::uint64_t, sizeof...(arguments)> words{
        static_cast<std::uint64_t>(arguments)...};
    std::vector<std::byte> bytes(words.size() * sizeof(std::uint64_t));
    if constexpr (sizeof...(arguments) != 0) std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
  }

  bool checks_;
  GlobalMemory memory_{std::int64_t{1} << 30};
  EmulatedModule module_;
};

/// Expects that a text is refused because of one of its statements.
inline void expect_refused(const std::string& text, std::string_view statement) {
  std::string message;
  try {
    const PtxRunner run(text);
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_TRUE(is_about(message, text, statement));
}

/// The kinds of everything that a launch found, the fault first.
inline std::vector<Finding> findings(const LaunchResult& result) {
  std::vector<Finding> found;
  if (result.fault) found.push_back(result.fault->finding);
  for (const Report& report : result.reports) found.push_back(report.finding);
  return found;
}

/// Whether the first of these kinds was found, and nothing that is none of them.
inline ::testing::AssertionResult found_only(const LaunchResult& result,
                                             const std::vector<Finding>& kinds) {
  const auto all = findings(result);
  std::string others;
  for (const Finding finding : all) {
    if (std::find(kinds.begin(), kinds.end(), finding) != kinds.end()) continue;
    others += " " + std::string(name_of(finding));
  }
  if (!others.empty()) return ::testing::AssertionFailure() << "found" << others;
  if (std::find(all.begin(), all.end(), kinds.front()) == all.end()) {
    return ::testing::AssertionFailure() << "found no " << name_of(kinds.front());
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult found_only(const LaunchResult& result, Finding kind) {
  return found_only(result, std::vector<Finding>{kind});
}

}  // namespace kiln::emulated::test
