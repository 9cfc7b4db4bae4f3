// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/async/bulk_jobs.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/emulated/async/bulk_groups.hpp"
#include "runtime/emulated/async/mbarrier_access.hpp"
#include "runtime/emulated/engine/copy_word.hpp"

namespace kiln::emulated {
namespace {

/// What a thread may leave unfinished: copies of its open group, closed groups, and closed groups
/// that have read their sources, which lie in buffers.
constexpr std::size_t kMostOpen = 256;
constexpr std::size_t kMostClosed = 256;
constexpr std::size_t kMostRead = 64;

template <class Visit>
void for_each_element(std::uint32_t bytes, int element_bytes, const Visit& visit) {
  const auto step = static_cast<std::uint32_t>(element_bytes);
  for (std::uint32_t at = 0; at < bytes; at += step) visit(at);
}

void put_piece(const BulkElements& elements, std::byte* to, const std::byte* from,
               std::uint32_t bytes) {
  const auto size = static_cast<std::size_t>(elements.bytes);
  if (elements.reduce != nullptr) {
    for_each_element(bytes, elements.bytes, [&](std::uint32_t at) {
      std::byte old[16];
      elements.reduce(to + at, from + at, from + at, old);
    });
  } else if (from == nullptr || elements.converts) {
    for_each_element(bytes, elements.bytes, [&](std::uint32_t at) {
      std::uint64_t value = elements.fill;
      if (from != nullptr) {
        value = 0;
        copy_word(&value, from + at, size);
        value = loaded(elements.type, value);
      }
      copy_word(to + at, &value, size);
    });
  } else {
    std::memcpy(to, from, bytes);
  }
}

std::vector<SharedRun> runs_of(const std::vector<BulkPiece>& pieces) {
  std::vector<SharedRun> runs;
  for (const BulkPiece& piece : pieces) runs.push_back({piece.shared, piece.bytes});
  return runs;
}

void tell_traffic(Warp& warp, const Instr& instr, int lane, const std::vector<BulkPiece>& pieces,
                  AccessKind kind) {
  GlobalTraffic traffic(warp, instr, lane, kind);
  for (const BulkPiece& piece : pieces) {
    if (piece.address != 0) traffic.add(piece.address, piece.host, piece.bytes);
  }
  traffic.flush();
}

void finish_load(const BulkLoad& load, std::uint64_t tokens) {
  Observer* const observer = load.warp->block().cluster().observer();
  if (load.source.owner != nullptr) {
    check_owner_lives(*load.warp, *load.instr, load.lane, *load.source.owner);
    const SharedSpot spot{load.targets.front(), load.barrier};
    const auto barrier = barrier_at(*load.warp, *load.instr, load.lane, spot);
    if (observer != nullptr) {
      observer->async_end(tokens + load.targets.size(), barrier.object());
    }
  }
  for (std::size_t i = 0; i < load.targets.size(); ++i) {
    Block& target = *load.targets[i];
    check_owner_lives(*load.warp, *load.instr, load.lane, target);
    for (const BulkPiece& piece : load.pieces) {
      put_piece(load.elements, target.shared(piece.shared), piece.host, piece.bytes);
    }
    const SharedSpot spot{&target, load.barrier};
    if (observer != nullptr) {
      observer->async_end(tokens + i,
                          barrier_at(*load.warp, *load.instr, load.lane, spot).object());
    }
    complete_bytes(*load.warp, *load.instr, load.lane, spot, load.bytes);
  }
}

}  // namespace

void begin_bulk_load(BulkLoad load) {
  Cluster& cluster = load.warp->block().cluster();
  const std::uint64_t tokens = cluster.new_tokens(load.targets.size() + 1);
  tell_traffic(*load.warp, *load.instr, load.lane, load.pieces, AccessKind::load);
  if (cluster.observer() != nullptr) {
    cluster.observer()->async_issue(*load.warp, tokens, load.targets.size());
    // Reductions own nothing: many may be on their way to one place.
    const std::size_t owned = load.elements.reduce == nullptr ? load.targets.size() : 0;
    for (std::size_t i = 0; i < owned; ++i) {
      begin_async(*load.warp, *load.instr, *load.targets[i], runs_of(load.pieces),
                  AccessKind::store, tokens + i);
    }
    if (load.source.owner != nullptr) {
      begin_async(*load.warp, *load.instr, *load.source.owner, {{load.source.offset, load.bytes}},
                  AccessKind::load, tokens + load.targets.size());
    }
  }
  Warp& warp = *load.warp;
  const std::size_t held = load.pieces.size() * sizeof(BulkPiece);
  const auto job = std::make_shared<const BulkLoad>(std::move(load));
  cluster.promise([job, tokens] { finish_load(*job, tokens); }, held);
  warp.take_long();
}

void begin_bulk_store(BulkStoreJob store) {
  Warp& warp = *store.warp;
  Cluster& cluster = warp.block().cluster();
  const std::uint64_t token = cluster.new_tokens(1);
  const AccessKind kind = store.elements.reduce == nullptr ? AccessKind::store : AccessKind::atomic;
  tell_traffic(warp, *store.instr, store.lane, store.pieces, kind);
  if (cluster.observer() != nullptr) {
    begin_async(warp, *store.instr, warp.block(), runs_of(store.pieces), AccessKind::load, token);
  }
  std::size_t held = store.pieces.size() * sizeof(BulkPiece);
  for (const BulkPiece& piece : store.pieces) held += piece.bytes;
  const auto job = std::make_shared<const BulkStoreJob>(std::move(store));
  const auto buffer = std::make_shared<std::vector<std::byte>>();
  auto pending = std::make_shared<BulkStore>();
  pending->read = [job, buffer, token] {
    Block& owner = job->warp->block();
    check_owner_lives(*job->warp, *job->instr, job->lane, owner);
    for (const BulkPiece& piece : job->pieces) {
      const std::byte* const from = owner.shared(piece.shared);
      buffer->insert(buffer->end(), from, from + piece.bytes);
    }
    if (Observer* observer = owner.cluster().observer()) {
      observer->async_end(token, job->warp->bulk().object());
    }
  };
  pending->write = [job, buffer] {
    const std::byte* from = buffer->data();
    for (const BulkPiece& piece : job->pieces) {
      put_piece(job->elements, piece.host, from, piece.bytes);
      mark_written(*job->warp, piece.address, piece.bytes);
      from += piece.bytes;
    }
  };
  const auto finish = [pending] {
    pending->read_once();
    pending->write();
    // Its group may keep it for long, but not what it copied.
    pending->read = pending->write = nullptr;
  };
  pending->token = cluster.promise(finish, held);
  warp.take_long();
  warp.bulk().start(job->lane, std::move(pending));
}

void BulkGroups::start(int lane, std::shared_ptr<BulkStore> store) {
  Group& open = lanes_[lane].open;
  if (open.size() >= kMostOpen) {
    warp_.block().cluster().fulfil(open.front()->token);
    open.pop_front();
  }
  open.push_back(std::move(store));
}

void BulkGroups::commit(LaneMask lanes) {
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    Lane& lane = lanes_[std::countr_zero(left)];
    lane.closed.push_back(std::exchange(lane.open, {}));
    finish(lane, kMostClosed);
  }
}

void BulkGroups::finish(Lane& lane, std::size_t left) {
  for (; lane.closed.size() > left; lane.closed.pop_front()) {
    for (const auto& store : lane.closed.front()) warp_.block().cluster().fulfil(store->token);
    if (lane.read > 0) --lane.read;
  }
}

void BulkGroups::wait(const Instr& instr, LaneMask lanes, std::uint32_t pending, bool reads) {
  Cluster& cluster = warp_.block().cluster();
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const auto at = lanes_.find(std::countr_zero(left));
    if (at == lanes_.end()) continue;
    Lane& lane = at->second;
    if (!reads) {
      finish(lane, pending);
      continue;
    }
    for (; lane.read + pending < lane.closed.size(); ++lane.read) {
      for (const auto& store : lane.closed[lane.read]) store->read_once();
    }
    if (lane.read > kMostRead) finish(lane, lane.closed.size() - (lane.read - kMostRead));
  }
  if (Observer* observer = cluster.observer()) {
    observer->synchronise(warp_, instr, object(), lanes, Order::acquire);
  }
}

}  // namespace kiln::emulated
