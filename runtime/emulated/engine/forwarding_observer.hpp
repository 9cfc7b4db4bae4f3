// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "runtime/emulated/engine/observer.hpp"

namespace kiln::emulated {

/// An observer that passes everything on to another, which may be absent: to watch with several.
class ForwardingObserver : public Observer {
 public:
  explicit ForwardingObserver(std::unique_ptr<Observer> next) : next_(std::move(next)) {}

  void begin(Cluster& cluster) override {
    if (next_) next_->begin(cluster);
  }
  void end(Cluster& cluster) override {
    if (next_) next_->end(cluster);
  }
  void issue(Warp& warp, const Instr& instr, LaneMask active) override {
    if (next_) next_->issue(warp, instr, active);
  }
  void access(Warp& warp, const Instr& instr, const WarpAccess& access) override {
    if (next_) next_->access(warp, instr, access);
  }
  void async_begin(Warp& warp, const Instr& instr, Block& owner, std::uint32_t offset,
                   std::uint32_t bytes, AccessKind kind, std::uint64_t token) override {
    if (next_) next_->async_begin(warp, instr, owner, offset, bytes, kind, token);
  }
  void async_end(std::uint64_t token, std::uint64_t object) override {
    if (next_) next_->async_end(token, object);
  }
  void async_issue(Warp& warp, std::uint64_t token, std::uint64_t count) override {
    if (next_) next_->async_issue(warp, token, count);
  }
  void warp_sync(Warp& warp, LaneMask lanes) override {
    if (next_) next_->warp_sync(warp, lanes);
  }
  void copy_end(Warp& warp, int lane, std::uint64_t token, std::uint32_t number) override {
    if (next_) next_->copy_end(warp, lane, token, number);
  }
  void copies_known(Warp& warp, int lane, std::uint32_t number, std::uint64_t object) override {
    if (next_) next_->copies_known(warp, lane, number, object);
  }
  void barrier_arrive(Warp& warp, int barrier, LaneMask lanes, bool relaxed) override {
    if (next_) next_->barrier_arrive(warp, barrier, lanes, relaxed);
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
  void fence(Warp& warp, LaneMask lanes, FenceKind kind) override {
    if (next_) next_->fence(warp, lanes, kind);
  }
  void begin_phase(Warp& warp, const Instr& instr, int lane, std::uint64_t object,
                   std::uint32_t phase) override {
    if (next_) next_->begin_phase(warp, instr, lane, object, phase);
  }

 private:
  std::unique_ptr<Observer> next_;
};

}  // namespace kiln::emulated
