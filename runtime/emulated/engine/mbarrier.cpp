// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/mbarrier.hpp"

#include <fmt/format.h>

#include <utility>

#include "runtime/emulated/decode/access.hpp"

namespace kiln::emulated {

std::string Mbarrier::arrive(std::uint32_t count, bool drop, bool completes) {
  if (count == 0 || count > kMost) {
    return fmt::format("arrives {} times at once; this count must be from 1 to {}", count, kMost);
  }
  if (count > pending_) {
    return fmt::format("arrives {} times, but the mbarrier expects fewer arrivals: {}", count,
                       text());
  }
  if (drop && count > expected_) {
    return fmt::format(
        "lowers the number of expected arrivals by {}, but the mbarrier expects only {}", count,
        expected_);
  }
  if (!completes && count == pending_ && bytes_ == 0) {
    return "completes the phase, but .noComplete forbids this";
  }
  if (drop) expected_ -= count;
  pending_ -= count;
  settle();
  return {};
}

std::string Mbarrier::expect_arrival() {
  if (pending_ == kMost) return "needs more arrivals than an mbarrier can count";
  ++pending_;
  return {};
}

std::string Mbarrier::expect_bytes(std::uint32_t bytes) {
  const std::int64_t sum = std::int64_t{bytes_} + bytes;
  if (sum > kMost) {
    return fmt::format("expects {} bytes in one phase, but an mbarrier can count at most {} bytes",
                       sum, kMost);
  }
  bytes_ = static_cast<std::int32_t>(sum);
  settle();
  return {};
}

std::string Mbarrier::complete_bytes(std::uint32_t bytes) {
  const std::int64_t sum = std::int64_t{bytes_} - bytes;
  if (sum < -std::int64_t{kMost}) {
    return fmt::format(
        "lowers the tx-count of the mbarrier to {}, but the lowest possible tx-count is {}", sum,
        -std::int64_t{kMost});
  }
  bytes_ = static_cast<std::int32_t>(sum);
  settle();
  return {};
}

void Mbarrier::settle() {
  if (pending_ != 0 || bytes_ != 0) return;
  pending_ = expected_;
  ++phase_;
}

std::string Mbarrier::text() const {
  const auto bytes = bytes_ < 0
                         ? fmt::format("has received {} bytes too many", -std::int64_t{bytes_})
                         : fmt::format("{} bytes", bytes_);
  return fmt::format("phase {} (parity {}) still needs {} of {} arrivals and {}", phase_, parity(),
                     pending_, expected_, bytes);
}

Mbarrier* MbarrierTable::find(std::uint32_t offset) {
  const auto at = barriers_.find(offset);
  return at == barriers_.end() ? nullptr : &at->second;
}

void MbarrierTable::init(std::uint32_t offset, std::uint32_t count) {
  barriers_.insert_or_assign(offset, Mbarrier(count));
}

void MbarrierTable::note_wait(int warp, LaneMask lanes, std::uint32_t offset,
                              std::uint32_t parity) {
  for (const Waiter& waiter : waiters_) {
    if (waiter.warp == warp && waiter.lanes == lanes && waiter.offset == offset &&
        waiter.parity == parity) {
      return;
    }
  }
  forget_wait(warp, lanes);
  waiters_.push_back({warp, lanes, offset, parity});
}

void MbarrierTable::forget_wait(int warp, LaneMask lanes) {
  for (Waiter& waiter : waiters_) {
    if (waiter.warp == warp) waiter.lanes &= ~lanes;
  }
  std::erase_if(waiters_, [](const Waiter& waiter) { return waiter.lanes == 0; });
}

std::string MbarrierTable::waiting_text() const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> warps;
  for (const Waiter& waiter : waiters_) {
    std::string& text = warps[{waiter.offset, waiter.parity}];
    text += fmt::format("{}{}", text.empty() ? "warp " : ", ", waiter.warp);
  }
  std::string text;
  for (const auto& [what, who] : warps) {
    const auto at = barriers_.find(what.first);
    text += fmt::format(
        "{}{} wait for parity {} of the mbarrier at offset {}, {}", text.empty() ? "" : "; ", who,
        what.second, what.first - kSharedBase,
        at == barriers_.end() ? "which mbarrier.inval has removed" : "whose " + at->second.text());
  }
  return text;
}

}  // namespace kiln::emulated
