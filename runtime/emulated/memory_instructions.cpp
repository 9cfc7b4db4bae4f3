// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// ld, st, atom, red and what belongs to addresses.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>

#include "runtime/emulated/async_instructions.hpp"
#include "runtime/emulated/atomics.hpp"
#include "runtime/emulated/cluster.hpp"
#include "runtime/emulated/decoder.hpp"
#include "runtime/emulated/memory_operands.hpp"
#include "runtime/emulated/shared_bytes.hpp"
#include "runtime/emulated/warp.hpp"

namespace kiln::emulated {
namespace {

using ptx::Space;
using ptx::Type;

/// How a loaded or stored element relates to its register.
struct Element {
  std::uint8_t memory_bytes = 4;
  std::uint8_t lane_bytes = 4;  ///< of the register's row; 0 never
  bool is_signed = false;       ///< widened with its sign
};

struct MemoryDetail {
  Space space = Space::generic;
  Element element;
  bool synchronises = false;
};

void fill_access(Warp& warp, const Instr& instr, LaneMask active, AccessKind kind,
                 WarpAccess& access) {
  const auto& detail = *static_cast<const MemoryDetail*>(instr.detail);
  access.space = detail.space;
  access.kind = kind;
  access.bytes = detail.element.memory_bytes * static_cast<int>(instr.count);
  access.lanes = active;
  access.synchronises = detail.synchronises;
  fill_addresses(warp, instr, active, access.address);
  warp.resolve(instr, access);
}

/// Moves one element into a lane of a row that may be wider.
void widen(std::byte* row, int lane, const std::byte* from, const Element& element) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, element.memory_bytes > 8 ? 8 : element.memory_bytes);
  if (element.is_signed && element.memory_bytes < 8) {
    const int shift = 64 - 8 * element.memory_bytes;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  std::memcpy(row + lane * element.lane_bytes, &value, element.lane_bytes);
}

/// The elements of volatile and other synchronising accesses; they are few.
void load_shared(Warp& warp, const Instr& instr, const WarpAccess& access, const Element& element) {
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for (LaneMask left = access.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::byte* const to = warp.row(instr.rows[i]);
      std::byte value[16];
      read_shared(value, access.host[lane] + offset, element.memory_bytes);
      if (element.memory_bytes == element.lane_bytes) {
        std::memcpy(to + lane * element.lane_bytes, value, element.lane_bytes);
      } else {
        widen(to, lane, value, element);
      }
    }
  }
}

void store_shared(Warp& warp, const Instr& instr, const WarpAccess& access,
                  const Element& element) {
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for (LaneMask left = access.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      write_shared(access.host[lane] + offset, warp.row(instr.rows[i]) + lane * element.lane_bytes,
                   element.memory_bytes);
    }
  }
}

void execute_load(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& element = static_cast<const MemoryDetail*>(instr.detail)->element;
  WarpAccess access;
  fill_access(warp, instr, active, AccessKind::load, access);
  if (access.synchronises) return load_shared(warp, instr, access, element);
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    std::byte* const to = warp.row(instr.rows[i]);
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    if (element.memory_bytes == element.lane_bytes) {
      for (LaneMask left = active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        std::memcpy(to + lane * element.lane_bytes, access.host[lane] + offset, element.lane_bytes);
      }
    } else {
      for (LaneMask left = active; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        widen(to, lane, access.host[lane] + offset, element);
      }
    }
  }
}

void execute_store(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& element = static_cast<const MemoryDetail*>(instr.detail)->element;
  WarpAccess access;
  fill_access(warp, instr, active, AccessKind::store, access);
  if (access.synchronises) return store_shared(warp, instr, access, element);
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::byte* const from = warp.row(instr.rows[i]);
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for (LaneMask left = active; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::memcpy(access.host[lane] + offset, from + lane * element.lane_bytes,
                  element.memory_bytes);
    }
  }
}

Space take_space(DecodeContext& context) {
  const std::string_view name =
      context.take_one_of({"const", "global", "local", "param", "param::entry", "param::func",
                           "shared", "shared::cta", "shared::cluster"});
  if (name.empty()) return Space::generic;
  if (name == "const") return Space::constant;
  if (name == "global") return Space::global;
  if (name == "local") return Space::local;
  return name.starts_with("param") ? Space::param : Space::shared;
}

/// Takes what says how an access is ordered and cached. Caches are coherent here, so only whether
/// it synchronises with other threads counts.
bool take_ordering(DecodeContext& context) {
  bool synchronises = false;
  while (!context.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"})
              .empty()) {
    synchronises = true;
  }
  context.take_one_of({"cta", "cluster", "gpu", "sys"});
  context.take_one_of({"weak"});
  while (!context
              .take_one_of({"ca",
                            "cg",
                            "cs",
                            "lu",
                            "cv",
                            "wb",
                            "wt",
                            "nc",
                            "L1::evict_normal",
                            "L1::evict_unchanged",
                            "L1::evict_first",
                            "L1::evict_last",
                            "L1::no_allocate",
                            "L2::cache_hint",
                            "L2::64B",
                            "L2::128B",
                            "L2::256B",
                            "L2::evict_last",
                            "L2::evict_normal",
                            "L2::evict_first"})
              .empty()) {
  }
  return synchronises;
}

/// Address, space and element of a load or store of `value`.
void decode_access(DecodeContext& context, Instr& out, std::size_t address, std::size_t value,
                   bool load) {
  MemoryDetail detail;
  detail.space = take_space(context);
  detail.synchronises = take_ordering(context);
  const std::string_view vector = context.take_one_of({"v2", "v4", "v8"});
  const Type type = context.take_type();
  const auto& values = context.operand(value);
  const auto& first = values.kind == ptx::Operand::Kind::vector ? values.elements.at(0) : values;
  Type reg = context.register_type(first);
  if (reg == Type::none) reg = type;  // an immediate, or a destination that is thrown away
  detail.element.memory_bytes = static_cast<std::uint8_t>(ptx::bits_of(type) / 8);
  detail.element.lane_bytes = static_cast<std::uint8_t>(lane_bytes(reg));
  detail.element.is_signed = ptx::name_of(type).starts_with('s');
  if (detail.element.memory_bytes > detail.element.lane_bytes) {
    context.fail("moves elements wider than their register");
  }
  const auto rows = load ? context.destinations(values, reg) : context.sources(values, reg);
  const std::size_t wanted = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
  if (rows.size() != wanted) {
    context.fail(fmt::format("has {} registers for {} elements", rows.size(), wanted));
  }
  context.set_rows(out, rows);
  const Space named = decode_address(context, address, out);
  // A variable's own space wins: arguments of calls are named as .param but lie in local memory.
  if (named != Space::generic && (detail.space == Space::param || detail.space == Space::generic)) {
    detail.space = named;
  }
  out.unit = unit_of(detail.space);
  out.detail = context.keep(detail);
  out.execute = load ? &execute_load : &execute_store;
}

void decode_ld(DecodeContext& context, Instr& out) {
  decode_access(context, out, 1, 0, true);
}

void decode_st(DecodeContext& context, Instr& out) {
  if (context.take("async")) {
    decode_async_store(context, out);
    return;
  }
  decode_access(context, out, 0, 1, false);
}

struct AtomicDetail {
  Space space = Space::generic;
  AtomicFunction apply = nullptr;
  int bytes = 4;
  bool fetches = true;
};

void execute_atomic(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const AtomicDetail*>(instr.detail);
  WarpAccess access;
  access.space = detail.space;
  access.kind = AccessKind::atomic;
  access.bytes = detail.bytes;
  access.lanes = active;
  access.synchronises = true;
  fill_addresses(warp, instr, active, access.address);
  warp.resolve(instr, access);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::byte* const value = warp.row(instr.b) + lane * detail.bytes;
    const std::byte* const swap =
        instr.c == kNoRow ? value : warp.row(instr.c) + lane * detail.bytes;
    std::byte old[16];
    detail.apply(access.host[lane], value, swap, old);
    if (detail.fetches) {
      std::memcpy(warp.row(instr.d) + lane * detail.bytes, old,
                  static_cast<std::size_t>(detail.bytes));
    }
  }
  if (Observer* observer = warp.block().cluster().observer()) {
    for (LaneMask left = active; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const auto object = reinterpret_cast<std::uintptr_t>(access.host[lane]);
      observer->synchronise(warp, instr, object, LaneMask{1} << lane, Order::both);
    }
  }
}

void decode_atomic(DecodeContext& context, Instr& out, bool fetches) {
  AtomicDetail detail;
  detail.fetches = fetches;
  detail.space = take_space(context);
  take_ordering(context);
  const std::string_view operation =
      context.take_one_of({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  context.take("noftz");
  const Type type = context.take_type();
  detail.apply = find_atomic(operation, type);
  if (detail.apply == nullptr) context.fail("is no atomic operation that the emulator knows");
  detail.bytes = lane_bytes(type);
  const std::size_t first = fetches ? 1 : 0;
  const bool compares = operation == "cas";
  // A cache policy may follow as a last operand; it changes no value.
  if (context.operands() < first + (compares ? 3 : 2)) context.fail("has too few operands");
  if (fetches) out.d = context.destination(0, type);
  const Space named = decode_address(context, first, out);
  if (detail.space == Space::generic) detail.space = named;
  out.b = context.source(first + 1, type);
  if (compares) out.c = context.source(first + 2, type);
  out.unit = unit_of(detail.space);
  out.detail = context.keep(detail);
  out.execute = &execute_atomic;
}

void decode_atom(DecodeContext& context, Instr& out) {
  decode_atomic(context, out, true);
}

void decode_red(DecodeContext& context, Instr& out) {
  if (context.take("async")) {
    decode_async_reduction(context, out);
    return;
  }
  decode_atomic(context, out, false);
}

constexpr std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::shared:
      return kSharedWindow;
    case Space::local:
      return kLocalWindow;
    case Space::param:
      return kParamWindow;
    default:
      return 0;
  }
}

/// A generic address of shared memory names the block; one within the space may leave it out.
std::uint64_t to_generic(std::uint64_t address, std::uint64_t window, std::uint32_t rank) {
  if (window == kSharedWindow && (address >> kSharedRankShift) == 0) {
    address |= (std::uint64_t{rank} + 1) << kSharedRankShift;
  }
  return address | window;
}

std::uint64_t from_generic(std::uint64_t address, std::uint64_t window, std::uint32_t rank) {
  address &= ~window;
  if (window == kSharedWindow && (address >> kSharedRankShift) == std::uint64_t{rank} + 1) {
    address &= (std::uint64_t{1} << kSharedRankShift) - 1;
  }
  return address;
}

void execute_cvta(Warp& warp, const Instr& instr, LaneMask active) {
  const auto window = static_cast<std::uint64_t>(instr.immediate);
  const std::uint32_t rank = warp.block().rank();
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto in = instr.bytes == 8 ? get<std::uint64_t>(warp.row(instr.a), lane)
                                     : get<std::uint32_t>(warp.row(instr.a), lane);
    const std::uint64_t value =
        instr.variant == 0 ? to_generic(in, window, rank) : from_generic(in, window, rank);
    if (instr.bytes == 8) {
      put(warp.row(instr.d), lane, value);
    } else {
      put(warp.row(instr.d), lane, static_cast<std::uint32_t>(value));
    }
  }
}

void decode_cvta(DecodeContext& context, Instr& out) {
  out.variant = context.take("to") ? 1 : 0;
  const Space space = take_space(context);
  const Type type = context.take_type();
  context.expect_operands(2);
  out.d = context.destination(0, type);
  out.a = context.source(1, type);
  out.bytes = static_cast<std::uint8_t>(lane_bytes(type));
  if (out.bytes != 8 && window_of(space) != 0) {
    context.fail("makes a generic address of 32 bits, which 64-bit PTX does not have");
  }
  out.immediate = static_cast<std::int64_t>(window_of(space));
  out.unit = Unit::integer;
  out.execute = &execute_cvta;
}

void execute_isspacep(Warp& warp, const Instr& instr, LaneMask active) {
  LaneMask result = 0;
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const auto address = get<std::uint64_t>(warp.row(instr.a), lane);
    bool is = (address & kWindowMask) == static_cast<std::uint64_t>(instr.immediate);
    if (instr.variant == 1) {  // shared::cta: the own block only
      const std::uint64_t rank = (address & ~kWindowMask) >> kSharedRankShift;
      is = is && (rank == 0 || rank == std::uint64_t{warp.block().rank()} + 1);
    }
    if (is) result |= LaneMask{1} << lane;
  }
  warp.set_predicate(instr.d, result, active);
}

void decode_isspacep(DecodeContext& context, Instr& out) {
  out.variant = context.in().parts.back() == "shared" || context.in().parts.back() == "shared::cta";
  const Space space = take_space(context);
  context.expect_operands(2);
  out.d = context.predicate(context.operand(0));
  out.a = context.source(1, Type::u64);
  out.immediate = static_cast<std::int64_t>(window_of(space));
  out.unit = Unit::integer;
  out.execute = &execute_isspacep;
}

void execute_nothing(Warp&, const Instr&, LaneMask) {}

/// Hints that move no value a kernel could see.
void decode_hint(DecodeContext& context, Instr& out) {
  take_space(context);
  take_ordering(context);
  context.take_one_of({"L1", "L2", "tensormap"});
  context.take_one_of({"L2::evict_last", "L2::evict_normal"});
  out.unit = Unit::control;
  out.execute = &execute_nothing;
}

constexpr Opcode kOpcodes[] = {
    {"ld", &decode_ld},
    {"ldu", &decode_ld},
    {"st", &decode_st},
    {"atom", &decode_atom},
    {"red", &decode_red},
    {"cvta", &decode_cvta},
    {"isspacep", &decode_isspacep},
    {"prefetch", &decode_hint},
    {"prefetchu", &decode_hint},
    {"applypriority", &decode_hint},
    {"discard", &decode_hint},
};

}  // namespace

std::span<const Opcode> memory_opcodes() {
  return kOpcodes;
}

}  // namespace kiln::emulated
