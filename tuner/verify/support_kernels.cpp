// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/support_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// The comparison's result follows the counts.
constexpr std::int64_t kCompareOffset = 64 * static_cast<std::int64_t>(sizeof(CountResult));

[[noreturn]] void throw_support_failure(const std::string& what) {
  throw Error(ErrorKind::device,
              fmt::format("the verification kernels do not run on this device: {}", what));
}

}  // namespace

SupportKernels::SupportKernels(MemoryLedger& ledger, const CompiledUnit& unit)
    : device_(ledger.device()) {
  static_assert(kMaxCounts * sizeof(CountResult) == kCompareOffset);
  DeviceStatus status;
  module_ = device_.load(unit.cubin, unit.names, status);
  if (!module_) throw_support_failure(status.message);
  results_ = DeviceBuffer(ledger, kCompareOffset + static_cast<std::int64_t>(sizeof(CompareResult)),
                          "verification results");
  fill_ = find(unit, "kiln_fill_random");
  absolute_ = find(unit, "kiln_absolute");
  convert_ = find(unit, "kiln_convert");
  compare_ = find(unit, "kiln_compare");
  compare_detail_ = find(unit, "kiln_compare_detail");
  mismatch_ = find(unit, "kiln_count_mismatch");
  difference_ = find(unit, "kiln_count_difference");
}

DeviceFunction SupportKernels::find(const CompiledUnit& unit, std::string_view name) const {
  const auto it = std::find(unit.names.begin(), unit.names.end(), name);
  if (it == unit.names.end()) {
    throw Error(
        ErrorKind::internal,
        fmt::format(
            "the compiled file verify.cu lacks the kernel {}; please report this bug in Kiln",
            name));
  }
  return module_->functions()[static_cast<std::size_t>(it - unit.names.begin())];
}

void SupportKernels::launch(DeviceFunction function, std::int64_t elements, const void* arguments) {
  constexpr std::int64_t kBlock = 256;
  // Grid-stride kernels: enough blocks to fill the device, no more.
  const std::int64_t most = 16LL * std::max(1, device_.info().limits.sm_count);
  const std::int64_t blocks = std::clamp<std::int64_t>((elements + kBlock - 1) / kBlock, 1, most);
  LaunchRequest request;
  request.function = function;
  request.geometry.grid[0] = static_cast<std::uint32_t>(blocks);
  request.geometry.block[0] = static_cast<std::uint32_t>(kBlock);
  request.arguments = arguments;
  request.checked = false;
  const DeviceStatus status = device_.launch(request, device_.own_stream());
  if (!status.ok()) throw_support_failure(status.message);
}

void SupportKernels::wait() {
  const DeviceStatus status = device_.synchronize();
  if (!status.ok()) throw_support_failure(status.message);
}

void SupportKernels::fill_random(const FillArgs& args) {
  launch(fill_, args.rows * args.ld, &args);
}

void SupportKernels::absolute(const AbsoluteArgs& args) {
  launch(absolute_, args.rows * args.cols, &args);
}

void SupportKernels::convert(const ConvertArgs& args) {
  launch(convert_, args.rows * args.cols, &args);
}

void SupportKernels::copy(DevicePtr to, DevicePtr from, std::int64_t bytes) {
  const DeviceStatus status = device_.copy_on_device(to, from, bytes, device_.own_stream());
  if (!status.ok()) throw_support_failure(status.message);
}

CompareResult SupportKernels::compare(CompareArgs args) {
  CompareResult result;
  const DevicePtr place = results_.address() + kCompareOffset;
  device_.copy_to_device(place, &result, sizeof(result));
  args.result = reinterpret_cast<CompareResult*>(place);
  launch(compare_, args.rows * args.cols, &args);
  launch(compare_detail_, 1, &args);
  wait();
  device_.copy_to_host(&result, place, sizeof(result));
  return result;
}

CountResult* SupportKernels::next_count() {
  if (pending_counts_ == kMaxCounts) fetch_counts();
  if (pending_counts_ == 0) {
    const std::array<CountResult, kMaxCounts> zeros{};
    device_.copy_to_device(results_.address(), zeros.data(), sizeof(zeros));
  }
  return reinterpret_cast<CountResult*>(results_.address()) + pending_counts_++;
}

void SupportKernels::count_mismatch(MismatchArgs args) {
  args.result = next_count();
  launch(mismatch_, args.rows * (args.end - args.begin), &args);
}

void SupportKernels::count_difference(DifferenceArgs args) {
  args.result = next_count();
  launch(difference_, args.rows * args.cols, &args);
}

void SupportKernels::fetch_counts() {
  if (pending_counts_ == 0) return;
  wait();
  const std::size_t before = counts_.size();
  const auto fresh = static_cast<std::size_t>(pending_counts_);
  counts_.resize(before + fresh);
  device_.copy_to_host(&counts_[before], results_.address(),
                       static_cast<std::int64_t>(fresh * sizeof(CountResult)));
  pending_counts_ = 0;
}

std::vector<CountResult> SupportKernels::take_counts() {
  fetch_counts();
  return std::exchange(counts_, {});
}

}  // namespace kiln
