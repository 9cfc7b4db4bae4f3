// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A whole Hopper matrix multiplication as NVRTC made it, where there is no NVRTC: a warp that
// copies 128B-swizzled tiles with tensor maps, and a warpgroup that multiplies them. The mutants of
// tests/compile/mutants/ cover its mistakes in full; a few here keep the chain whole.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/async/tensor_map.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::found_only;
using test::PtxRunner;

/// D = A[M x K] B[N x K]^T of bf16, 64 x 16 in each block, in steps of 64 along K, two stages.
std::string gemm_text() {
  std::ifstream file(std::string(KILN_SOURCE_DIR) + "/tests/data/ptx/hopper.ptx");
  std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_NE(text, "");
  return text;
}

constexpr int kM = 128;
constexpr int kN = 32;
constexpr int kK = 320;

int a_at(int m, int k) {
  return (m * 7 + k * 3) % 13 - 6;
}
int b_at(int n, int k) {
  return (n * 5 + k * 2) % 11 - 5;
}

TensorMap map_of(TensorType type, std::uint64_t address, std::uint32_t rows, std::uint32_t cols,
                 std::uint32_t box_rows, std::uint32_t box_cols, Swizzle swizzle) {
  TensorSpec spec;
  spec.type = type;
  spec.rank = 2;
  spec.address = address;
  spec.dims = {cols, rows};
  spec.strides = {cols * static_cast<std::uint64_t>(bytes_of(type))};
  spec.box = {box_cols, box_rows};
  spec.swizzle = swizzle;
  const EncodedTensorMap encoded = encode_tensor_map(spec);
  EXPECT_EQ(encoded.fault, "");
  return encoded.map;
}

template <class At>
std::vector<std::uint16_t> matrix(int rows, const At& at) {
  std::vector<std::uint16_t> values;
  for (int row = 0; row < rows; ++row) {
    for (int k = 0; k < kK; ++k) values.push_back(bf16_of_f32(static_cast<float>(at(row, k))));
  }
  return values;
}

struct GemmRun {
  LaunchResult result;
  std::vector<float> d;
};

GemmRun run_gemm(const std::string& text) {
  PtxRunner run(text, "gemm");
  const auto a = run.buffer(matrix(kM, a_at));
  const auto b = run.buffer(matrix(kN, b_at));
  const auto d = run.fresh_buffer(kM * kN * 4);
  const TensorMap maps[] = {map_of(TensorType::bf16, a, kM, kK, 64, 64, Swizzle::bytes128),
                            map_of(TensorType::bf16, b, kN, kK, 16, 64, Swizzle::bytes128),
                            map_of(TensorType::f32, d, kM, kN, 64, 16, Swizzle::none)};
  const std::int32_t steps = kK / 64;
  std::vector<std::byte> parameters(sizeof maps + sizeof steps);
  std::memcpy(parameters.data(), maps, sizeof maps);
  std::memcpy(parameters.data() + sizeof maps, &steps, sizeof steps);
  GemmRun outcome;
  outcome.result = run.launch_with({kN / 16, kM / 64, 1}, {160, 1, 1}, std::move(parameters));
  outcome.d = run.read<float>(d, kM * kN);
  return outcome;
}

/// The kernel with its one `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = gemm_text();
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(HopperGemm, MultipliesWithoutFindings) {
  const GemmRun outcome = run_gemm(gemm_text());
  EXPECT_FALSE(outcome.result.fault) << outcome.result.fault->describe();
  for (const Report& report : outcome.result.reports) ADD_FAILURE() << report.describe();
  for (int m = 0; m < kM; ++m) {
    for (int n = 0; n < kN; ++n) {
      int sum = 0;
      for (int k = 0; k < kK; ++k) sum += a_at(m, k) * b_at(n, k);
      ASSERT_EQ(outcome.d[static_cast<std::size_t>(m * kN + n)], static_cast<float>(sum))
          << m << " " << n;
    }
  }
}

TEST(HopperGemm, WithoutItsWaitForWgmmaItIsFound) {
  EXPECT_TRUE(found_only(run_gemm(changed("wgmma.wait_group.sync.aligned 0;", "")).result,
                         Finding::missing_wait));
}

TEST(HopperGemm, WithoutItsWgmmaFenceItIsFound) {
  EXPECT_TRUE(found_only(run_gemm(changed("wgmma.fence.sync.aligned;", "")).result,
                         Finding::missing_fence));
}

TEST(HopperGemm, WithoutAnyWaitForTheCopiesItIsFound) {
  // Consumers go on at once.
  EXPECT_TRUE(found_only(run_gemm(changed("@%p4 bra \t$L__BB0_6;", "")).result,
                         {Finding::missing_wait, Finding::race, Finding::invalid_operand}));
}

}  // namespace
}  // namespace kiln::emulated
