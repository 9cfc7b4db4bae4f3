// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/device.hpp"
#include "templates/kernels/common/verify_args.cuh"
#include "tuner/evaluator.hpp"
#include "tuner/measure/device_buffer.hpp"

namespace kiln {

/// The device side of verification (templates/kernels/support/verify.cu), as functions. Everything
/// is enqueued on the device's own stream; methods that return a result wait for it. A failure of
/// these kernels is the environment's fault: Error(device).
class SupportKernels {
 public:
  SupportKernels(MemoryLedger& ledger, const CompiledUnit& unit);

  void fill_random(const FillArgs& args);
  void absolute(const AbsoluteArgs& args);
  void convert(const ConvertArgs& args);
  void copy(DevicePtr to, DevicePtr from, std::int64_t bytes);
  /// `args.result` is filled here.
  [[nodiscard]] CompareResult compare(CompareArgs args);

  /// Counts are collected, so that many checks cost one wait. `result` of the arguments is filled
  /// here; the answers of take_counts() come in the order of the calls since the last one.
  void count_mismatch(MismatchArgs args);
  void count_difference(DifferenceArgs args);
  [[nodiscard]] std::vector<CountResult> take_counts();

 private:
  static constexpr int kMaxCounts = 64;
  [[nodiscard]] DeviceFunction find(const CompiledUnit& unit, std::string_view name) const;
  void launch(DeviceFunction function, std::int64_t elements, const void* arguments);
  [[nodiscard]] CountResult* next_count();
  void fetch_counts();
  void wait();

  Device& device_;
  std::unique_ptr<LoadedModule> module_;
  DeviceBuffer results_;
  DeviceFunction fill_, absolute_, convert_, compare_, compare_detail_, mismatch_, difference_;
  int pending_counts_ = 0;           ///< on the device
  std::vector<CountResult> counts_;  ///< fetched before the others, for lack of room there
};

}  // namespace kiln
