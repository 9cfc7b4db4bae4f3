// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/facts.hpp"

#include <bit>
#include <utility>

#include "runtime/emulated/bank_conflicts.hpp"
#include "runtime/emulated/cluster.hpp"
#include "runtime/emulated/warp.hpp"

namespace kiln::emulated {
namespace {

class FactObserver : public Observer {
 public:
  FactObserver(FactCollector& collector, std::size_t instructions, std::unique_ptr<Observer> next)
      : collector_(collector), facts_(instructions), next_(std::move(next)) {}

  void begin(Cluster& cluster) override {
    for (const auto& block : cluster.blocks()) {
      ++blocks_;
      warps_ += block->warps().size();
    }
    if (next_) next_->begin(cluster);
  }
  void end(Cluster& cluster) override {
    collector_.add(facts_, blocks_, warps_);
    if (next_) next_->end(cluster);
  }
  void issue(Warp& warp, const Instr& instr, LaneMask active) override {
    InstructionFacts& facts = facts_[instr.index];
    ++facts.issues;
    facts.lanes += static_cast<std::uint64_t>(std::popcount(active));
    if (next_) next_->issue(warp, instr, active);
  }
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override {
    count(instr, access);
    if (next_) next_->access(warp, instr, access);
  }
  void async_begin(Warp& warp, const Instr& instr, Block& owner, std::uint32_t offset,
                   std::uint32_t bytes, AccessKind kind, std::uint64_t token) override {
    if (next_) next_->async_begin(warp, instr, owner, offset, bytes, kind, token);
  }
  void async_end(std::uint64_t token, std::uint64_t object) override {
    if (next_) next_->async_end(token, object);
  }
  void warp_sync(Warp& warp, LaneMask lanes) override {
    if (next_) next_->warp_sync(warp, lanes);
  }
  void barrier_arrive(Warp& warp, int barrier, LaneMask lanes) override {
    if (next_) next_->barrier_arrive(warp, barrier, lanes);
  }
  void barrier_open(Block& block, int barrier) override {
    if (next_) next_->barrier_open(block, barrier);
  }
  void barrier_pass(Warp& warp, int barrier) override {
    if (next_) next_->barrier_pass(warp, barrier);
  }
  void synchronise(Warp& warp, const Instr& instr, std::uint64_t object, LaneMask lanes,
                   Order order) override {
    if (next_) next_->synchronise(warp, instr, object, lanes, order);
  }
  void fence(Warp& warp, LaneMask lanes, Proxy proxy) override {
    if (next_) next_->fence(warp, lanes, proxy);
  }

 private:
  void count(const Instr& instr, const WarpAccess& access) {
    // Generic addresses say themselves where they lie; one lane speaks for all.
    const std::uint64_t first = access.address[std::countr_zero(access.lanes)];
    const bool shared =
        access.space == ptx::Space::shared ||
        (access.space == ptx::Space::generic && (first & kWindowMask) == kSharedWindow);
    const bool global = access.space == ptx::Space::global ||
                        (access.space == ptx::Space::generic && (first & kWindowMask) == 0);
    InstructionFacts& facts = facts_[instr.index];
    if (shared) {
      ++facts.shared_requests;
      const bool plain_load = access.kind == AccessKind::load && !access.matrix_rows;
      facts.shared_wavefronts += static_cast<std::uint64_t>(
          shared_wavefronts(access.address, access.lanes, access.bytes, plain_load));
      facts.shared_fewest +=
          static_cast<std::uint64_t>(fewest_wavefronts(access.lanes, access.bytes));
    } else if (global) {
      ++facts.global_requests;
      facts.global_sectors +=
          static_cast<std::uint64_t>(sectors(access.address, access.lanes, access.bytes));
      const auto bytes = static_cast<std::uint64_t>(std::popcount(access.lanes)) *
                         static_cast<std::uint64_t>(access.bytes);
      facts.global_bytes += bytes;
      facts.global_fewest += (bytes + 31) / 32;
    }
  }

  FactCollector& collector_;
  std::vector<InstructionFacts> facts_;
  std::uint64_t blocks_ = 0;
  std::uint64_t warps_ = 0;
  std::unique_ptr<Observer> next_;
};

}  // namespace

InstructionFacts& InstructionFacts::operator+=(const InstructionFacts& other) {
  issues += other.issues;
  lanes += other.lanes;
  shared_requests += other.shared_requests;
  shared_wavefronts += other.shared_wavefronts;
  shared_fewest += other.shared_fewest;
  global_requests += other.global_requests;
  global_sectors += other.global_sectors;
  global_fewest += other.global_fewest;
  global_bytes += other.global_bytes;
  return *this;
}

InstructionFacts FactSheet::total() const {
  InstructionFacts sum;
  for (const InstructionFacts& facts : instructions) sum += facts;
  return sum;
}

std::array<std::uint64_t, kUnits> FactSheet::issues_by_unit() const {
  std::array<std::uint64_t, kUnits> issues{};
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    issues[static_cast<std::size_t>(program->code[i].unit)] += instructions[i].issues;
  }
  return issues;
}

FactCollector::FactCollector(std::shared_ptr<const Program> program) {
  sheet_.program = std::move(program);
  sheet_.instructions.resize(sheet_.program->code.size());
}

std::unique_ptr<Observer> FactCollector::watch(std::unique_ptr<Observer> next) {
  return std::make_unique<FactObserver>(*this, sheet_.instructions.size(), std::move(next));
}

FactSheet FactCollector::take() {
  const std::scoped_lock lock(mutex_);
  return std::move(sheet_);
}

void FactCollector::add(const std::vector<InstructionFacts>& instructions, std::uint64_t blocks,
                        std::uint64_t warps) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < instructions.size(); ++i) sheet_.instructions[i] += instructions[i];
  sheet_.blocks += blocks;
  sheet_.warps += warps;
}

}  // namespace kiln::emulated
