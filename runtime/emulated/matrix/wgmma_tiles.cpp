// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// wgmma's operands in shared memory: from descriptors to dense matrices.
#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/async/async_memory.hpp"
#include "runtime/emulated/matrix/matrix_descriptor.hpp"
#include "runtime/emulated/matrix/wgmma_detail.hpp"

namespace kiln::emulated {
namespace {

constexpr int kChunk = 16;

/// Visits the chunks row by row as they lie in memory: `count` rows of 32 bytes where neighbours
/// lie along K, else K rows of `count` elements (of 16 bits, the only ones that may).
template <class Visit>
void for_each_chunk(const WgmmaTile& tile, const MatrixDescriptor& descriptor, const Visit& visit) {
  if (tile.along_k) {
    for (int row = tile.first; row < tile.first + tile.count; ++row) {
      for (int at = 0; at < kWgmmaBytes; at += kChunk) {
        visit(element_address<1>(descriptor, true, at, row));
      }
    }
    return;
  }
  for (int row = 0; row < kWgmmaBytes / 2; ++row) {
    for (int at = 2 * tile.first; at < 2 * (tile.first + tile.count); at += kChunk) {
      visit(element_address<1>(descriptor, false, at, row));
    }
  }
}

MatrixDescriptor descriptor_of(Warp& warp, const Instr& instr, const WgmmaTile& tile) {
  if ((tile.descriptor & kDescriptorReserved) != 0) {
    warp.fail(instr, warp.live(), Finding::invalid_operand,
              fmt::format("is given {:#018x}, which is not a matrix descriptor", tile.descriptor));
  }
  return decode_descriptor(tile.descriptor);
}

void check_inside(Warp& warp, const Instr& instr, std::uint32_t address) {
  if (warp.block().shared_holds(address, kChunk)) return;
  warp.fail(instr, warp.live(), Finding::out_of_bounds,
            fmt::format("reads a matrix at offset {}, outside the {} bytes of shared memory",
                        std::int64_t{address} - kSharedBase, warp.block().shared_bytes()),
            address);
}

template <class From, class To, class Convert>
void convert(const std::byte* raw, std::size_t count, To* to, const Convert& one) {
  for (std::size_t i = 0; i < count; ++i) {
    From from;
    std::memcpy(&from, raw + i * sizeof(From), sizeof from);
    to[i] = one(from);
  }
}

void decode_elements(MatrixType type, const std::byte* raw, std::size_t count, float* to) {
  switch (type) {
    case MatrixType::f16:
      return convert<std::uint16_t>(raw, count, to,
                                    [](std::uint16_t bits) { return f32_of_f16(bits); });
    case MatrixType::bf16:
      return convert<std::uint16_t>(raw, count, to,
                                    [](std::uint16_t bits) { return f32_of_bf16(bits); });
    case MatrixType::e4m3:
      return convert<std::uint8_t>(raw, count, to,
                                   [](std::uint8_t bits) { return f32_of_e4m3(bits); });
    case MatrixType::e5m2:
      return convert<std::uint8_t>(raw, count, to,
                                   [](std::uint8_t bits) { return f32_of_e5m2(bits); });
    default:
      return convert<std::uint32_t>(raw, count, to,
                                    [](std::uint32_t bits) { return f32_of_tf32(bits); });
  }
}

void decode_elements(MatrixType type, const std::byte* raw, std::size_t count, std::int32_t* to) {
  if (type == MatrixType::s8) {
    return convert<std::int8_t>(raw, count, to,
                                [](std::int8_t value) { return std::int32_t{value}; });
  }
  convert<std::uint8_t>(raw, count, to, [](std::uint8_t value) { return std::int32_t{value}; });
}

/// A decoded matrix, and what it was made of. The four warps of a warpgroup read the same B one
/// after the other; as long as its bytes are the same, it is decoded once.
template <class T>
struct Decoded {
  WgmmaTile tile;
  std::vector<std::byte> raw;
  std::vector<T> values;

  [[nodiscard]] bool is(const WgmmaTile& other, const std::vector<std::byte>& bytes) const {
    return tile.descriptor == other.descriptor && tile.type == other.type &&
           tile.first == other.first && tile.along_k == other.along_k && raw == bytes;
  }
};

template <class T>
void transpose(const std::vector<T>& from, std::size_t rows, std::size_t cols, std::vector<T>& to) {
  to.resize(from.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) to[col * rows + row] = from[row * cols + col];
  }
}

}  // namespace

std::vector<SharedRun> tile_chunks(Warp& warp, const Instr& instr, const WgmmaTile& tile) {
  std::vector<SharedRun> runs;
  for_each_chunk(tile, descriptor_of(warp, instr, tile), [&](std::uint32_t address) {
    check_inside(warp, instr, address);
    runs.push_back({address, kChunk});
  });
  return runs;
}

template <class T>
const T* read_tile(Warp& warp, const Instr& instr, const WgmmaTile& tile, bool transposed) {
  thread_local std::vector<std::byte> raw;
  thread_local std::vector<T> plain;
  thread_local std::array<std::array<Decoded<T>, 8>, 2> cache;
  // Rows of 32 bytes, or 16 rows of 16 bits each: the same number of bytes.
  raw.resize(static_cast<std::size_t>(tile.count) * kWgmmaBytes);
  std::byte* to = raw.data();
  for_each_chunk(tile, descriptor_of(warp, instr, tile), [&](std::uint32_t address) {
    check_inside(warp, instr, address);
    std::memcpy(to, warp.block().shared(address), kChunk);
    to += kChunk;
  });
  // Steps along K differ in the low bits of the start address.
  auto& slots = cache[transposed ? 1 : 0];
  Decoded<T>& slot = slots[(tile.descriptor >> 1U) % slots.size()];
  if (slot.is(tile, raw)) return slot.values.data();
  slot.tile = tile;
  slot.raw = raw;
  const std::size_t count = raw.size() * 8 / static_cast<std::size_t>(bits_of(tile.type));
  plain.resize(count);
  decode_elements(tile.type, raw.data(), count, plain.data());
  if (tile.along_k == transposed) {
    const auto rows = tile.along_k ? static_cast<std::size_t>(tile.count) : std::size_t{16};
    transpose(plain, rows, count / rows, slot.values);
  } else {
    slot.values = plain;
  }
  return slot.values.data();
}

template const float* read_tile(Warp&, const Instr&, const WgmmaTile&, bool);
template const std::int32_t* read_tile(Warp&, const Instr&, const WgmmaTile&, bool);

}  // namespace kiln::emulated
