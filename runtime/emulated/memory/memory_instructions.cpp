// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// ld, st, atom, red and hints.
#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/copy_word.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/memory/atomics.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"
#include "runtime/emulated/memory/resolve.hpp"
#include "runtime/emulated/memory/shared_bytes.hpp"

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

/// How an access is ordered with others, if it is at all.
struct Ordering {
  bool is_volatile = false;
  bool synchronises = false;  ///< volatile, relaxed or stronger: no data race
  bool acquires = false;      ///< as if a fence followed
  bool releases = false;      ///< as if a fence stood before it
};

/// What an opcode says of how an access is ordered and cached.
struct AccessWords {
  Ordering ordering;
  std::size_t policies = 0;  ///< operands more than the access needs: 1 with L2::cache_hint
};

struct MemoryDetail {
  Space space = Space::generic;
  bool in_cluster = false;  ///< .shared::cluster
  Element element;
  Ordering ordering;
};

/// Tells the observer before a synchronising access writes. Before, so that nobody sees the value
/// and not what it publishes.
void tell_release(Warp& warp, const Instr& instr, const WarpAccess& access, Ordering ordering) {
  Observer* const observer = warp.block().cluster().observer();
  if (observer == nullptr) return;
  if (ordering.releases) observer->fence(warp, access.lanes, FenceKind::access);
  for_active(access.lanes, [&](int lane) {
    observer->synchronise(warp, instr, reinterpret_cast<std::uintptr_t>(access.host[lane]),
                          LaneMask{1} << lane, Order::release);
  });
}

/// And after it has read.
void tell_acquire(Warp& warp, const Instr& instr, const WarpAccess& access, Ordering ordering) {
  Observer* const observer = warp.block().cluster().observer();
  if (observer == nullptr) return;
  for_active(access.lanes, [&](int lane) {
    observer->synchronise(warp, instr, reinterpret_cast<std::uintptr_t>(access.host[lane]),
                          LaneMask{1} << lane, Order::acquire);
  });
  if (ordering.acquires) observer->fence(warp, access.lanes, FenceKind::access);
}

void fill_access(Warp& warp, const Instr& instr, LaneMask active, AccessKind kind,
                 WarpAccess& access) {
  const auto& detail = *static_cast<const MemoryDetail*>(instr.detail);
  access.space = detail.space;
  access.in_cluster = detail.in_cluster;
  access.kind = kind;
  access.bytes = detail.element.memory_bytes * static_cast<int>(instr.count);
  access.element_bytes = detail.element.memory_bytes;
  access.lanes = active;
  access.synchronises = detail.ordering.synchronises;
  access.is_volatile = detail.ordering.is_volatile;
  fill_addresses(warp, instr, active, access.address);
  resolve(warp, instr, access);
}

std::byte* place_in(std::byte* row, int lane, const Element& element) {
  return row + static_cast<std::size_t>(lane) * element.lane_bytes;
}

/// Moves one element into a lane of a row that may be wider.
void widen(std::byte* to, const std::byte* from, const Element& element) {
  std::uint64_t value = 0;
  copy_word(&value, from, element.memory_bytes > 8 ? 8 : element.memory_bytes);
  if (element.is_signed && element.memory_bytes < 8) {
    const int shift = 64 - 8 * element.memory_bytes;
    value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
  }
  copy_word(to, &value, element.lane_bytes);
}

/// The elements of volatile and other synchronising accesses; they are few.
void load_in_order(Warp& warp, const Instr& instr, const WarpAccess& access,
                   const Element& element) {
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for_active(access.lanes, [&](int lane) {
      std::byte* const to = place_in(warp.row(instr.rows[i]), lane, element);
      std::byte value[16];
      load_atomically(value, access.host[lane] + offset, element.memory_bytes);
      if (element.memory_bytes == element.lane_bytes) {
        copy_word(to, value, element.lane_bytes);
      } else {
        widen(to, value, element);
      }
    });
  }
}

void store_in_order(Warp& warp, const Instr& instr, const WarpAccess& access,
                    const Element& element) {
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for_active(access.lanes, [&](int lane) {
      store_atomically(access.host[lane] + offset, place_in(warp.row(instr.rows[i]), lane, element),
                       element.memory_bytes);
    });
  }
}

/// Whether a lane's access is to the barrier of its grid, in a cooperative launch.
bool is_grid_barrier(Warp& warp, const WarpAccess& access, int lane) {
  const LaunchState& launch = warp.block().launch();
  return launch.grid_workspace.is_there() &&
         access.address[lane] == launch.grid_workspace.barrier();
}

/// A block polls the barrier of its grid. Until it has opened, others get their turn. Blocks of a
/// sample find it open.
void poll_grid_barrier(Warp& warp, const Instr& instr, const WarpAccess& access,
                       const Element& element) {
  GridArrival& arrival = warp.block().grid_arrival();
  for_active(access.lanes, [&](int lane) {
    if (!is_grid_barrier(warp, access, lane) || element.lane_bytes != sizeof(std::uint32_t)) return;
    std::byte* const row = warp.row(instr.rows[0]);
    if (warp.block().launch().is_sample) put(row, lane, arrival.before ^ GridWorkspace::kFlips);
    const std::uint32_t changed = get<std::uint32_t>(row, lane) ^ arrival.before;
    arrival.waits = (changed & GridWorkspace::kFlips) == 0;
    if (arrival.waits) warp.yield();
  });
}

void execute_load(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const MemoryDetail*>(instr.detail);
  const Element& element = detail.element;
  WarpAccess access;
  fill_access(warp, instr, active, AccessKind::load, access);
  if (access.synchronises) {
    load_in_order(warp, instr, access, element);
    if (warp.block().launch().grid_workspace.is_there()) {
      poll_grid_barrier(warp, instr, access, element);
    }
    tell_acquire(warp, instr, access, detail.ordering);
    return;
  }
  const std::size_t bytes = element.lane_bytes;
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    std::byte* const row = warp.row(instr.rows[i]);
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    if (element.memory_bytes == element.lane_bytes) {
      for (LaneMask left = active; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        copy_word(row + lane * bytes, access.host[lane] + offset, bytes);
      }
    } else {
      for (LaneMask left = active; left != 0; left &= left - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(left));
        widen(row + lane * bytes, access.host[lane] + offset, element);
      }
    }
  }
}

void execute_store(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const MemoryDetail*>(instr.detail);
  const Element& element = detail.element;
  WarpAccess access;
  fill_access(warp, instr, active, AccessKind::store, access);
  if (access.synchronises) {
    tell_release(warp, instr, access, detail.ordering);
    store_in_order(warp, instr, access, element);
    return;
  }
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::byte* const from = warp.row(instr.rows[i]);
    const std::size_t offset = std::size_t{i} * element.memory_bytes;
    for (LaneMask left = active; left != 0; left &= left - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(left));
      copy_word(access.host[lane] + offset, from + lane * element.lane_bytes, element.memory_bytes);
    }
  }
}

}  // namespace

std::vector<std::byte> stored_value(Warp& warp, const Instr& instr, int lane) {
  if (instr.execute != &execute_store) return {};
  const Element& element = static_cast<const MemoryDetail*>(instr.detail)->element;
  std::vector<std::byte> value;
  for (std::uint32_t i = 0; i < instr.count; ++i) {
    const std::byte* const from =
        warp.row(instr.rows[i]) + static_cast<std::size_t>(lane) * element.lane_bytes;
    value.insert(value.end(), from, from + element.memory_bytes);
  }
  return value;
}

namespace {

/// Takes what says how an access is ordered and cached. Caches are coherent here, so only how it
/// synchronises with other threads counts.
AccessWords take_words(DecodeContext& context) {
  AccessWords words;
  Ordering& ordering = words.ordering;
  const std::string_view order =
      context.take_one_of({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"});
  ordering.synchronises = !order.empty();
  ordering.is_volatile = order == "volatile";
  if (order == "mmio") context.take("relaxed");
  ordering.acquires = order == "acquire" || order == "acq_rel";
  ordering.releases = order == "release" || order == "acq_rel";
  // Within a block barriers and clocks of warps order; a fence is what other blocks need.
  if (context.take_one_of({"cta", "cluster", "gpu", "sys"}) == "cta") {
    ordering.acquires = ordering.releases = false;
  }
  context.take_one_of({"weak"});
  for (;;) {
    const std::string_view word = context.take_one_of({"ca",
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
                                                       "L2::evict_first"});
    if (word.empty()) return words;
    if (word == "L2::cache_hint") words.policies = 1;
  }
}

/// Address, space and element of a load or store of `value`.
void decode_access(DecodeContext& context, Instr& out, std::size_t address, std::size_t value,
                   bool load) {
  MemoryDetail detail;
  const Space stated = take_space(context, &detail.in_cluster);
  detail.space = stated;
  const AccessWords words = take_words(context);
  detail.ordering = words.ordering;
  context.expect_operands(2 + words.policies);
  const std::string_view vector = context.take_one_of({"v2", "v4", "v8"});
  const Type type = context.take_type();
  const auto& values = context.operand(value);
  const auto& first = values.kind == ptx::Operand::Kind::vector ? values.elements.at(0) : values;
  Type reg = context.register_type(first);
  if (reg == Type::none) reg = type;  // an immediate, or a destination that is thrown away
  detail.element.memory_bytes = static_cast<std::uint8_t>(ptx::bits_of(type) / 8);
  detail.element.lane_bytes = static_cast<std::uint8_t>(lane_bytes(reg));
  detail.element.is_signed = ptx::name_of(type).starts_with('s');
  const int register_bytes = detail.element.lane_bytes;
  if (type == Type::pred || detail.element.memory_bytes == 0 ||
      detail.element.memory_bytes > register_bytes ||
      (register_bytes > 8 && detail.element.memory_bytes != register_bytes)) {
    context.fail("has an element type that the register cannot hold");
  }
  const auto rows = load ? context.destinations(values, reg) : context.sources(values, reg);
  const std::size_t wanted = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
  if (rows.size() != wanted) {
    context.fail(fmt::format("has {} registers, but needs {}", rows.size(), wanted));
  }
  if (detail.element.memory_bytes * wanted > 16) context.fail("moves more than 16 bytes at once");
  context.set_rows(out, rows);
  const Space named = decode_address(context, address, out);
  // A variable's own space wins: arguments of calls are named as .param but lie in local memory.
  if (named != Space::generic && (detail.space == Space::param || detail.space == Space::generic)) {
    detail.space = named;
  }
  out.unit = unit_of(detail.space);
  if (out.unit == Unit::constant) {
    // Parameters become operands of what uses them, other constants are read on the way.
    const bool is_long = detail.element.memory_bytes == 8 && type != Type::f64;
    context.traits().work = Work::compute;
    context.traits().slots = load && stated == Space::param ? 0.0F : is_long ? kLongSlots : 1.0F;
  }
  out.detail = context.keep(detail);
  out.execute = load ? &execute_load : &execute_store;
}

void decode_ld(DecodeContext& context, Instr& out) {
  decode_access(context, out, 1, 0, true);
}

void decode_st(DecodeContext& context, Instr& out) {
  decode_access(context, out, 0, 1, false);
}

struct AtomicDetail {
  Space space = Space::generic;
  bool in_cluster = false;  ///< .shared::cluster
  AtomicFunction apply = nullptr;
  AtomicFunction apply_global = nullptr;
  int bytes = 4;
  std::size_t elements = 1;  ///< of a vector, `bytes` each
  bool fetches = true;
  bool only_writes = false;  ///< an exchange: memory need not hold anything before
  Ordering ordering;
};

/// Fills the access and says that it releases.
void begin_atomic(Warp& warp, const Instr& instr, LaneMask active, const AtomicDetail& detail,
                  WarpAccess& access) {
  access.space = detail.space;
  access.in_cluster = detail.in_cluster;
  access.kind = detail.only_writes ? AccessKind::store : AccessKind::atomic;
  access.bytes = detail.bytes * static_cast<int>(detail.elements);
  access.element_bytes = detail.bytes;
  access.lanes = active;
  access.synchronises = true;
  fill_addresses(warp, instr, active, access.address);
  if (detail.elements > 1 && active != 0 && space_of(access) != AccessSpace::global) {
    warp.fail(instr, active, Finding::invalid_operand,
              "is a vector atomic, which can update only global memory",
              access.address[std::countr_zero(active)]);
  }
  resolve(warp, instr, access);
  tell_release(warp, instr, access, detail.ordering);
}

/// Each element by itself. Rows: first those of the old values, if they are wanted.
void execute_vector_atomic(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const AtomicDetail*>(instr.detail);
  WarpAccess access;
  begin_atomic(warp, instr, active, detail, access);
  const auto bytes = static_cast<std::size_t>(detail.bytes);
  const std::uint32_t* const values = instr.rows + (detail.fetches ? detail.elements : 0);
  for_active(active, [&](int lane) {
    const std::size_t place = static_cast<std::size_t>(lane) * bytes;
    std::byte old[16];
    for (std::size_t i = 0; i < detail.elements; ++i) {
      const std::byte* const value = warp.row(values[i]) + place;
      detail.apply_global(access.host[lane] + i * bytes, value, value, old + i * bytes);
    }
    for (std::size_t i = 0; detail.fetches && i < detail.elements; ++i) {
      copy_word(warp.row(instr.rows[i]) + place, old + i * bytes, bytes);
    }
  });
  tell_acquire(warp, instr, access, detail.ordering);
}

void execute_atomic(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const AtomicDetail*>(instr.detail);
  WarpAccess access;
  begin_atomic(warp, instr, active, detail, access);
  const auto bytes = static_cast<std::size_t>(detail.bytes);
  const bool global = space_of(access) == AccessSpace::global;
  const AtomicFunction apply = global ? detail.apply_global : detail.apply;
  for_active(active, [&](int lane) {
    const std::size_t place = static_cast<std::size_t>(lane) * bytes;
    const std::byte* const value = warp.row(instr.b) + place;
    const std::byte* const swap = instr.c == kNoRow ? value : warp.row(instr.c) + place;
    std::byte old[16];
    apply(access.host[lane], value, swap, old);
    if (is_grid_barrier(warp, access, lane)) {
      std::memcpy(&warp.block().grid_arrival().before, old, sizeof(std::uint32_t));
    }
    if (detail.fetches) copy_word(warp.row(instr.d) + place, old, bytes);
  });
  tell_acquire(warp, instr, access, detail.ordering);
}

// {atom,red}.global.{add,min,max}{.noftz}.{v2,v4,v8}.type {d,} [a], {...}.
void decode_vector_atomic(DecodeContext& context, Instr& out, AtomicDetail& detail,
                          std::string_view operation) {
  const Type type = context.take_type();
  detail.apply_global = find_vector_atomic(operation, type);
  detail.bytes = lane_bytes(type);
  const std::size_t bytes = detail.elements * static_cast<std::size_t>(detail.bytes);
  if (detail.apply_global == nullptr || bytes > 16) {
    context.fail("is a vector atomic operation that the emulator does not support");
  }
  const std::size_t first = detail.fetches ? 1 : 0;
  std::vector<std::uint32_t> rows;
  if (detail.fetches) rows = context.destinations(context.operand(0), type);
  const std::size_t fetched = rows.size();
  for (const std::uint32_t row : context.sources(context.operand(first + 1), type)) {
    rows.push_back(row);
  }
  if (rows.size() != (first + 1) * detail.elements ||
      (detail.fetches && fetched != detail.elements)) {
    context.fail(
        fmt::format("must list exactly {} registers in each vector operand", detail.elements));
  }
  context.set_rows(out, rows);
  const Space named = decode_address(context, first, out);
  if (detail.space == Space::generic) detail.space = named;
  if (detail.space != Space::generic && detail.space != Space::global) {
    context.fail("is a vector atomic, which can update only global memory");
  }
  out.unit = unit_of(detail.space);
  out.detail = context.keep(detail);
  out.execute = &execute_vector_atomic;
}

void decode_atomic(DecodeContext& context, Instr& out, bool fetches) {
  AtomicDetail detail;
  detail.fetches = fetches;
  detail.space = take_space(context, &detail.in_cluster);
  const AccessWords words = take_words(context);
  detail.ordering = words.ordering;
  const std::string_view operation =
      context.take_one_of({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  context.take("noftz");
  if (const auto vector = context.take_one_of({"v2", "v4", "v8"}); !vector.empty()) {
    detail.elements = static_cast<std::size_t>(vector[1] - '0');
    context.expect_operands((fetches ? 3 : 2) + words.policies);
    decode_vector_atomic(context, out, detail, operation);
    return;
  }
  const Type type = context.take_type();
  detail.apply = find_atomic(operation, type);
  detail.apply_global = find_global_atomic(operation, type);
  if (detail.apply == nullptr)
    context.fail("is an atomic operation that the emulator does not support");
  detail.bytes = lane_bytes(type);
  detail.only_writes = operation == "exch";
  const std::size_t first = fetches ? 1 : 0;
  const bool compares = operation == "cas";
  context.expect_operands(first + (compares ? 3 : 2) + words.policies);
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
  for (const std::string_view part : context.left()) {
    if (part == "exch" || part == "cas")
      context.fail("has no result register, but exch and cas need one");
  }
  decode_atomic(context, out, false);
}

void execute_nothing(Warp&, const Instr&, LaneMask) {}

/// Hints that move no value a kernel could see.
template <std::size_t operands>
void decode_hint(DecodeContext& context, Instr& out) {
  static_cast<void>(take_space(context));
  take_words(context);
  context.take_one_of({"L1", "L2", "tensormap"});
  context.take_one_of({"L2::evict_last", "L2::evict_normal"});
  context.expect_operands(operands);
  out.execute = &execute_nothing;
}

void execute_policy(Warp& warp, const Instr& instr, LaneMask active) {
  for_active(active, [&](int lane) { put(warp.row(instr.d), lane, std::uint64_t{0}); });
}

/// A cache policy is a number that only accesses with L2::cache_hint look at, and here not even
/// these.
void decode_policy(DecodeContext& context, Instr& out) {
  const std::string_view kind = context.take_one_of({"fractional", "range", "cvt"});
  if (kind.empty()) context.fail("creates a cache policy that the emulator does not support");
  if (kind == "range") context.take("global");
  context.take("L2");
  // The primary priority, and what the rest of the accesses gets.
  for (int i = 0; i < 2; ++i) {
    context.take_one_of(
        {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"});
  }
  context.take("b64");
  if (kind == "range") context.expect_operands(4);
  if (kind == "cvt") context.expect_operands(2);
  if (kind == "fractional" && context.operands() != 1) context.expect_operands(2);
  out.d = context.destination(0, Type::b64);
  out.execute = &execute_policy;
}

constexpr Traits kLoad{.work = Work::load, .flow = Flow::loaded};
constexpr Traits kStore{.work = Work::store};

constexpr Opcode kMemoryOpcodes[] = {
    {"ld", {}, &decode_ld, Unit::global, kLoad},
    {"ldu", {}, &decode_ld, Unit::global, kLoad},
    {"st", {}, &decode_st, Unit::global, kStore},
    {"atom", {}, &decode_atom, Unit::global, kLoad},
    {"red", {}, &decode_red, Unit::global, kStore},
    {"prefetch", {}, &decode_hint<1>, Unit::control},
    {"prefetchu", {}, &decode_hint<1>, Unit::control},
    {"applypriority", {}, &decode_hint<2>, Unit::control},
    {"discard", {}, &decode_hint<2>, Unit::control},
    {"createpolicy", {}, &decode_policy, Unit::integer, {.slots = kLongSlots}},
};

}  // namespace

std::span<const Opcode> memory_opcodes() {
  return kMemoryOpcodes;
}

}  // namespace kiln::emulated
