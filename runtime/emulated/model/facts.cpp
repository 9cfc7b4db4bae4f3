// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/facts.hpp"

#include <bit>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/forwarding_observer.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/global_memory.hpp"
#include "runtime/emulated/model/bank_conflicts.hpp"
#include "runtime/emulated/model/sector_set.hpp"

namespace kiln::emulated {
namespace {

class FactObserver : public ForwardingObserver {
 public:
  FactObserver(FactCollector& collector, std::size_t instructions, std::unique_ptr<Observer> next)
      : ForwardingObserver(std::move(next)), collector_(collector) {
    sheet_.instructions.resize(instructions);
  }

  void begin(Cluster& cluster) override {
    memory_ = cluster.launch().memory;
    sheet_.blocks = cluster.blocks().size();
    ForwardingObserver::begin(cluster);
  }
  void end(Cluster& cluster) override {
    sheet_.distinct_reads = read_.count();
    sheet_.distinct_writes = written_.count();
    sheet_.distinct_loads = loaded_.count();
    collector_.add(sheet_, touched_);
    ForwardingObserver::end(cluster);
  }
  void issue(Warp& warp, const Instr& instr, LaneMask active) override {
    InstructionFacts& facts = sheet_.instructions[instr.index];
    ++facts.issues;
    facts.lanes += static_cast<std::uint64_t>(std::popcount(active));
    ForwardingObserver::issue(warp, instr, active);
  }
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override {
    count(instr, access);
    ForwardingObserver::access(warp, instr, access);
  }

 private:
  void count(const Instr& instr, const WarpAccess& access) {
    const AccessSpace space = space_of(access);
    InstructionFacts& facts = sheet_.instructions[instr.index];
    if (space == AccessSpace::shared) {
      ++facts.shared_requests;
      facts.shared_wavefronts += static_cast<std::uint64_t>(shared_wavefronts(access));
      facts.shared_fewest +=
          static_cast<std::uint64_t>(fewest_wavefronts(access.lanes, access.bytes));
    } else if (space == AccessSpace::global) {
      ++facts.global_requests;
      facts.global_sectors += static_cast<std::uint64_t>(sectors(access));
      const auto bytes = static_cast<std::uint64_t>(std::popcount(access.lanes)) *
                         static_cast<std::uint64_t>(access.bytes);
      facts.global_bytes += bytes;
      facts.global_fewest += (bytes + 31) / 32;
      note_sectors(instr, access);
    }
  }

  void note_sectors(const Instr& instr, const WarpAccess& access) {
    SectorSet& sectors = access.kind == AccessKind::load ? read_ : written_;
    const bool cached = is_cached_load(instr, access);
    std::uint64_t last = 0;  // lanes side by side often share a sector
    for_each_sector(access, [&](std::uint64_t at) {
      if (at != last) sectors.insert(at);
      if (at != last && cached) loaded_.insert(at);
      last = at;
    });
    for (LaneMask left = access.lanes; left != 0; left &= left - 1) {
      const std::uint64_t address = access.address[std::countr_zero(left)];
      if (last_touched_ == nullptr || !last_touched_->holds(address, access.bytes)) {
        last_touched_ = memory_->find(address);
        if (last_touched_ != nullptr) touched_.insert(last_touched_);
      }
    }
  }

  FactCollector& collector_;
  FactSheet sheet_;  ///< of the cluster; its program stays empty
  const GlobalMemory* memory_ = nullptr;
  SectorSet read_;
  SectorSet written_;
  SectorSet loaded_;
  const Allocation* last_touched_ = nullptr;
  std::set<const Allocation*> touched_;
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

void FactCollector::add(const FactSheet& cluster, const std::set<const Allocation*>& touched) {
  const std::scoped_lock lock(mutex_);
  for (std::size_t i = 0; i < cluster.instructions.size(); ++i) {
    sheet_.instructions[i] += cluster.instructions[i];
  }
  sheet_.blocks += cluster.blocks;
  sheet_.distinct_reads += cluster.distinct_reads;
  sheet_.distinct_writes += cluster.distinct_writes;
  sheet_.distinct_loads += cluster.distinct_loads;
  for (const Allocation* allocation : touched) {
    if (!touched_.insert(allocation).second) continue;
    sheet_.touched_bytes += static_cast<std::uint64_t>(allocation->bytes);
  }
}

}  // namespace kiln::emulated
