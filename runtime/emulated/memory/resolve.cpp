// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/resolve.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/observer.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/global_memory.hpp"

namespace kiln::emulated {
namespace {

std::string_view verb_of(AccessKind kind) {
  switch (kind) {
    case AccessKind::load:
      return "reads";
    case AccessKind::store:
      return "writes";
    case AccessKind::async_store:
      return "copies to";
    case AccessKind::atomic:
      return "updates";
  }
  return "touches";
}

/// Whether bytes from an offset on, which may be any, lie within a size.
bool holds(std::uint64_t size, std::uint64_t offset, std::uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

/// What a value of the shared space means: the block of the cluster and the offset in it.
struct SharedPlace {
  std::uint64_t rank;
  std::uint32_t offset;
};

SharedPlace shared_place(std::uint64_t address, std::uint32_t own_rank) {
  const std::uint64_t above = address >> kSharedRankShift;
  const auto offset = static_cast<std::uint32_t>(address & ((1U << kSharedRankShift) - 1));
  return {above == 0 ? own_rank : above - 1, offset};
}

[[noreturn]] void fail_global(Warp& warp, const Instr& instr, const WarpAccess& access, int lane) {
  const std::uint64_t address = access.address[lane];
  const GlobalMemory& memory = *warp.block().launch().memory;
  warp.fail(instr, LaneMask{1} << lane, Finding::out_of_bounds,
            fmt::format("{} {} bytes at {:#x}, {}", verb_of(access.kind), access.bytes, address,
                        memory.place_text(address, static_cast<std::uint64_t>(access.bytes))),
            address);
}

/// Where an access of a lane lies that is not aligned: in which array, if that is known.
std::string misaligned_place(Warp& warp, const WarpAccess& access, std::uint64_t address) {
  const bool in_shared =
      access.space == ptx::Space::shared ||
      (access.space == ptx::Space::generic && (address & kWindowMask) == kSharedWindow);
  const SharedPlace at = shared_place(address & ~kWindowMask, warp.block().rank());
  if (in_shared && at.offset >= kSharedBase) {
    return warp.program().shared_text(at.offset - kSharedBase, access.element_bytes);
  }
  const bool in_global = access.space == ptx::Space::global || access.space == ptx::Space::generic;
  const Allocation* const hit = in_global ? warp.block().launch().memory->find(address) : nullptr;
  return hit == nullptr ? fmt::format("{:#x}", address)
                        : hit->place_text(address, access.element_bytes);
}

/// The array in shared memory that an access was meant for: the one that its address is computed
/// from, or the only one that there is.
std::optional<SharedVariable> meant_array(const Program& program, const Instr& instr,
                                          std::uint32_t dynamic_bytes) {
  const auto& variables = program.shared_variables;
  const std::uint32_t base = program.address_bases.empty() ? 0 : program.address_bases[instr.index];
  if (base != 0) return variables[base - 1];
  const bool has_dynamic = dynamic_bytes > 0 || !program.dynamic_shared_name.empty();
  if (variables.size() == 1 && !has_dynamic) return variables.front();
  if (!variables.empty() || program.dynamic_shared_name.empty()) return std::nullopt;
  return SharedVariable{program.dynamic_shared_name, 0, dynamic_bytes};
}

/// The access of one lane: finds the host's bytes behind its address, or fails as hardware would.
class LaneAccess {
 public:
  LaneAccess(Warp& warp, const Instr& instr, WarpAccess& access, int lane)
      : warp_(warp),
        instr_(instr),
        access_(access),
        lane_(lane),
        address_(access.address[lane]),
        bytes_(static_cast<std::uint64_t>(access.bytes)) {}

  void resolve() {
    require_alignment();
    switch (space_within()) {
      case ptx::Space::shared:
        return resolve_shared();
      case ptx::Space::local:
        return resolve_local();
      case ptx::Space::param:
        return resolve_parameter();
      case ptx::Space::generic:
      case ptx::Space::constant:
      case ptx::Space::global:
        return resolve_global();
    }
  }

 private:
  [[nodiscard]] LaneMask bit() const { return LaneMask{1} << lane_; }

  void require_alignment() const {
    const std::uint64_t alignment =
        access_.alignment != 0 ? static_cast<std::uint64_t>(access_.alignment) : bytes_;
    // Nearly always a power of two. Divisions took two fifths of the time of resolve().
    const std::uint64_t mask = alignment - 1;
    const bool is_power = (alignment & mask) == 0;
    if ((is_power ? address_ & mask : address_ % alignment) == 0) return;
    warp_.fail(
        instr_, bit(), Finding::misaligned,
        fmt::format("{} {} bytes at {}; the address is not a multiple of {}", verb_of(access_.kind),
                    bytes_, misaligned_place(warp_, access_, address_), alignment),
        address_);
  }

  /// The space that the address is in; sets `within_` to the address in it.
  ptx::Space space_within() {
    within_ = address_;
    if (access_.space != ptx::Space::generic) return access_.space;
    within_ = address_ & ~kWindowMask;
    const std::uint64_t window = address_ & kWindowMask;
    return window == kSharedWindow  ? ptx::Space::shared
           : window == kLocalWindow ? ptx::Space::local
           : window == kParamWindow ? ptx::Space::param
                                    : ptx::Space::global;
  }

  [[noreturn]] void fail(const std::string& message) const {
    warp_.fail(instr_, bit(), Finding::out_of_bounds, message, address_);
  }

  [[noreturn]] void fail_outside(std::string_view of, std::uint64_t size) const {
    fail(fmt::format("{} {} bytes at offset {:#x}, outside the {} bytes of {}",
                     verb_of(access_.kind), bytes_, static_cast<std::int64_t>(within_), size, of));
  }

  void resolve_shared() {
    const SharedPlace at = shared_place(within_, warp_.block().rank());
    auto& blocks = warp_.block().cluster().blocks();
    if (at.rank >= blocks.size()) {
      fail(fmt::format(
          "{} shared memory of block rank {}, but the highest rank in the cluster is {}",
          verb_of(access_.kind), at.rank, blocks.size() - 1));
    }
    if (at.rank != warp_.block().rank() && access_.space == ptx::Space::shared &&
        !access_.in_cluster) {
      fail(fmt::format(
          "{} shared memory of block rank {}, but .shared can access only the "
          "executing block's memory. For another block, use .shared::cluster or a generic address",
          verb_of(access_.kind), at.rank));
    }
    Block& owner = *blocks[at.rank];
    if (!owner.shared_holds(at.offset, bytes_)) fail_shared(at.offset, owner);
    access_.host[lane_] = owner.shared(at.offset);
  }

  [[noreturn]] void fail_shared(std::uint32_t offset, const Block& owner) {
    within_ = std::uint64_t{offset} - kSharedBase;
    // A null pointer was meant for none.
    const std::uint32_t dynamic_bytes = warp_.block().launch().dynamic_smem_bytes;
    const auto array =
        offset == 0 ? std::nullopt : meant_array(warp_.program(), instr_, dynamic_bytes);
    if (!array) fail_outside("shared memory", owner.shared_bytes());
    const auto from = static_cast<std::int64_t>(within_) - std::int64_t{array->begin};
    fail(
        fmt::format("{} {} bytes outside an array in shared memory. The access begins at {}, but "
                    "the array has only {} bytes",
                    verb_of(access_.kind), bytes_,
                    place_within(array->name, from, access_.element_bytes), array->bytes));
  }

  void resolve_local() {
    if (!holds(warp_.program().local_bytes, within_, bytes_)) {
      fail_outside("the thread's local memory", warp_.program().local_bytes);
    }
    const auto thread = static_cast<std::uint32_t>(warp_.index() * kLanes + lane_);
    access_.host[lane_] = warp_.block().local(thread) + within_;
  }

  void resolve_parameter() {
    const auto& parameters = warp_.block().launch().parameters;
    if (access_.kind != AccessKind::load) {
      fail(fmt::format("{} a kernel parameter", verb_of(access_.kind)));
    }
    if (!holds(parameters.size(), within_, bytes_)) {
      fail_outside("the kernel's parameters", parameters.size());
    }
    // All blocks share them; a load leaves them as they are.
    access_.host[lane_] = const_cast<std::byte*>(parameters.data()) + within_;
  }

  void resolve_global() {
    const auto length = static_cast<std::int64_t>(bytes_);
    const Allocation* const hit = allocation_at(warp_, address_, length);
    if (hit == nullptr || !hit->holds(address_, length)) {
      fail_global(warp_, instr_, access_, lane_);
    }
    if (hit->read_only && access_.kind != AccessKind::load) {
      fail(fmt::format("{} the constant variable '{}', but a kernel cannot change constant memory",
                       verb_of(access_.kind), hit->name));
    }
    if (!hit->read_only) warp_.require_launch_wait(instr_, bit(), "touches global memory");
    access_.host[lane_] = hit->host(address_);
    if (access_.kind == AccessKind::store) hit->mark_written(address_, bytes_);
  }

  Warp& warp_;
  const Instr& instr_;
  WarpAccess& access_;
  const int lane_;
  const std::uint64_t address_;
  const std::uint64_t bytes_;
  std::uint64_t within_ = 0;  ///< the address in its space
};

}  // namespace

const Allocation* allocation_at(Warp& warp, std::uint64_t address, std::int64_t bytes) {
  auto& known = warp.known_allocations();
  if (known[0] != nullptr && known[0]->holds(address, bytes)) return known[0];
  std::swap(known[0], known[1]);
  if (known[0] != nullptr && known[0]->holds(address, bytes)) return known[0];
  known[0] = warp.block().launch().memory->find(address);
  return known[0];
}

void resolve(Warp& warp, const Instr& instr, WarpAccess& access) {
  for_active(access.lanes, [&](int lane) { LaneAccess(warp, instr, access, lane).resolve(); });
  if (Observer* observer = warp.block().cluster().observer()) observer->access(warp, instr, access);
  if (access.kind != AccessKind::atomic) return;
  // What atomics update has been written before, or the observer has seen that it was not.
  const GlobalMemory& memory = *warp.block().launch().memory;
  for_active(access.lanes, [&](int lane) {
    const std::uint64_t address = access.address[lane];
    if (space_of(access) != AccessSpace::global) return;
    if (const Allocation* at = memory.find(address)) {
      at->mark_written(address, static_cast<std::uint64_t>(access.bytes));
    }
  });
}

}  // namespace kiln::emulated
