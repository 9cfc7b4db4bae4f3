// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/async/tensor_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "runtime/emulated/arith/small_floats.hpp"

namespace kiln::emulated {
namespace {

constexpr std::uint32_t kMagic = 0x4B544D31;  // "KTM1"
constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 32U;
constexpr std::uint64_t kMaxStride = std::uint64_t{1} << 40U;

template <class Enum>
bool is_at_most(Enum value, Enum last) {
  return static_cast<int>(value) <= static_cast<int>(last);
}

std::string enumeration_fault(const TensorSpec& spec) {
  if (!is_at_most(spec.mode, TensorMode::im2col)) {
    return "the mode of the tensor map is unknown; the known modes are tiled and im2col";
  }
  if (!is_at_most(spec.type, TensorType::tf32_ftz)) {
    return fmt::format(
        "data type {} does not exist on Hopper; Hopper has no packed 4-bit or 6-bit types",
        static_cast<int>(spec.type));
  }
  if (!is_at_most(spec.interleave, TensorInterleave::bytes32))
    return "the interleave mode has an unknown value";
  if (spec.interleave != TensorInterleave::none)
    return "the emulator does not support interleaved layouts";
  if (!is_at_most(spec.swizzle, Swizzle::bytes128)) {
    return fmt::format("swizzle mode {} does not exist on Hopper; use none, 32B, 64B or 128B",
                       static_cast<int>(spec.swizzle));
  }
  if (!is_at_most(spec.promotion, L2Promotion::bytes256))
    return "the L2 promotion has an unknown value";
  if (!is_at_most(spec.fill, OutOfBoundsFill::nan))
    return "the out-of-bounds fill has an unknown value";
  if (spec.fill == OutOfBoundsFill::nan && !is_floating(spec.type)) {
    return "out-of-bounds fill with NaN needs a floating-point data type";
  }
  return "";
}

std::string tensor_fault(const TensorSpec& spec) {
  const int least = spec.mode == TensorMode::im2col ? 3 : 1;
  if (spec.rank < least || spec.rank > 5) {
    return fmt::format("the rank must be from {} to 5; it is {}", least, spec.rank);
  }
  if (spec.address % 16 != 0) {
    return fmt::format("the global address must be a multiple of 16; it is {:#x}", spec.address);
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    if (spec.dims[d] == 0 || spec.dims[d] > kMaxDim) {
      return fmt::format("the size of global dimension {} must be from 1 to 2^32; it is {}", d,
                         spec.dims[d]);
    }
    // Without interleaving the driver ignores the first one.
    if (d > 0 && (spec.element_strides[d] == 0 || spec.element_strides[d] > 8)) {
      return fmt::format("the element stride of dimension {} must be from 1 to 8; it is {}", d,
                         spec.element_strides[d]);
    }
  }
  for (std::size_t d = 0; d + 1 < static_cast<std::size_t>(spec.rank); ++d) {
    if (spec.strides[d] % 16 != 0 || spec.strides[d] >= kMaxStride) {
      return fmt::format(
          "global stride {} must be a multiple of 16 bytes and less than 2^40 bytes; it is {} "
          "bytes",
          d, spec.strides[d]);
    }
  }
  return "";
}

std::string inner_fault(const TensorSpec& spec, std::uint64_t inner) {
  const std::uint32_t span = swizzle_span(spec.swizzle);
  if (span != 0 && inner > span) {
    return fmt::format(
        "a row of the box has {} bytes, but the swizzle mode allows at most {} bytes", inner, span);
  }
  return "";
}

std::string tiled_fault(const TensorSpec& spec) {
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    if (spec.box[d] == 0 || spec.box[d] > 256) {
      return fmt::format("the size of box dimension {} must be from 1 to 256; it is {}", d,
                         spec.box[d]);
    }
  }
  const std::uint64_t inner = spec.box[0] * static_cast<std::uint64_t>(bytes_of(spec.type));
  if (inner % 16 != 0) {
    return fmt::format("the size of box dimension 0 must be a multiple of 16 bytes; it is {} bytes",
                       inner);
  }
  return inner_fault(spec, inner);
}

std::string im2col_fault(const TensorSpec& spec) {
  if (spec.channels == 0 || spec.channels > 256) {
    return fmt::format("the number of channels per pixel must be from 1 to 256; it is {}",
                       spec.channels);
  }
  if (spec.pixels == 0 || spec.pixels > 1024) {
    return fmt::format("the number of pixels per column must be from 1 to 1024; it is {}",
                       spec.pixels);
  }
  const int limit = spec.rank == 3 ? 32768 : spec.rank == 4 ? 128 : 16;
  for (std::size_t i = 0; i + 2 < static_cast<std::size_t>(spec.rank); ++i) {
    for (const int corner : {spec.lower[i], spec.upper[i]}) {
      if (corner < -limit || corner >= limit) {
        return fmt::format(
            "corner coordinate {} of the pixel box is {}; for rank {}, corner coordinates must be "
            "from {} to {}",
            i, corner, spec.rank, -limit, limit - 1);
      }
    }
    if (static_cast<std::int64_t>(spec.dims[i + 1]) + spec.upper[i] <= spec.lower[i]) {
      return fmt::format(
          "the pixel box is empty along dimension {}: the tensor's size ({}) plus the upper corner "
          "({}) must be greater than the lower corner ({})",
          i + 1, spec.dims[i + 1], spec.upper[i], spec.lower[i]);
    }
  }
  return inner_fault(spec, spec.channels * static_cast<std::uint64_t>(bytes_of(spec.type)));
}

template <class To, class From>
void copy_into(To& to, const From& from) {
  std::transform(std::begin(from), std::end(from), std::begin(to), [](const auto& value) {
    return static_cast<std::decay_t<decltype(*std::begin(to))>>(value);
  });
}

}  // namespace

int bytes_of(TensorType type) {
  switch (type) {
    case TensorType::u8:
      return 1;
    case TensorType::u16:
    case TensorType::f16:
    case TensorType::bf16:
      return 2;
    case TensorType::u64:
    case TensorType::s64:
    case TensorType::f64:
      return 8;
    default:
      return 4;
  }
}

bool is_floating(TensorType type) {
  return type >= TensorType::f16;
}

std::uint64_t fill_nan(TensorType type) {
  return 0x7FF77FF77FF77FF7U >> static_cast<unsigned>(64 - 8 * bytes_of(type));
}

std::uint64_t loaded(TensorType type, std::uint64_t bits) {
  const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  switch (type) {
    case TensorType::tf32:
    case TensorType::tf32_ftz:
      return tf32_of_f32(value, Rounding::nearest_even);
    default:
      return bits;
  }
}

std::string fault_of(const TensorSpec& spec) {
  for (const auto rule : {enumeration_fault, tensor_fault,
                          spec.mode == TensorMode::im2col ? im2col_fault : tiled_fault}) {
    std::string fault = rule(spec);
    if (!fault.empty()) return fault;
  }
  return "";
}

EncodedTensorMap encode_tensor_map(const TensorSpec& spec) {
  EncodedTensorMap result{};
  result.fault = fault_of(spec);
  if (!result.fault.empty()) return result;
  TensorMap& map = result.map;
  map.magic = kMagic;
  map.mode = static_cast<std::uint8_t>(spec.mode);
  map.type = static_cast<std::uint8_t>(spec.type);
  map.rank = static_cast<std::uint8_t>(spec.rank);
  map.interleave = static_cast<std::uint8_t>(spec.interleave);
  map.swizzle = static_cast<std::uint8_t>(spec.swizzle);
  map.promotion = static_cast<std::uint8_t>(spec.promotion);
  map.fill = static_cast<std::uint8_t>(spec.fill);
  map.channels = static_cast<std::uint16_t>(spec.channels);
  map.pixels = static_cast<std::uint16_t>(spec.pixels);
  map.address = spec.address;
  copy_into(map.strides, spec.strides);
  copy_into(map.box, spec.box);
  copy_into(map.element_strides, spec.element_strides);
  copy_into(map.lower, spec.lower);
  copy_into(map.upper, spec.upper);
  for (std::size_t d = 0; d < 5; ++d) map.dims[d] = static_cast<std::uint32_t>(spec.dims[d] - 1);
  return result;
}

DecodedTensorMap decode_tensor_map(const TensorMap& map) {
  DecodedTensorMap result;
  if (map.magic != kMagic) {
    result.fault = "the 128 bytes at this address are not a tensor map of the emulated GPU";
    return result;
  }
  TensorSpec& spec = result.spec;
  spec.mode = static_cast<TensorMode>(map.mode);
  spec.type = static_cast<TensorType>(map.type);
  spec.rank = map.rank;
  spec.interleave = static_cast<TensorInterleave>(map.interleave);
  spec.swizzle = static_cast<Swizzle>(map.swizzle);
  spec.promotion = static_cast<L2Promotion>(map.promotion);
  spec.fill = static_cast<OutOfBoundsFill>(map.fill);
  spec.channels = map.channels;
  spec.pixels = map.pixels;
  spec.address = map.address;
  copy_into(spec.strides, map.strides);
  copy_into(spec.box, map.box);
  copy_into(spec.element_strides, map.element_strides);
  copy_into(spec.lower, map.lower);
  copy_into(spec.upper, map.upper);
  for (std::size_t d = 0; d < 5; ++d) spec.dims[d] = std::uint64_t{map.dims[d]} + 1;
  result.fault = fault_of(spec);
  return result;
}

std::uint64_t box_bytes(const TensorSpec& spec) {
  const auto size = static_cast<std::uint64_t>(bytes_of(spec.type));
  if (spec.mode == TensorMode::im2col) return size * spec.pixels * spec.channels;
  std::uint64_t bytes = size * spec.box[0];
  for (std::size_t d = 1; d < static_cast<std::size_t>(spec.rank); ++d) {
    bytes *= (spec.box[d] + spec.element_strides[d] - 1) / spec.element_strides[d];
  }
  return bytes;
}

std::uint32_t row_pitch(const TensorSpec& spec) {
  // The programming guide: where the swizzle is wider than the inner dimension, shared memory must
  // have room for the full width.
  if (spec.swizzle != Swizzle::none) return swizzle_span(spec.swizzle);
  const std::uint32_t count = spec.mode == TensorMode::im2col ? spec.channels : spec.box[0];
  return count * static_cast<std::uint32_t>(bytes_of(spec.type));
}

}  // namespace kiln::emulated
