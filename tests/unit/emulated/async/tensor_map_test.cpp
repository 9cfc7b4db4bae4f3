// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/async/tensor_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/emulated/matrix/matrix_descriptor.hpp"

namespace kiln::emulated {
namespace {

using ::testing::HasSubstr;
using Coordinates = std::array<std::int32_t, 5>;

TensorSpec matrix_of_f16() {
  TensorSpec spec;
  spec.type = TensorType::f16;
  spec.rank = 2;
  spec.address = 0x10000;
  spec.dims = {100, 37};
  spec.strides = {208};
  spec.box = {64, 16};
  spec.swizzle = Swizzle::bytes128;
  return spec;
}

TensorSpec image_of_bf16() {  // rank 4: C, W, H, N
  TensorSpec spec;
  spec.mode = TensorMode::im2col;
  spec.type = TensorType::bf16;
  spec.rank = 4;
  spec.address = 0x10000;
  spec.dims = {64, 9, 14, 64};
  spec.strides = {128, 1152, 16128};
  spec.lower = {-1, -1};
  spec.upper = {-1, -1};
  spec.channels = 8;
  spec.pixels = 64;
  return spec;
}

TEST(TensorMap, ComesBackFromIts128Bytes) {
  TensorSpec spec = matrix_of_f16();
  spec.rank = 5;
  spec.dims = {1, std::uint64_t{1} << 32U, 3, 4, 5};
  spec.strides = {(std::uint64_t{1} << 40U) - 16, 0, 32, 16};
  spec.box = {64, 256, 1, 2, 3};
  spec.element_strides = {1, 8, 2, 3, 4};
  spec.promotion = L2Promotion::bytes256;
  spec.fill = OutOfBoundsFill::nan;
  const EncodedTensorMap encoded = encode_tensor_map(spec);
  EXPECT_EQ(encoded.fault, "");
  const DecodedTensorMap decoded = decode_tensor_map(encoded.map);
  EXPECT_EQ(decoded.fault, "");
  EXPECT_EQ(decoded.spec, spec);

  TensorSpec image = image_of_bf16();
  image.dims[4] = 1;
  const DecodedTensorMap image_back = decode_tensor_map(encode_tensor_map(image).map);
  EXPECT_EQ(image_back.fault, "");
  EXPECT_EQ(image_back.spec, image);
}

TEST(TensorMap, EveryRuleOfTheDriverIsNamedWhenBroken) {
  struct Case {
    std::function<void(TensorSpec&)> change;
    std::string words;
  };
  const Case cases[] = {
      {[](TensorSpec& s) { s.rank = 0; }, "rank must be from 1 to 5; it is 0"},
      {[](TensorSpec& s) { s.rank = 6; }, "it is 6"},
      {[](TensorSpec& s) { s.address += 8; }, "global address must be a multiple of 16"},
      {[](TensorSpec& s) { s.dims[1] = 0; }, "the size of global dimension 1 must be"},
      {[](TensorSpec& s) { s.dims[0] = (1ULL << 32U) + 1; }, "global dimension 0"},
      {[](TensorSpec& s) { s.strides[0] = 200; }, "global stride 0 must be a multiple of 16"},
      {[](TensorSpec& s) { s.strides[0] = 1ULL << 40U; }, "less than 2^40"},
      {[](TensorSpec& s) { s.box[1] = 0; }, "box dimension 1 must be from 1 to 256"},
      {[](TensorSpec& s) { s.box[1] = 257; }, "box dimension 1"},
      {[](TensorSpec& s) { s.box[0] = 60; }, "multiple of 16 bytes; it is 120"},
      {[](TensorSpec& s) { s.box[0] = 72; }, "144 bytes, but the swizzle mode allows at most 128"},
      {[](TensorSpec& s) { s.swizzle = Swizzle::bytes64; }, "at most 64 bytes"},
      {[](TensorSpec& s) { s.swizzle = Swizzle::bytes32; }, "at most 32 bytes"},
      {[](TensorSpec& s) { s.swizzle = static_cast<Swizzle>(4); }, "swizzle mode 4 does not exist"},
      {[](TensorSpec& s) { s.element_strides[1] = 0; },
       "element stride of dimension 1 must be from 1 to 8"},
      {[](TensorSpec& s) { s.element_strides[1] = 9; }, "element stride of dimension 1"},
      {[](TensorSpec& s) { s.type = static_cast<TensorType>(13); }, "data type 13 does not exist"},
      {[](TensorSpec& s) { s.interleave = TensorInterleave::bytes16; },
       "does not support interleaved layouts"},
      {[](TensorSpec& s) { s.interleave = static_cast<TensorInterleave>(3); }, "interleave"},
      {[](TensorSpec& s) { s.promotion = static_cast<L2Promotion>(4); }, "L2 promotion"},
      {[](TensorSpec& s) { s.fill = static_cast<OutOfBoundsFill>(2); }, "out-of-bounds fill"},
      {[](TensorSpec& s) { s.mode = static_cast<TensorMode>(2); }, "mode"},
      {[](TensorSpec& s) {
         s.type = TensorType::u16;
         s.fill = OutOfBoundsFill::nan;
       },
       "needs a floating-point data type"},
  };
  EXPECT_EQ(fault_of(matrix_of_f16()), "");
  for (const Case& each : cases) {
    TensorSpec spec = matrix_of_f16();
    each.change(spec);
    EXPECT_THAT(encode_tensor_map(spec).fault, HasSubstr(each.words));
  }
}

TEST(TensorMap, EveryRuleOfIm2colIsNamedWhenBroken) {
  struct Case {
    std::function<void(TensorSpec&)> change;
    std::string words;
  };
  const Case cases[] = {
      {[](TensorSpec& s) { s.rank = 2; }, "rank must be from 3 to 5"},
      {[](TensorSpec& s) { s.channels = 257; }, "channels per pixel must be from 1 to 256"},
      {[](TensorSpec& s) { s.channels = 0; }, "channels"},
      {[](TensorSpec& s) { s.pixels = 1025; }, "pixels per column must be from 1 to 1024"},
      {[](TensorSpec& s) { s.lower[1] = -129; },
       "corner coordinate 1 of the pixel box is -129; for rank 4, corner coordinates must be from "
       "-128 to 127"},
      {[](TensorSpec& s) { s.upper[0] = 128; }, "coordinate 0"},
      {[](TensorSpec& s) { s.upper[0] = -10; }, "pixel box is empty along dimension 1"},
      {[](TensorSpec& s) {
         s.swizzle = Swizzle::bytes32;
         s.channels = 32;
       },
       "at most 32 bytes"},
  };
  EXPECT_EQ(fault_of(image_of_bf16()), "");
  for (const Case& each : cases) {
    TensorSpec spec = image_of_bf16();
    each.change(spec);
    EXPECT_THAT(fault_of(spec), HasSubstr(each.words));
  }
}

/// Where each byte of a copy comes from, by shared address; nothing: outside of the tensor.
using Copied = std::map<std::uint32_t, std::optional<std::uint64_t>>;

template <class ForEach>
Copied collect(const ForEach& for_each) {
  Copied copied;
  for_each([&copied](const TensorPiece& piece) {
    EXPECT_GT(piece.bytes, 0U);
    for (std::uint32_t i = 0; i < piece.bytes; ++i) {
      const auto from = piece.inside ? std::optional(piece.global + i) : std::nullopt;
      EXPECT_TRUE(copied.emplace(piece.shared + i, from).second) << "written twice";
    }
  });
  return copied;
}

/// Element by element, straight from the definition of tiled mode.
Copied expected_tiled(const TensorSpec& spec, const Coordinates& at, std::uint32_t shared) {
  Copied copied;
  const auto size = static_cast<std::uint32_t>(bytes_of(spec.type));
  std::array<std::uint32_t, 5> counts{1, 1, 1, 1, 1};
  for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
    const std::uint32_t step = d == 0 ? 1 : spec.element_strides[d];
    counts[d] = static_cast<std::uint32_t>(
        std::ceil(static_cast<double>(spec.box[d]) / static_cast<double>(step)));
  }
  const std::uint32_t total = counts[0] * counts[1] * counts[2] * counts[3] * counts[4];
  for (std::uint32_t n = 0; n < total; ++n) {
    std::uint32_t rest = n;
    bool inside = true;
    std::uint64_t global = spec.address;
    for (std::size_t d = 0; d < static_cast<std::size_t>(spec.rank); ++d) {
      const std::int64_t step = d == 0 ? 1 : spec.element_strides[d];
      const std::int64_t where = at[d] + step * (rest % counts[d]);
      rest /= counts[d];
      inside = inside && where >= 0 && where < static_cast<std::int64_t>(spec.dims[d]);
      global += static_cast<std::uint64_t>(where) * (d == 0 ? size : spec.strides[d - 1]);
    }
    const std::uint32_t pitch =
        spec.swizzle == Swizzle::none ? counts[0] * size : swizzle_span(spec.swizzle);
    for (std::uint32_t byte = 0; byte < size; ++byte) {
      const std::uint32_t plain = shared + n / counts[0] * pitch + n % counts[0] * size + byte;
      copied[swizzled(spec.swizzle, plain)] = inside ? std::optional(global + byte) : std::nullopt;
    }
  }
  return copied;
}

void expect_tiled(const TensorSpec& spec, const Coordinates& at, std::uint32_t shared) {
  ASSERT_EQ(fault_of(spec), "");
  const Copied copied =
      collect([&](const auto& visit) { for_each_piece(spec, at, shared, false, visit); });
  EXPECT_EQ(copied, expected_tiled(spec, at, shared));
  EXPECT_EQ(copied.size(), box_bytes(spec));
}

TEST(TensorMap, BoxesOfMatricesInsideAndAcrossTheEdges) {
  const TensorSpec spec = matrix_of_f16();
  for (const Coordinates& at : {Coordinates{0, 0},
                                {8, 3},
                                {64, 32},
                                {-5, -2},
                                {100, 0},
                                {99, 36},
                                {-64, 0},
                                {0, -16},
                                {2000000000, 2000000000},
                                {-2147483647 - 1, 0}}) {
    expect_tiled(spec, at, 0x400);
    expect_tiled(spec, at, 0x480);  // elsewhere in the pattern
  }
  for (const Swizzle mode : {Swizzle::none, Swizzle::bytes32, Swizzle::bytes64}) {
    TensorSpec other = spec;
    other.swizzle = mode;
    if (mode != Swizzle::none) other.box[0] = swizzle_span(mode) / 2;
    expect_tiled(other, {90, 30}, 0x200);
  }
  TensorSpec narrow = spec;  // rows of 32 bytes in a pattern of 128
  narrow.box[0] = 16;
  expect_tiled(narrow, {90, 30}, 0x400);
}

TEST(TensorMap, DamagedBytesAreRefusedOrStillABox) {
  TensorMap map{};
  EXPECT_THAT(decode_tensor_map(map).fault, HasSubstr("not a tensor map"));
  const TensorMap good = encode_tensor_map(matrix_of_f16()).map;
  int refused = 0;
  for (std::size_t at = 0; at < sizeof(TensorMap); ++at) {
    map = good;
    reinterpret_cast<unsigned char*>(&map)[at] = 0xFF;
    const DecodedTensorMap decoded = decode_tensor_map(map);
    if (!decoded.fault.empty()) {
      ++refused;
      continue;
    }
    std::uint64_t bytes = 0;
    for_each_piece(decoded.spec, {}, 0, false,
                   [&](const TensorPiece& piece) { bytes += piece.bytes; });
    EXPECT_EQ(bytes, box_bytes(decoded.spec)) << "byte " << at;
  }
  EXPECT_GE(refused, 16);
  TensorSpec huge = matrix_of_f16();
  huge.rank = 5;
  huge.type = TensorType::f64;
  huge.swizzle = Swizzle::none;
  huge.dims = {1, 1, 1, 1, 1};
  huge.box = {256, 256, 256, 256, 256};
  EXPECT_EQ(fault_of(huge), "");
  EXPECT_EQ(box_bytes(huge), std::uint64_t{1} << 43U);
}

TEST(TensorMap, EveryRankWithSkippedElements) {
  for (int rank = 1; rank <= 5; ++rank) {
    for (const TensorType type : {TensorType::u8, TensorType::f32, TensorType::f64}) {
      TensorSpec spec;
      spec.type = type;
      spec.rank = rank;
      spec.address = 0x1000;
      spec.dims = {20, 5, 4, 3, 2};
      const auto size = static_cast<std::uint64_t>(bytes_of(type));
      spec.strides = {32 * size, 192 * size, 960 * size, 3200 * size};
      spec.box = {16, 5, 3, 3, 2};
      spec.element_strides = {1, 2, 1, 3, 2};
      expect_tiled(spec, {8, 1, 2, -1, 0}, 0x80);
      expect_tiled(spec, {-3, -1, 0, 1, 1}, 0);
    }
  }
}

// A tile that a bulk copy wrote is the matrix that a wgmma descriptor reads.
TEST(TensorMap, WgmmaFindsWhatACopyWrote) {
  TensorSpec spec = matrix_of_f16();
  spec.dims = {512, 512};
  spec.strides = {1024};
  spec.box = {64, 64};
  const Copied copied = collect([&](const auto& visit) {
    for_each_piece(spec, {128, 64}, 0x1000, false, visit);
  });
  const MatrixDescriptor by_rows{0x1000, 16, 1024, 0, Swizzle::bytes128};
  for (int row = 0; row < 64; ++row) {
    for (int column = 0; column < 64; ++column) {
      const auto from =
          0x10000U + static_cast<std::uint64_t>((64 + row) * 1024 + (128 + column) * 2);
      // K along rows: 16 columns a step, 32 bytes further.
      MatrixDescriptor step = by_rows;
      step.start += static_cast<std::uint32_t>(column / 16) * 32U;
      EXPECT_EQ(copied.at(element_address<2>(step, true, column % 16, row)), from);
      // The same bytes as a transposed operand: columns are M or N, rows are K.
      const MatrixDescriptor turned{0x1000, 8192, 1024, 0, Swizzle::bytes128};
      EXPECT_EQ(copied.at(element_address<2>(turned, false, column, row)), from);
    }
  }
}

/// Positions that an im2col copy visits, as (w, h, n) of the walk before offsets.
std::vector<std::array<int, 3>> walk(const TensorSpec& spec, std::array<int, 3> at) {
  std::vector<std::array<int, 3>> positions;
  const int last_w = static_cast<int>(spec.dims[1]) - 1 + spec.upper[0];
  const int last_h = static_cast<int>(spec.dims[2]) - 1 + spec.upper[1];
  const int step_w = static_cast<int>(spec.element_strides[1]);
  const int step_h = static_cast<int>(spec.element_strides[2]);
  for (int n = at[2], h = at[1], w = at[0]; positions.size() < spec.pixels; ++n) {
    for (; h <= last_h && positions.size() < spec.pixels; h += step_h) {
      for (; w <= last_w && positions.size() < spec.pixels; w += step_w) {
        positions.push_back({w, h, n});
      }
      w = spec.lower[0];
    }
    h = spec.lower[1];
  }
  return positions;
}

TEST(TensorMap, Im2colWalksTheBoundingBoxes) {
  struct Case {
    std::array<int, 2> lower, upper;
    std::array<std::uint16_t, 3> offsets;
    std::uint32_t step;
  };
  // The examples of the ISA: a 3x3 filter with and without padding, and every other pixel.
  for (const Case& each : {Case{{-1, -1}, {-1, -1}, {0, 0}, 1}, Case{{0, 0}, {-2, -2}, {2, 2}, 1},
                           Case{{-1, -1}, {-1, -1}, {1, 1}, 2}}) {
    TensorSpec spec = image_of_bf16();
    spec.lower = {each.lower[0], each.lower[1]};
    spec.upper = {each.upper[0], each.upper[1]};
    spec.element_strides = {1, each.step, each.step, 1, 1};
    ASSERT_EQ(fault_of(spec), "");
    const int channel = 60;  // four of the eight channels are beyond the tensor
    const Copied copied = collect([&](const auto& visit) {
      for_each_im2col_piece(spec, {channel, 6, 6, 63, 0}, each.offsets, 0x100, false, visit);
    });
    EXPECT_EQ(copied.size(), box_bytes(spec));
    const auto positions = walk(spec, {6, 6, 63});
    bool next_image = false;
    for (std::uint32_t pixel = 0; pixel < spec.pixels; ++pixel) {
      const auto [w0, h0, n] = positions[pixel];
      next_image = next_image || n == 64;
      const int w = w0 + each.offsets[0];
      const int h = h0 + each.offsets[1];
      for (int c = 0; c < 8; ++c) {
        const bool inside = channel + c < 64 && w >= 0 && w < 9 && h >= 0 && h < 14 && n < 64;
        const std::int64_t element = ((n * 14LL + h) * 9 + w) * 64 + channel + c;
        const std::uint32_t shared = 0x100 + pixel * 16 + static_cast<std::uint32_t>(c) * 2;
        EXPECT_EQ(copied.at(shared),
                  inside ? std::optional(0x10000 + static_cast<std::uint64_t>(element) * 2)
                         : std::nullopt);
      }
    }
    EXPECT_TRUE(next_image);
  }
}

TEST(TensorMap, TypesHaveSizesFillsAndConversions) {
  EXPECT_EQ(bytes_of(TensorType::u8), 1);
  EXPECT_EQ(bytes_of(TensorType::bf16), 2);
  EXPECT_EQ(bytes_of(TensorType::tf32), 4);
  EXPECT_EQ(bytes_of(TensorType::f64), 8);
  EXPECT_FALSE(is_floating(TensorType::s64));
  EXPECT_TRUE(is_floating(TensorType::f16));
  EXPECT_EQ(fill_nan(TensorType::bf16), 0x7FF7U);
  EXPECT_EQ(fill_nan(TensorType::f32), 0x7FF77FF7U);
  EXPECT_EQ(fill_nan(TensorType::f64), 0x7FF77FF77FF77FF7U);
  EXPECT_EQ(loaded(TensorType::tf32, 0x3F801000U), 0x3F800000U);
  EXPECT_EQ(loaded(TensorType::tf32, 0x3F803000U), 0x3F804000U);
  EXPECT_EQ(loaded(TensorType::f32, 0x00000001U), 1U);
  EXPECT_EQ(loaded(TensorType::f32_ftz, 0x80000001U), 0x80000001U);
  EXPECT_EQ(loaded(TensorType::tf32, 0xFFC01234U), 0x7FFFE000U);
  EXPECT_EQ(loaded(TensorType::tf32_ftz, 0x00000001U), 0U);
  EXPECT_EQ(loaded(TensorType::f64, ~0ULL), ~0ULL);
}

TEST(TensorMap, StoresLeaveOutWholeChunksOnly) {
  TensorSpec spec;
  spec.type = TensorType::u16;
  spec.rank = 2;
  spec.dims = {21, 2};  // the third chunk of a row holds 5 elements of the tensor
  spec.strides = {64};
  spec.box = {32, 2};
  const auto inside = [&](bool stores) {
    std::uint64_t bytes = 0;
    for_each_piece(spec, {8, 0}, 0, stores, [&](const TensorPiece& piece) {
      if (piece.inside) bytes += piece.bytes;
    });
    return bytes;
  };
  EXPECT_EQ(inside(false), 2U * (21 - 8) * 2);
  EXPECT_EQ(inside(true), 2U * (24 - 8) * 2);
}

}  // namespace
}  // namespace kiln::emulated
