// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/engine/warp.hpp"

/// \file
/// Loops over the lanes of a warp. An operation is a class with a static function `of`, which must
/// be defined for every bit pattern: the map functions compute all 32 lanes, so that compilers make
/// vector code of them, and then store those that are active. `per` elements stand in each lane, 2
/// for packed halves. Operations that cost much more than a store are done for active lanes only.

namespace kiln::emulated {

/// The bit of each lane; a table, because baseline x86-64 has no vector shift by lane.
inline constexpr LaneMask kLaneBit[kLanes] = {
    1U << 0,  1U << 1,  1U << 2,  1U << 3,  1U << 4,  1U << 5,  1U << 6,  1U << 7,
    1U << 8,  1U << 9,  1U << 10, 1U << 11, 1U << 12, 1U << 13, 1U << 14, 1U << 15,
    1U << 16, 1U << 17, 1U << 18, 1U << 19, 1U << 20, 1U << 21, 1U << 22, 1U << 23,
    1U << 24, 1U << 25, 1U << 26, 1U << 27, 1U << 28, 1U << 29, 1U << 30, 1U << 31};

/// Copies the lanes of `active`, which is not all of them. Lanes of 2, 4, 8 or 16 bytes.
void blend_lanes(std::byte* to, const std::byte* from, int lane_bytes, LaneMask active);

/// Copies the lanes of `active` from a row that does not overlap the other.
template <int kLaneBytes>
inline void store_lanes(std::byte* to, const std::byte* from, LaneMask active) {
  if (active == kAllLanes) {
    std::memcpy(to, from, std::size_t{kLanes} * kLaneBytes);
  } else {
    blend_lanes(to, from, kLaneBytes, active);
  }
}

template <class Body>
inline void for_active(LaneMask active, Body body) {
  for (LaneMask rest = active; rest != 0; rest &= rest - 1) body(std::countr_zero(rest));
}

/// d = F(a, ...), elements of type D from elements of types Sources.
template <class F, class D, int per, class... Sources, class... Rows>
inline void map_lanes(std::byte* d, LaneMask active, const Rows*... rows) {
  alignas(64) D out[kLanes * per];
  for (int i = 0; i < kLanes * per; ++i) out[i] = F::of(get<Sources>(rows, i)...);
  store_lanes<static_cast<int>(sizeof(D)) * per>(d, reinterpret_cast<const std::byte*>(out),
                                                 active);
}

/// The same for active lanes one after the other.
template <class F, class D, int per, class... Sources, class... Rows>
inline void map_each(std::byte* d, LaneMask active, const Rows*... rows) {
  for_active(active, [&](int lane) {
    for (int i = lane * per; i < (lane + 1) * per; ++i)
      put<D>(d, i, F::of(get<Sources>(rows, i)...));
  });
}

/// The lanes for which F(a, b) holds; element `part` of `per` in each lane.
template <class F, class T, int per = 1>
[[nodiscard]] inline LaneMask test_lanes(const std::byte* a, const std::byte* b, int part = 0) {
  LaneMask mask = 0;
  for (int i = 0; i < kLanes; ++i) {
    mask |= F::of(get<T>(a, i * per + part), get<T>(b, i * per + part)) ? kLaneBit[i] : 0U;
  }
  return mask;
}

// ---- executing functions ----

template <class F, class D, class A, int per = 1>
void execute_unary(Warp& warp, const Instr& instr, LaneMask active) {
  map_lanes<F, D, per, A>(warp.row(instr.d), active, warp.row(instr.a));
}
template <class F, class D, class A, class B = A, int per = 1>
void execute_binary(Warp& warp, const Instr& instr, LaneMask active) {
  map_lanes<F, D, per, A, B>(warp.row(instr.d), active, warp.row(instr.a), warp.row(instr.b));
}
template <class F, class D, class A, class B = A, class C = D, int per = 1>
void execute_ternary(Warp& warp, const Instr& instr, LaneMask active) {
  map_lanes<F, D, per, A, B, C>(warp.row(instr.d), active, warp.row(instr.a), warp.row(instr.b),
                                warp.row(instr.c));
}
template <class F, class D, class A, int per = 1>
void execute_unary_each(Warp& warp, const Instr& instr, LaneMask active) {
  map_each<F, D, per, A>(warp.row(instr.d), active, warp.row(instr.a));
}
template <class F, class D, class A, class B = A, int per = 1>
void execute_binary_each(Warp& warp, const Instr& instr, LaneMask active) {
  map_each<F, D, per, A, B>(warp.row(instr.d), active, warp.row(instr.a), warp.row(instr.b));
}
template <class F, class D, class A, class B = A, class C = D, int per = 1>
void execute_ternary_each(Warp& warp, const Instr& instr, LaneMask active) {
  map_each<F, D, per, A, B, C>(warp.row(instr.d), active, warp.row(instr.a), warp.row(instr.b),
                               warp.row(instr.c));
}

}  // namespace kiln::emulated
