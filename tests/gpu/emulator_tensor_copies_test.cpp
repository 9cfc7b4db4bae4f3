// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Bulk and tensor copies: what arrives in shared memory and in the tensor, byte by byte.
#include <fmt/format.h>

#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

using emulated::OutOfBoundsFill;
using emulated::Swizzle;
using emulated::TensorMode;
using emulated::TensorSpec;
using emulated::TensorType;

constexpr std::size_t kBoxBytes = 16384;

struct CopyCase {
  const char* name;
  TensorSpec spec;
  std::array<int, 3> at;
  Element element = Element::bits;
};

class TensorCopies : public EmulatorPair, public ::testing::WithParamInterface<CopyCase> {};

/// One thread's tensor copy between a tensor and `box`, 16 KiB that begin as 0xee or as input 1.
std::string source_of(int rank, bool im2col, const std::string& operation) {
  std::string at;
  for (int i = 0; i < rank; ++i) at += fmt::format("{}%{}", i == 0 ? "" : ", ", 3 + i);
  std::string numbers;
  for (int i = 0; i < rank; ++i) {
    numbers += i < 3 ? fmt::format(", \"r\"(args.numbers[{}])", i) : std::string(", \"r\"(1)");
  }
  std::string body;
  if (operation == "load") {
    const std::string offsets = im2col ? std::string(", {o, o}") : "";
    body = fmt::format(
        "    asm volatile(\"{{\\n.reg .b16 o;\\nmov.b16 o, 1;\\ncp.async.bulk.tensor.{}d"
        ".shared::cluster.global{}.mbarrier::complete_tx::bytes [%0], [%1, {{{}}}], [%2]{};\\n}}\" "
        ":: \"r\"(smem(box)), \"l\"(&args.maps[0]), \"r\"(smem(&bar)){} : \"memory\");\n",
        rank, im2col ? ".im2col" : ".tile", at, offsets, numbers);
  } else {
    body = fmt::format(
        "    asm volatile(\"{}.{}d.global.shared::cta{}.tile.bulk_group [%1, {{{}}}], [%0];\\n"
        "cp.async.bulk.commit_group;\\ncp.async.bulk.wait_group 0;\" :: \"r\"(smem(box)), "
        "\"l\"(&args.maps[0]), \"r\"(0){} : \"memory\");\n",
        operation == "store" ? "cp.async.bulk.tensor" : "cp.reduce.async.bulk.tensor", rank,
        operation == "store" ? "" : "." + operation, at, numbers);
  }
  const bool load = operation == "load";
  return fmt::format(
      R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {{
  __shared__ __align__(1024) u32 box[{}];
  __shared__ __align__(8) u64 bar;
  const u32 t = threadIdx.x;
  for (int i = t; i < {}; i += 128) box[i] = {};
  if (t == 0) {{ mbar_init(&bar, 1); fence_init(); }}
  fence_async();
  __syncthreads();
  if (t == 0) {{
{}{}  }}
{}
}}
)",
      kBoxBytes / 4, kBoxBytes / 4, load ? "0xeeeeeeeeu" : "static_cast<const u32*>(args.in[1])[i]",
      load ? "    mbar_expect(&bar, args.numbers[3]);\n" : "", body,
      load ? fmt::format("  mbar_wait(&bar, 0);\n  for (int i = t; i < {}; i += 128) "
                         "static_cast<u32*>(args.out)[i] = box[i];",
                         kBoxBytes / 4)
           : "");
}

TensorSpec matrix(TensorType type, std::uint32_t rows, std::uint32_t columns,
                  std::uint32_t box_rows, std::uint32_t box_columns, Swizzle swizzle,
                  OutOfBoundsFill fill = OutOfBoundsFill::zero) {
  TensorSpec spec;
  spec.type = type;
  spec.rank = 2;
  spec.dims = {columns, rows};
  // A pitch of more than the row, in multiples of 16 bytes.
  const auto bytes = static_cast<std::uint64_t>(emulated::bytes_of(type));
  spec.strides = {(columns * bytes + 31) / 16 * 16};
  spec.box = {box_columns, box_rows};
  spec.swizzle = swizzle;
  spec.fill = fill;
  return spec;
}

TEST_P(TensorCopies, LoadTheSameBytes) {
  const CopyCase& test = GetParam();
  PairRun run;
  const bool im2col = test.spec.mode == TensorMode::im2col;
  run.source = source_of(test.spec.rank, im2col, "load");
  run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {elements(test.element, 1 << 17, Values::real, 21)};
  run.maps = {{0, test.spec}};
  run.numbers = {test.at[0], test.at[1], test.at[2],
                 static_cast<int>(emulated::box_bytes(test.spec))};
  run.out_bytes = kBoxBytes;
  const auto result = this->run(run);
  ASSERT_TRUE(result);
  expect_identical(*result);
}

std::vector<CopyCase> load_cases() {
  using enum Swizzle;
  using T = TensorType;
  TensorSpec strided = matrix(T::u32, 64, 40, 32, 16, none);
  strided.element_strides = {1, 3};
  TensorSpec volume = matrix(T::f16, 24, 40, 8, 32, bytes64);
  volume.rank = 3;
  volume.dims[2] = 10;
  volume.strides[1] = 2048;
  volume.box[2] = 4;
  TensorSpec line;
  line.type = T::u8;
  line.rank = 1;
  line.dims = {1000};
  line.box = {256};
  TensorSpec image;
  image.mode = TensorMode::im2col;
  image.type = T::f16;
  image.rank = 4;
  image.dims = {64, 9, 7, 3};
  image.strides = {128, 128 * 9, 128 * 63};
  image.lower = {-1, -1};
  image.upper = {-1, -1};
  image.channels = 64;
  image.pixels = 96;
  image.swizzle = bytes128;
  return {
      {"plain", matrix(T::u16, 50, 60, 16, 32, none), {8, 4, 0}},
      {"plain_over_both_ends", matrix(T::u16, 50, 60, 16, 32, none), {40, 44, 0}},
      {"plain_before_the_start", matrix(T::u32, 50, 60, 16, 32, none), {-8, -3, 0}},
      {"swizzle_128", matrix(T::f16, 100, 130, 64, 64, bytes128), {64, 16, 0}},
      {"swizzle_128_ragged", matrix(T::f16, 100, 130, 64, 64, bytes128), {104, 60, 0}},
      {"swizzle_64", matrix(T::f16, 100, 130, 64, 32, bytes64), {32, 10, 0}},
      {"swizzle_64_ragged", matrix(T::bf16, 100, 130, 64, 32, bytes64), {-8, -9, 0}},
      {"swizzle_32", matrix(T::f32, 100, 130, 64, 8, bytes32), {16, 10, 0}},
      {"swizzle_32_ragged", matrix(T::f32, 100, 130, 64, 8, bytes32), {124, 70, 0}},
      {"swizzle_128_short_rows", matrix(T::f16, 100, 130, 64, 24, bytes128), {16, 8, 0}},
      {"swizzle_64_short_rows", matrix(T::u8, 100, 130, 40, 32, bytes64), {16, 8, 0}},
      {"swizzle_32_short_rows", matrix(T::u8, 100, 130, 40, 16, bytes32), {16, 8, 0}},
      {"nan_f16", matrix(T::f16, 20, 24, 16, 32, none, OutOfBoundsFill::nan), {8, 10, 0}},
      {"nan_bf16", matrix(T::bf16, 20, 24, 16, 32, none, OutOfBoundsFill::nan), {-8, -10, 0}},
      {"nan_f32", matrix(T::f32, 20, 24, 16, 32, none, OutOfBoundsFill::nan), {8, 10, 0}},
      {"nan_f64", matrix(T::f64, 20, 24, 16, 16, none, OutOfBoundsFill::nan), {18, 10, 0}},
      {"nan_tf32", matrix(T::tf32, 20, 24, 16, 32, none, OutOfBoundsFill::nan), {8, 10, 0}},
      {"tf32_rounds", matrix(T::tf32, 64, 64, 32, 32, bytes128), {0, 0, 0}, Element::f32},
      {"tf32_ties", matrix(T::tf32, 64, 64, 32, 32, none), {0, 0, 0}, Element::ties},
      {"tf32_of_any_bits", matrix(T::tf32, 64, 64, 32, 32, none), {0, 0, 0}, Element::bits},
      {"tf32_ftz_of_any_bits", matrix(T::tf32_ftz, 64, 64, 32, 32, none), {0, 0, 0}, Element::bits},
      {"f32_ftz_of_any_bits", matrix(T::f32_ftz, 64, 64, 32, 32, none), {0, 0, 0}, Element::bits},
      {"element_strides", strided, {4, 2, 0}},
      {"volume", volume, {16, 20, 8}},
      {"line", line, {912, 0, 0}},
      {"image_columns", image, {0, 3, 2}, Element::f16},
  };
}

INSTANTIATE_TEST_SUITE_P(All, TensorCopies, ::testing::ValuesIn(load_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

class TensorPlaces : public EmulatorPair {};

struct StoreCase {
  const char* name;
  const char* operation;  ///< "store", or a reduction
  TensorSpec spec;
  std::array<int, 3> at;
  Element element = Element::bits;
};

class TensorStores : public EmulatorPair, public ::testing::WithParamInterface<StoreCase> {};

TEST_P(TensorStores, LeaveTheSameTensor) {
  const StoreCase& test = GetParam();
  PairRun run;
  run.source = source_of(test.spec.rank, false, test.operation);
  run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {Bytes(16), elements(test.element, kBoxBytes, Values::whole, 22)};
  run.maps = {{-1, test.spec}};
  run.numbers = {test.at[0], test.at[1], test.at[2], 0};
  run.out = elements(test.element, 1 << 16, Values::whole, 23);
  const auto result = this->run(run);
  ASSERT_TRUE(result);
  expect_identical(*result);
}

std::vector<StoreCase> store_cases() {
  using enum Swizzle;
  using T = TensorType;
  return {
      {"store", "store", matrix(T::u16, 50, 60, 16, 32, none), {8, 4, 0}},
      {"store_ragged", "store", matrix(T::u16, 50, 60, 16, 32, none), {40, 44, 0}},
      {"store_128", "store", matrix(T::f16, 100, 130, 64, 64, bytes128), {104, 60, 0}},
      {"store_64", "store", matrix(T::f16, 100, 130, 64, 32, bytes64), {32, 10, 0}},
      {"store_bytes_ragged", "store", matrix(T::u8, 50, 61, 16, 32, none), {48, 44, 0}},
      {"store_32", "store", matrix(T::f32, 100, 100, 64, 8, bytes32), {16, 10, 0}},
      {"add_f32", "add", matrix(T::f32, 50, 60, 16, 32, bytes128), {40, 44, 0}, Element::f32},
      {"add_f16", "add", matrix(T::f16, 50, 60, 16, 32, none), {8, 4, 0}, Element::f16},
      {"add_bf16", "add", matrix(T::bf16, 50, 60, 16, 32, none), {8, 4, 0}, Element::bf16},
      {"add_f16_ragged", "add", matrix(T::f16, 50, 60, 16, 32, none), {40, 44, 0}, Element::f16},
      {"add_s32_ragged", "add", matrix(T::s32, 50, 61, 16, 32, none), {40, 44, 0}},
      {"add_s32", "add", matrix(T::s32, 50, 60, 16, 32, none), {8, 4, 0}},
      {"min_u32", "min", matrix(T::u32, 50, 60, 16, 32, none), {8, 4, 0}},
      {"max_s32", "max", matrix(T::s32, 50, 60, 16, 32, none), {8, 4, 0}},
      {"max_f16", "max", matrix(T::f16, 50, 60, 16, 32, none), {8, 4, 0}, Element::f16},
      {"and_u32", "and", matrix(T::u32, 50, 60, 16, 32, none), {8, 4, 0}},
      {"xor_u64", "xor", matrix(T::u64, 50, 60, 16, 16, none), {8, 4, 0}},
      {"inc_u32", "inc", matrix(T::u32, 50, 60, 16, 32, none), {8, 4, 0}},
  };
}

INSTANTIATE_TEST_SUITE_P(All, TensorStores, ::testing::ValuesIn(store_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

// An illegal instruction loses the context: each of these needs a process of its own.
TEST_F(TensorPlaces, TheFirstCoordinateCountsWholeChunks) {
  PairRun run;
  run.source = source_of(2, false, "load");
  run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 1 << 17, Values::real, 21)};
  run.maps = {{0, matrix(TensorType::u32, 50, 60, 16, 32, Swizzle::none)}};
  run.numbers = {6, 3, 0, 16 * 32 * 4};
  run.out_bytes = kBoxBytes;
  expect_refusal(run, "misaligned");
}

TEST_F(TensorPlaces, CoordinatesOfStoresAreNotNegative) {
  PairRun run;
  run.source = source_of(2, false, "store");
  run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {Bytes(16), elements(Element::bits, kBoxBytes, Values::whole, 22)};
  run.maps = {{-1, matrix(TensorType::u16, 50, 60, 16, 32, Swizzle::none)}};
  run.numbers = {8, -3, 0, 0};
  run.out_bytes = 1 << 16;
  expect_refusal(run, "invalid_operand");
}

class BulkCopies : public EmulatorPair {};

TEST_F(BulkCopies, ThereAndBackWithReductions) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void k(const __grid_constant__ Args args) {
  __shared__ __align__(16) u32 box[1024];
  __shared__ __align__(8) u64 bar;
  const u32 t = threadIdx.x;
  if (t == 0) { mbar_init(&bar, 1); fence_init(); }
  __syncthreads();
  if (t == 0) {
    mbar_expect(&bar, 4096);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], 4096, [%2];"
                 ::"r"(smem(box)), "l"(args.in[0]), "r"(smem(&bar)) : "memory");
  }
  mbar_wait(&bar, 0);
  for (int i = t; i < 1024; i += 128) box[i] += i;
  fence_async();
  __syncthreads();
  if (t == 0) {
    char* const out = static_cast<char*>(args.out);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;" ::"l"(out),
        "r"(smem(box)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 1024;"
        ::"l"(out + 2048), "r"(smem(box)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.max.s32 [%0], [%1], 1024;"
        ::"l"(out + 3072), "r"(smem(box) + 512) : "memory");
    asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
  }
}
)";
  run.geometry = {{1, 1, 1}, {128, 1, 1}, {1, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 4096, Values::whole, 24)};
  run.out = elements(Element::bits, 4096, Values::whole, 25);
  const auto result = this->run(run);
  ASSERT_TRUE(result);
  expect_identical(*result);
}

}  // namespace
}  // namespace kiln::testing
