// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "runtime/emulated/memory/swizzle.hpp"

/// \file
/// Tensor maps: what cp.async.bulk.tensor needs to know about a tensor in global memory and the box
/// that it copies. CUDA's 128 bytes are opaque, so these are Kiln's own. Enumerations have CUDA's
/// order (CUtensorMapDataType and its kin), and arrays begin with the innermost dimension.

namespace kiln::emulated {

enum class TensorType : std::uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f64,
  bf16,
  f32_ftz,
  tf32,
  tf32_ftz
};
enum class TensorMode : std::uint8_t { tiled, im2col };
/// Only `none` is emulated.
enum class TensorInterleave : std::uint8_t { none, bytes16, bytes32 };
enum class L2Promotion : std::uint8_t { none, bytes64, bytes128, bytes256 };
enum class OutOfBoundsFill : std::uint8_t { zero, nan };

[[nodiscard]] int bytes_of(TensorType type);
[[nodiscard]] bool is_floating(TensorType type);
/// The NaN that OutOfBoundsFill::nan writes, in the type's own bytes: 0x7ff7, repeated.
[[nodiscard]] std::uint64_t fill_nan(TensorType type);
/// What a load makes of the bits of an element: both kinds of tf32 round to nearest even, all
/// others copy. The _ftz types flush nothing here, as on an H200.
[[nodiscard]] std::uint64_t loaded(TensorType type, std::uint64_t bits);

/// The arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col. Elements of arrays past
/// the rank mean nothing.
struct TensorSpec {
  TensorMode mode = TensorMode::tiled;
  TensorType type = TensorType::u8;
  int rank = 0;
  std::uint64_t address = 0;               ///< in global memory
  std::array<std::uint64_t, 5> dims{};     ///< in elements
  std::array<std::uint64_t, 4> strides{};  ///< in bytes, of dimensions 1 and up
  std::array<std::uint32_t, 5> box{};      ///< tiled: in elements, skipped ones included
  std::array<std::uint32_t, 5> element_strides{1, 1, 1, 1, 1};
  TensorInterleave interleave = TensorInterleave::none;
  Swizzle swizzle = Swizzle::none;
  L2Promotion promotion = L2Promotion::none;
  OutOfBoundsFill fill = OutOfBoundsFill::zero;
  // im2col only. Corners are of dimensions 1 to rank - 2 (W, H, D), as offsets from the first and
  // the last position.
  std::array<int, 3> lower{};
  std::array<int, 3> upper{};
  std::uint32_t channels = 0;  ///< per pixel
  std::uint32_t pixels = 0;    ///< per column

  [[nodiscard]] bool operator==(const TensorSpec&) const = default;
};

/// The 128 bytes that a kernel gets as a parameter or finds in memory.
struct alignas(64) TensorMap {
  std::uint32_t magic;
  std::uint8_t mode, type, rank, interleave;
  std::uint8_t swizzle, promotion, fill, reserved;
  std::uint16_t channels, pixels;
  std::uint64_t address;
  std::uint64_t strides[4];
  std::uint32_t dims[5];  ///< less one, because 2^32 is allowed
  std::uint16_t box[5];
  std::uint8_t element_strides[5];
  std::uint8_t reserved_after[1];
  std::int16_t lower[3], upper[3];
  std::uint8_t reserved_end[24];
};
static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64);

/// The rule of the CUDA driver's documentation that `spec` breaks, in words and with the numbers,
/// or what of it the emulator lacks; empty when there is none.
[[nodiscard]] std::string fault_of(const TensorSpec& spec);

struct EncodedTensorMap {
  TensorMap map;
  std::string fault;  ///< of the arguments; empty when `map` is good
};
[[nodiscard]] EncodedTensorMap encode_tensor_map(const TensorSpec& spec);

struct DecodedTensorMap {
  TensorSpec spec;
  std::string fault;  ///< not a tensor map, or one with impossible contents; empty when good
};
/// Any 128 bytes are safe to decode.
[[nodiscard]] DecodedTensorMap decode_tensor_map(const TensorMap& map);

/// Bytes that one copy moves, and for which it completes the mbarrier: the whole box, whether or
/// not it lies in the tensor. No rule keeps it below the size of shared memory: ask before copying.
[[nodiscard]] std::uint64_t box_bytes(const TensorSpec& spec);
/// From one row of the box to the next in shared memory: its bytes, or the span of the swizzle.
[[nodiscard]] std::uint32_t row_pitch(const TensorSpec& spec);

/// A run of bytes of a copy, in both memories. Outside of the tensor (`inside` false) `global` is
/// 0; loads fill such bytes and stores leave them out.
struct TensorPiece {
  std::uint64_t global;
  std::uint32_t shared;
  std::uint32_t bytes;
  bool inside;
};

/// The first coordinate's bytes and what stores clip are multiples of this.
inline constexpr std::int64_t kTensorChunk = 16;

namespace detail {

/// One row of a box: elements first to first + count - 1 of dimension 0. `row_global` is the
/// address of element 0 of the row; `shared` is where it goes before the swizzle.
template <class Visit>
void visit_row(const TensorSpec& spec, std::int64_t first, std::int64_t count, bool row_inside,
               bool stores, std::uint64_t row_global, std::uint32_t shared, Visit& visit) {
  const std::int64_t size = bytes_of(spec.type);
  auto dim = static_cast<std::int64_t>(spec.dims[0]);
  if (stores) dim = (dim * size + kTensorChunk - 1) / kTensorChunk * kTensorChunk / size;
  const auto clamped = [count](std::int64_t at) {
    return at < 0 ? std::int64_t{0} : (at > count ? count : at);
  };
  const std::int64_t begin = row_inside ? clamped(-first) : count;
  const std::int64_t end = row_inside ? clamped(dim - first) : count;
  // Bytes of the row at which the next piece must end.
  const std::int64_t bounds[3] = {begin * size, (end > begin ? end : begin) * size, count * size};
  std::int64_t at = 0;
  for (int part = 0; part < 3; ++part) {
    while (at < bounds[part]) {
      std::int64_t next = bounds[part];
      if (spec.swizzle != Swizzle::none && next > at / 16 * 16 + 16) next = at / 16 * 16 + 16;
      const bool inside = part == 1;
      const auto offset = static_cast<std::uint64_t>(first * size + at);
      visit(TensorPiece{inside ? row_global + offset : 0,
                        swizzled(spec.swizzle, shared + static_cast<std::uint32_t>(at)),
                        static_cast<std::uint32_t>(next - at), inside});
      at = next;
    }
  }
}

}  // namespace detail

/// Visits the pieces of a tiled copy, rows in order. `coordinates` are those of the instruction,
/// innermost first; `shared` is the address of the box in shared memory. `spec` has no fault. What
/// lies outside is left out of a store in whole chunks of 16 bytes only, as on an H200: where a row
/// of the tensor ends within one, the rest of it is written, too.
template <class Visit>
void for_each_piece(const TensorSpec& spec, const std::array<std::int32_t, 5>& coordinates,
                    std::uint32_t shared, bool stores, Visit&& visit) {
  const std::uint32_t pitch = row_pitch(spec);
  std::array<std::uint32_t, 5> index{};  // within the box, of dimensions 1 and up, skipping
  for (bool more = true; more; shared += pitch) {
    bool inside = true;
    std::uint64_t row = spec.address;
    for (int i = 1; i < spec.rank; ++i) {
      const auto d = static_cast<std::size_t>(i);
      const std::int64_t at = std::int64_t{coordinates[d]} + index[d];
      inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < spec.dims[d];
      row += static_cast<std::uint64_t>(at) * spec.strides[d - 1];
    }
    detail::visit_row(spec, coordinates[0], spec.box[0], inside, stores, row, shared, visit);
    more = false;
    for (std::size_t d = 1; d < static_cast<std::size_t>(spec.rank) && !more; ++d) {
      index[d] += spec.element_strides[d];
      more = index[d] < spec.box[d];
      if (!more) index[d] = 0;
    }
  }
}

/// The same of an im2col copy: `pixels` rows of `channels` elements. Coordinates are (C, W, H, D,
/// N) with as many spatial ones as the rank has; they walk through the bounding box, W first, then
/// on to the next image. `offsets` (of the filter) are added to what they walk, and are not
/// bounded.
template <class Visit>
void for_each_im2col_piece(const TensorSpec& spec, std::array<std::int32_t, 5> coordinates,
                           const std::array<std::uint16_t, 3>& offsets, std::uint32_t shared,
                           bool stores, Visit&& visit) {
  const std::uint32_t pitch = row_pitch(spec);
  const auto last = static_cast<std::size_t>(spec.rank) - 1;  // N
  std::array<std::int64_t, 5> base{};
  for (std::size_t d = 0; d <= last; ++d) base[d] = coordinates[d];
  for (std::uint32_t pixel = 0; pixel < spec.pixels; ++pixel, shared += pitch) {
    bool inside = true;
    std::uint64_t row = spec.address;
    for (std::size_t d = 1; d <= last; ++d) {
      const std::int64_t at = base[d] + (d < last ? offsets[d - 1] : 0);
      inside = inside && at >= 0 && static_cast<std::uint64_t>(at) < spec.dims[d];
      row += static_cast<std::uint64_t>(at) * spec.strides[d - 1];
    }
    detail::visit_row(spec, base[0], spec.channels, inside, stores, row, shared, visit);
    bool carry = true;
    for (std::size_t d = 1; d < last && carry; ++d) {
      base[d] += spec.element_strides[d];
      const auto end = static_cast<std::int64_t>(spec.dims[d]) + spec.upper[d - 1];
      carry = base[d] >= end;
      if (carry) base[d] = spec.lower[d - 1];
    }
    if (carry) ++base[last];
  }
}

}  // namespace kiln::emulated
