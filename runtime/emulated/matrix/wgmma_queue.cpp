// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/wgmma_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/async/async_memory.hpp"

namespace kiln::emulated {
namespace {

/// The upper half of a mark: a signalling NaN as an f32 and, for pairs, in the upper f16.
/// Arithmetic makes a quiet one of it, which is no mark.
constexpr std::uint32_t kMark = 0x7FB50000U;
constexpr std::uint32_t kMarks = 1U << 16U;

bool is_mark(std::uint32_t word) {
  return (word & 0xFFFF0000U) == kMark;
}

/// Chains that are remembered to see their registers changed without a fence.
constexpr std::size_t kMostFinished = 8;
/// Operations that may be unfinished. They take at most 128 marks each, so that of the kMarks there
/// are always enough in a row for another.
constexpr std::size_t kMostOperations = 255;

const WgmmaDetail& detail_of(const Instr& instr) {
  return *static_cast<const WgmmaDetail*>(instr.detail);
}

std::uint32_t marks_of(const FragmentLayout& layout) {
  return static_cast<std::uint32_t>(layout.registers);
}

/// Lanes whose word is another than `word`.
LaneMask other_than(const std::byte* row, std::uint32_t word) {
  std::uint32_t words[kLanes];
  std::memcpy(words, row, sizeof words);
  std::uint32_t any = 0;
  for (const std::uint32_t at : words) any |= at ^ word;
  if (any == 0) return 0;
  LaneMask lanes = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (words[lane] != word) lanes |= LaneMask{1} << lane;
  }
  return lanes;
}

/// Ones that both have, of rows of bytes.
void multiply_bits(int n, int k, const std::int32_t* a, const std::int32_t* b, std::int32_t* d) {
  for (int row = 0; row < kWgmmaRows; ++row) {
    for (int i = 0; i < k; ++i) {
      const auto left = static_cast<std::uint32_t>(a[row * k + i]);
      if (left == 0) continue;
      for (int col = 0; col < n; ++col) {
        d[row * n + col] += std::popcount(left & static_cast<std::uint32_t>(b[i * n + col]));
      }
    }
  }
}

WgmmaTile tile_of_a(const WgmmaDetail& detail, std::uint64_t descriptor, int warp) {
  return {descriptor, detail.a_type, warp % 4 * kWgmmaRows, kWgmmaRows, !detail.a_along_m};
}

WgmmaTile tile_of_b(const WgmmaDetail& detail, std::uint64_t descriptor) {
  return {descriptor, detail.b_type, 0, detail.n, !detail.b_along_n};
}

}  // namespace

void WgmmaQueue::fence() {
  fenced_ = true;
  finished_.clear();
}

void WgmmaQueue::start(const Instr& instr) {
  if (operations_.size() == kMostOperations) {
    finish(operations_.front());
    operations_.erase(operations_.begin());
  }
  const WgmmaDetail& detail = detail_of(instr);
  check_fence(instr, detail);
  Operation operation;
  operation.instr = &instr;
  operation.group = group_;
  operation.accumulates = (warp_.predicate(instr.c) & 1U) != 0;
  operation.b = get<std::uint64_t>(warp_.row(instr.b), 0);
  if (detail.a_layout == nullptr) {
    operation.a = get<std::uint64_t>(warp_.row(instr.a), 0);
  } else {
    const std::uint32_t* const rows = instr.rows + detail.d_layout->registers;
    const std::uint32_t* const end = rows + detail.a_layout->registers;
    if (unfinished() &&
        std::any_of(rows, end, [&](auto row) { return is_unfinished(row, kAllLanes); })) {
      warp_.report(instr, kAllLanes, Finding::missing_wait,
                   "reads matrix A from the accumulator of a pending wgmma. "
                   "Wait for the pending wgmma first");
    }
    const std::size_t count = std::size_t{kWgmmaRows} * static_cast<std::size_t>(detail.k);
    if (is_float(detail.a_type)) {
      operation.a_real.resize(count);
      gather_matrix(warp_, rows, *detail.a_layout, detail.a_type, operation.a_real.data());
    } else {
      operation.a_whole.resize(count);
      gather_matrix(warp_, rows, *detail.a_layout, detail.a_type, operation.a_whole.data());
    }
  }
  operation.chain = chain_of(instr, detail);
  operation.chain->rows = instr.rows;
  ++operation.chain->unfinished;
  begin_reads(operation, detail);
  operations_.push_back(std::move(operation));
}

void WgmmaQueue::check_fence(const Instr& instr, const WgmmaDetail& detail) {
  if (!fenced_) {
    warp_.report(
        instr, warp_.live(), Finding::missing_fence,
        "needs a preceding wgmma.fence. Without this fence, the wgmma may start while earlier "
        "instructions still access its registers");
    fenced_ = true;
  }
  // Chains whose registers this one takes over are looked at once.
  std::erase_if(finished_, [&](const Chain& chain) {
    if (chain.layout != detail.d_layout ||
        !std::equal(instr.rows, instr.rows + chain.layout->registers, chain.rows)) {
      return false;
    }
    std::vector<float> real(chain.real.size());
    std::vector<std::int32_t> whole(chain.whole.size());
    if (!real.empty()) {
      gather_matrix(warp_, instr.rows, *chain.layout, chain.type, real.data());
    } else {
      gather_matrix(warp_, instr.rows, *chain.layout, chain.type, whole.data());
    }
    const bool same = whole == chain.whole &&
                      std::memcmp(real.data(), chain.real.data(), real.size() * sizeof(float)) == 0;
    if (!same) {
      warp_.report(instr, warp_.live(), Finding::missing_fence,
                   "uses accumulators that another instruction changed after the last wgmma.fence");
    }
    return true;
  });
}

bool WgmmaQueue::holds_mark(std::uint32_t row, LaneMask lanes) const {
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto word = get<std::uint32_t>(warp_.row(row), std::countr_zero(left));
    if (!is_mark(word)) continue;
    const std::uint32_t id = word & ~kMark;
    const bool ours = std::any_of(operations_.begin(), operations_.end(), [&](const auto& at) {
      return id - at.chain->first_mark < marks_of(*at.chain->layout);
    });
    if (ours) return true;
  }
  return false;
}

std::shared_ptr<WgmmaQueue::Chain> WgmmaQueue::chain_of(const Instr& instr,
                                                        const WgmmaDetail& detail) {
  const FragmentLayout& layout = *detail.d_layout;
  const std::uint32_t registers = marks_of(layout);
  const auto holds = [&](const Chain& chain) {
    for (std::uint32_t r = 0; r < registers; ++r) {
      if (other_than(warp_.row(instr.rows[r]), kMark | (chain.first_mark + r)) != 0) return false;
    }
    return true;
  };
  for (const Operation& operation : operations_) {
    const Chain& chain = *operation.chain;
    if (chain.layout == &layout && chain.type == detail.d_type && holds(chain)) {
      return operation.chain;
    }
  }
  for (std::uint32_t r = 0; unfinished() && r < registers; ++r) {
    if (!holds_mark(instr.rows[r], kAllLanes)) continue;
    warp_.report(instr, kAllLanes, Finding::missing_wait,
                 "uses accumulators of a pending wgmma, but with another shape, type or register "
                 "order. Wait for the pending wgmma first");
    break;
  }
  auto chain = std::make_shared<Chain>();
  chain->layout = &layout;
  chain->type = detail.d_type;
  const std::size_t count = std::size_t{kWgmmaRows} * static_cast<std::size_t>(detail.n);
  if (is_float(detail.d_type)) {
    chain->real.resize(count);
    gather_matrix(warp_, instr.rows, layout, detail.d_type, chain->real.data());
  } else {
    chain->whole.resize(count);
    gather_matrix(warp_, instr.rows, layout, detail.d_type, chain->whole.data());
  }
  const auto taken = [&](const Operation& at) {
    return at.chain->first_mark < chain->first_mark + registers &&
           chain->first_mark < at.chain->first_mark + marks_of(*at.chain->layout);
  };
  do {
    if (next_mark_ + registers > kMarks) next_mark_ = 0;
    chain->first_mark = std::exchange(next_mark_, next_mark_ + registers);
  } while (std::any_of(operations_.begin(), operations_.end(), taken));
  for (std::uint32_t r = 0; r < registers; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) {
      put(warp_.row(instr.rows[r]), lane, kMark | (chain->first_mark + r));
    }
  }
  return chain;
}

void WgmmaQueue::begin_reads(Operation& operation, const WgmmaDetail& detail) {
  Cluster& cluster = warp_.block().cluster();
  if (cluster.observer() == nullptr) return;
  const Instr& instr = *operation.instr;
  operation.token = cluster.new_tokens(1);
  cluster.observer()->async_issue(warp_, operation.token, 1);
  std::vector<SharedRun> runs;
  if (detail.a_layout == nullptr) {
    runs = tile_chunks(warp_, instr, tile_of_a(detail, operation.a, warp_.index()));
  }
  // All four warps read the same B; one of them stands for all.
  if (warp_.index() % 4 == 0) {
    const auto more = tile_chunks(warp_, instr, tile_of_b(detail, operation.b));
    runs.insert(runs.end(), more.begin(), more.end());
  }
  begin_async(warp_, instr, warp_.block(), std::move(runs), AccessKind::load, operation.token);
}

template <class Visit>
void WgmmaQueue::for_each_queue(Visit visit) {
  const auto& warps = warp_.block().warps();
  const std::size_t first = static_cast<std::size_t>(warp_.index()) / 4 * 4;
  for (std::size_t i = first; i < std::min(first + 4, warps.size()); ++i) visit(warps[i]->wgmma());
}

bool WgmmaQueue::is_committed(std::uint32_t groups) {
  bool all = true;
  for_each_queue([&](const WgmmaQueue& queue) { all = all && queue.group_ >= groups; });
  return all;
}

WgmmaQueue& WgmmaQueue::leader() {
  const std::size_t first = static_cast<std::size_t>(warp_.index()) / 4 * 4;
  return warp_.block().warps()[first]->wgmma();
}

std::uint64_t WgmmaQueue::object() {
  return reinterpret_cast<std::uintptr_t>(&leader());
}

void WgmmaQueue::note(const Instr& instr) {
  auto& sequence = leader().sequence_;
  if (sequence == nullptr) sequence = std::make_unique<WgmmaSequence>();
  sequence->execute(warp_, instr);
}

void WgmmaQueue::abandon() {
  const auto& sequence = leader().sequence_;
  if (sequence != nullptr) sequence->abandon(warp_);
}

void WgmmaQueue::abandon_group() {
  for_each_queue([](WgmmaQueue& queue) { queue.abandon(); });
}

void WgmmaQueue::commit() {
  ++group_;
  warp_.block().cluster().progress();
  for_each_queue([](WgmmaQueue& queue) {
    const Waiting waiting = queue.waiting_;
    if (waiting.instr == nullptr || !queue.is_committed(waiting.groups)) return;
    queue.waiting_ = {};
    queue.finish_wait(*waiting.instr, waiting.lanes, waiting.groups);
    queue.warp_.release(Warp::kGroupBarrier, {});
  });
}

void WgmmaQueue::wait(const Instr& instr, LaneMask active, std::uint32_t pending) {
  const std::uint32_t groups = group_ - std::min(group_, pending);
  if (is_committed(groups)) {
    finish_wait(instr, active, groups);
  } else {
    waiting_ = {&instr, active, groups};
    warp_.wait_at_barrier(Warp::kGroupBarrier, active);
  }
}

void WgmmaQueue::finish_wait(const Instr& instr, LaneMask active, std::uint32_t groups) {
  for_each_queue([&](WgmmaQueue& queue) { queue.finish_groups(groups); });
  Observer* const observer = warp_.block().cluster().observer();
  if (observer == nullptr) return;
  observer->synchronise(warp_, instr, object(), active, Order::acquire);
  observer->warp_sync(warp_, active);
}

void WgmmaQueue::finish_groups(std::uint32_t groups) {
  const auto end = std::find_if(operations_.begin(), operations_.end(),
                                [&](const Operation& at) { return at.group >= groups; });
  for (auto at = operations_.begin(); at != end; ++at) finish(*at);
  operations_.erase(operations_.begin(), end);
}

void WgmmaQueue::finish(const Operation& operation) {
  const WgmmaDetail& detail = detail_of(*operation.instr);
  Chain& chain = *operation.chain;
  if (is_float(detail.d_type)) {
    multiply(operation, detail, chain.real);
  } else {
    multiply(operation, detail, chain.whole);
  }
  Observer* const observer = warp_.block().cluster().observer();
  if (observer != nullptr) observer->async_end(operation.token, object());
  if (--chain.unfinished > 0) return;
  publish(operation, chain);
  if (finished_.size() == kMostFinished) finished_.erase(finished_.begin());
  finished_.push_back(std::move(chain));
}

template <class T>
void WgmmaQueue::multiply(const Operation& operation, const WgmmaDetail& detail,
                          std::vector<T>& sums) {
  const Instr& instr = *operation.instr;
  const std::vector<T>* given = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    given = &operation.a_real;
  } else {
    given = &operation.a_whole;
  }
  const T* a = given->data();
  if (detail.a_layout == nullptr) {
    a = read_tile<T>(warp_, instr, tile_of_a(detail, operation.a, warp_.index()), false);
  }
  const T* const b = read_tile<T>(warp_, instr, tile_of_b(detail, operation.b), true);
  if (!operation.accumulates) std::fill(sums.begin(), sums.end(), T{});
  if constexpr (std::is_same_v<T, float>) {
    std::vector<float> negative;
    if (detail.negates) {
      negative.resize(std::size_t{kWgmmaRows} * static_cast<std::size_t>(detail.k));
      std::transform(a, a + negative.size(), negative.begin(), [](float value) { return -value; });
      a = negative.data();
    }
    multiply_dense(kWgmmaRows, detail.n, detail.k, a, b, sums.data());
    drop_negative_zeros(sums.data(), static_cast<int>(sums.size()));
    if (detail.d_type == MatrixType::f16) {
      for (float& sum : sums) sum = f32_of_f16(f16_of_f32(sum));
    }
  } else {
    std::vector<std::int32_t> products(sums.size());
    if (detail.bits) {
      multiply_bits(detail.n, detail.k, a, b, products.data());
    } else {
      multiply_dense(kWgmmaRows, detail.n, detail.k, a, b, products.data());
    }
    add_integers(products.data(), sums.data(), sums.size(), detail.saturates);
  }
}

void WgmmaQueue::publish(const Operation& last, const Chain& chain) {
  const std::uint32_t registers = marks_of(*chain.layout);
  LaneMask changed = 0;
  for (std::uint32_t r = 0; r < registers; ++r) {
    changed |= other_than(warp_.row(chain.rows[r]), kMark | (chain.first_mark + r));
  }
  if (changed != 0) {
    warp_.report(*last.instr, changed, Finding::missing_wait,
                 "has accumulators that another instruction overwrote before wgmma.wait_group");
  }
  if (is_float(chain.type)) {
    scatter_matrix(warp_, chain.rows, *chain.layout, chain.type, chain.real.data());
  } else {
    scatter_matrix(warp_, chain.rows, *chain.layout, chain.type, chain.whole.data());
  }
  for (const std::uint32_t row : warp_.program().moved_rows) {
    std::byte* const words = warp_.row(row);
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto word = get<std::uint32_t>(words, lane);
      const std::uint32_t r = (word & ~kMark) - chain.first_mark;
      if (!is_mark(word) || r >= registers) continue;
      put(words, lane, get<std::uint32_t>(warp_.row(chain.rows[r]), lane));
    }
  }
}

bool WgmmaQueue::is_unfinished(std::uint32_t row, LaneMask lanes) const {
  const auto& moved = warp_.program().moved_rows;
  bool known = std::binary_search(moved.begin(), moved.end(), row);
  for (const Operation& at : operations_) {
    const std::uint32_t* const rows = at.chain->rows;
    known = known || std::find(rows, rows + at.chain->layout->registers, row) !=
                         rows + at.chain->layout->registers;
  }
  return known && holds_mark(row, lanes);
}

void WgmmaQueue::check_use(const Instr& instr, LaneMask active) const {
  const Traits& traits = warp_.program().traits[instr.index];
  const auto& moved = warp_.program().moved_rows;
  // Whole words may be moved to where they are found later; start() looks at wgmma's operands.
  const bool moves = traits.flow == Flow::moved;
  if (moves && instr.count == 0 && std::binary_search(moved.begin(), moved.end(), instr.d)) return;
  if (traits.by_warpgroup) return;
  const bool unpacks = moves && instr.d == kNoRow;  // into `rows`
  const auto check = [&](std::uint32_t row) {
    if (row == kNoRow || !is_unfinished(row, active)) return false;
    warp_.report(instr, active, Finding::missing_wait,
                 "uses the accumulator of a pending wgmma. Wait for the pending wgmma first");
    return true;
  };
  for (const std::uint32_t row : {instr.a, instr.b, instr.c, instr.e}) {
    if (check(row)) return;
  }
  const bool targets = traits.work == Work::branch;  // in `rows`
  for (std::uint32_t i = 0; i < instr.count && !unpacks && !targets; ++i) {
    if (check(instr.rows[i])) return;
  }
}

}  // namespace kiln::emulated
