// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/compile/constant_arrays.hpp"
#include "runtime/device.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/measure/device_buffer.hpp"
#include "tuner/verify/verifier.hpp"

namespace kiln {

/// The outcome that a device's status means for the candidate that caused it.
[[nodiscard]] Outcome outcome_of(const DeviceStatus& status);

/// An evaluation job on the device: loaded, prepared, with its workspace. Not movable: subject()
/// and its holders refer to it.
class LoadedCandidate {
 public:
  /// Check status() before anything else. The job must outlive this object.
  LoadedCandidate(MemoryLedger& ledger, const EvaluationJob& job);
  LoadedCandidate(const LoadedCandidate&) = delete;
  LoadedCandidate& operator=(const LoadedCandidate&) = delete;

  [[nodiscard]] const DeviceStatus& status() const { return status_; }
  /// Enqueues all launches of one run of case `index`.
  [[nodiscard]] DeviceStatus run(std::size_t index, const RunArguments& run, void* stream) const;
  /// What the verifier judges: every case that the configuration is valid for, the ragged ones
  /// first, because they are small and find most faults.
  [[nodiscard]] Subject subject();
  /// Address of the tuned case's workspace.
  [[nodiscard]] DevicePtr workspace() const;

 private:
  void reserve_workspaces(MemoryLedger& ledger);
  void reserve_scratch(MemoryLedger& ledger);
  [[nodiscard]] bool has_kernels(const std::vector<LaunchGeometry>& launches) const;
  /// `what`: "the workspace".
  [[nodiscard]] std::unique_ptr<GuardedBuffer> reserve(MemoryLedger& ledger, std::int64_t bytes,
                                                       const std::string& what);
  [[nodiscard]] GuardedBuffer* workspace_of(std::size_t index) const;
  [[nodiscard]] DeviceStatus load();

  Device& device_;
  const EvaluationJob& job_;
  std::unique_ptr<LoadedModule> module_;
  std::vector<std::vector<ConstantArray>> constants_;  ///< by case; empty: there are none
  /// One for all cases, or, on a device with exact memory, one for each (null: it needs none),
  /// which ends where that case's workspace ends.
  std::vector<std::unique_ptr<GuardedBuffer>> workspaces_;
  /// By case and array; null: it has no elements.
  std::vector<std::vector<std::unique_ptr<GuardedBuffer>>> scratch_;
  std::vector<std::vector<DevicePtr>> scratch_addresses_;
  DeviceStatus status_;
};

}  // namespace kiln
