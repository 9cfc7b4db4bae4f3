// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/resolve.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

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

void resolve_lane(Warp& warp, const Instr& instr, WarpAccess& access, int lane) {
  const std::uint64_t address = access.address[lane];
  const auto bytes = static_cast<std::uint64_t>(access.bytes);
  const LaneMask bit = LaneMask{1} << lane;
  const std::uint64_t alignment =
      access.alignment != 0 ? static_cast<std::uint64_t>(access.alignment) : bytes;
  if (address % alignment != 0) {
    warp.fail(
        instr, bit, Finding::misaligned,
        fmt::format("{} {} bytes at {}, whose address is no multiple of {}", verb_of(access.kind),
                    bytes, misaligned_place(warp, access, address), alignment),
        address);
  }
  ptx::Space space = access.space;
  std::uint64_t within = address;
  if (space == ptx::Space::generic) {
    const std::uint64_t window = address & kWindowMask;
    within = address & ~kWindowMask;
    space = window == kSharedWindow  ? ptx::Space::shared
            : window == kLocalWindow ? ptx::Space::local
            : window == kParamWindow ? ptx::Space::param
                                     : ptx::Space::global;
  }
  const auto outside = [&](std::string_view what, std::string_view of, std::uint64_t size) {
    warp.fail(
        instr, bit, Finding::out_of_bounds,
        fmt::format("{} {} bytes at {} {:#x}, outside the {} bytes of {}", verb_of(access.kind),
                    bytes, what, static_cast<std::int64_t>(within), size, of),
        address);
  };
  switch (space) {
    case ptx::Space::shared: {
      const SharedPlace at = shared_place(within, warp.block().rank());
      auto& blocks = warp.block().cluster().blocks();
      if (at.rank >= blocks.size())
        outside("shared address", "its cluster's blocks", blocks.size());
      if (at.rank != warp.block().rank() && access.space == ptx::Space::shared &&
          !access.in_cluster) {
        warp.fail(instr, bit, Finding::out_of_bounds,
                  fmt::format("{} shared memory of block rank {}, which only .shared::cluster and "
                              "generic addresses reach",
                              verb_of(access.kind), at.rank),
                  address);
      }
      Block& owner = *blocks[at.rank];
      if (!owner.shared_holds(at.offset, bytes)) {
        within = std::uint64_t{at.offset} - kSharedBase;
        // A null pointer was meant for none.
        const std::uint32_t dynamic_bytes = warp.block().launch().dynamic_smem_bytes;
        const auto array =
            at.offset == 0 ? std::nullopt : meant_array(warp.program(), instr, dynamic_bytes);
        if (array) {
          const auto from = static_cast<std::int64_t>(within) - std::int64_t{array->begin};
          warp.fail(
              instr, bit, Finding::out_of_bounds,
              fmt::format("{} {} bytes at {}, which has {} bytes", verb_of(access.kind), bytes,
                          place_within(array->name, from, access.element_bytes), array->bytes),
              address);
        }
        outside("offset", "shared memory", owner.shared_bytes());
      }
      access.host[lane] = owner.shared(at.offset);
      return;
    }
    case ptx::Space::local: {
      if (!holds(warp.program().local_bytes, within, bytes)) {
        outside("offset", "the thread's local memory", warp.program().local_bytes);
      }
      const auto thread = static_cast<std::uint32_t>(warp.index() * kLanes + lane);
      access.host[lane] = warp.block().local(thread) + within;
      return;
    }
    case ptx::Space::param: {
      const auto& parameters = warp.block().launch().parameters;
      if (access.kind != AccessKind::load) {
        warp.fail(instr, bit, Finding::out_of_bounds,
                  fmt::format("{} a kernel parameter", verb_of(access.kind)), address);
      }
      if (!holds(parameters.size(), within, bytes)) {
        outside("offset", "the kernel's parameters", parameters.size());
      }
      // All blocks share them; a load leaves them as they are.
      access.host[lane] = const_cast<std::byte*>(parameters.data()) + within;
      return;
    }
    case ptx::Space::generic:
    case ptx::Space::constant:
    case ptx::Space::global:
      break;
  }
  const auto length = static_cast<std::int64_t>(bytes);
  const Allocation* hit = warp.allocation();
  if (hit == nullptr || !hit->holds(address, length)) {
    hit = warp.block().launch().memory->find(address);
    warp.remember(hit);
    if (hit == nullptr || !hit->holds(address, length)) fail_global(warp, instr, access, lane);
  }
  if (hit->read_only && access.kind != AccessKind::load) {
    warp.fail(instr, bit, Finding::out_of_bounds,
              fmt::format("{} the constant '{}'", verb_of(access.kind), hit->name), address);
  }
  if (!hit->read_only) warp.require_launch_wait(instr, bit, "touches global memory");
  access.host[lane] = hit->host(address);
  if (access.kind == AccessKind::store) hit->mark_written(address, bytes);
}

}  // namespace

void resolve(Warp& warp, const Instr& instr, WarpAccess& access) {
  for_active(access.lanes, [&](int lane) { resolve_lane(warp, instr, access, lane); });
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
