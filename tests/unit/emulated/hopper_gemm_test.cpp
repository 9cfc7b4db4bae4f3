// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A whole Hopper matrix multiplication as the compiler makes it from CUDA C++: a warp that copies
// 128B-swizzled tiles with tensor maps, and a warpgroup that multiplies them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "runtime/emulated/small_floats.hpp"
#include "runtime/emulated/tensor_map.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::PtxRunner;

/// D[64 x 16 of each block] = A[M x K] B[N x K]^T of bf16 in steps of 64 along K, two stages.
const std::string kGemm = R"(
.version 9.0
.target sm_90a
.address_size 64
.visible .entry gemm(
  .param .align 64 .b8 gemm_param_0[128],
  .param .align 64 .b8 gemm_param_1[128],
  .param .u64 gemm_param_2,
  .param .u32 gemm_param_3,
  .param .u32 gemm_param_4
)
.maxntid 160, 1, 1
{
  .reg .pred %p<9>;
  .reg .f32 %f<121>;
  .reg .b32 %r<77>;
  .reg .b64 %rd<57>;
  .shared .align 1024 .b8 tile_a[16384];
  .shared .align 1024 .b8 tile_b[4096];
  .shared .align 8 .b8 full[16];
  .shared .align 8 .b8 empty[16];
  mov.b64 %rd1, gemm_param_0;
  mov.b64 %rd2, gemm_param_1;
  ld.param.u64 %rd3, [gemm_param_2];
  ld.param.u32 %r8, [gemm_param_3];
  ld.param.u32 %r9, [gemm_param_4];
  mov.u32 %r10, %tid.x;
  setp.ne.s32 %p1, %r10, 0;
  @%p1 bra $L__BB0_2;
  mov.u64 %rd4, full;
  cvt.u32.u64 %r11, %rd4;
  mbarrier.init.shared::cta.b64 [%r11], 1;
  mov.u64 %rd5, empty;
  cvt.u32.u64 %r12, %rd5;
  mbarrier.init.shared::cta.b64 [%r12], 128;
  add.s64 %rd6, %rd4, 8;
  cvt.u32.u64 %r13, %rd6;
  mbarrier.init.shared::cta.b64 [%r13], 1;
  add.s64 %rd7, %rd5, 8;
  cvt.u32.u64 %r14, %rd7;
  mbarrier.init.shared::cta.b64 [%r14], 128;
  fence.mbarrier_init.release.cluster;
$L__BB0_2:
  bar.sync 0;
  shr.s32 %r15, %r9, 31;
  shr.u32 %r16, %r15, 26;
  add.s32 %r17, %r9, %r16;
  shr.s32 %r1, %r17, 6;
  shr.u32 %r19, %r10, 5;
  setp.eq.s32 %p2, %r19, 4;
  @%p2 bra $L__BB0_7;
  bra.uni $L__BB0_3;
$L__BB0_7:
  and.b32  %r52, %r10, 31;
  setp.ne.s32 %p5, %r52, 0;
  setp.lt.s32 %p6, %r9, 64;
  or.pred  %p7, %p5, %p6;
  @%p7 bra $L__BB0_10;
  mov.u32 %r75, 0;
  mov.u64 %rd43, empty;
  mov.u64 %rd45, full;
  mov.u64 %rd49, tile_a;
  cvta.param.u64 %rd39, %rd1;
  mov.u32 %r71, %ctaid.y;
  shl.b32 %r61, %r71, 6;
  mov.u64 %rd54, tile_b;
  cvta.param.u64 %rd40, %rd2;
  mov.u32 %r73, %ctaid.x;
  shl.b32 %r65, %r73, 4;
  mov.u32 %r76, %r75;
$L__BB0_9:
  .pragma "nounroll";
  shl.b32 %r67, %r76, 3;
  cvt.u64.u32 %rd41, %r67;
  and.b64  %rd42, %rd41, 8;
  add.s64 %rd44, %rd43, %rd42;
  cvt.u32.u64 %r55, %rd44;
  shr.u32 %r68, %r76, 1;
  not.b32 %r69, %r68;
  and.b32  %r56, %r69, 1;
  {
.reg .pred p;
LAB_WAIT_0:
mbarrier.try_wait.parity.shared::cta.b64 p, [%r55], %r56;
@p bra DONE_0;
bra LAB_WAIT_0;
DONE_0:
}
  add.s64 %rd46, %rd45, %rd42;
  cvt.u32.u64 %r66, %rd46;
  mov.u32 %r58, 10240;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r66], %r58;
  shl.b32 %r70, %r76, 13;
  cvt.u64.u32 %rd47, %r70;
  and.b64  %rd48, %rd47, 8192;
  add.s64 %rd50, %rd49, %rd48;
  cvt.u32.u64 %r59, %rd50;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [%r59], [%rd39, {%r75, %r61}], [%r66];
  shl.b32 %r72, %r76, 11;
  cvt.u64.u32 %rd52, %r72;
  and.b64  %rd53, %rd52, 2048;
  add.s64 %rd55, %rd54, %rd53;
  cvt.u32.u64 %r63, %rd55;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
      [%r63], [%rd40, {%r75, %r65}], [%r66];
  add.s32 %r75, %r75, 64;
  add.s32 %r76, %r76, 1;
  setp.lt.s32 %p8, %r76, %r1;
  @%p8 bra $L__BB0_9;
  bra.uni $L__BB0_10;
$L__BB0_3:
  setp.lt.s32 %p3, %r9, 64;
  mov.f32 %f105, 0f00000000;
  mov.f32 %f106, %f105;
  mov.f32 %f107, %f105;
  mov.f32 %f108, %f105;
  mov.f32 %f109, %f105;
  mov.f32 %f110, %f105;
  mov.f32 %f111, %f105;
  mov.f32 %f112, %f105;
  @%p3 bra $L__BB0_6;
  mov.u32 %r74, 0;
  mov.f32 %f105, 0f00000000;
  mov.u64 %rd18, full;
  mov.u64 %rd22, tile_a;
  mov.u64 %rd28, tile_b;
  mov.u64 %rd32, empty;
$L__BB0_5:
  .pragma "nounroll";
  mov.u32 %r26, 1;
  shl.b32 %r28, %r74, 3;
  cvt.u64.u32 %rd16, %r28;
  and.b64  %rd17, %rd16, 8;
  add.s64 %rd19, %rd18, %rd17;
  cvt.u32.u64 %r21, %rd19;
  shr.u32 %r29, %r74, 1;
  and.b32  %r22, %r29, 1;
  {
.reg .pred p;
LAB_WAIT_1:
mbarrier.try_wait.parity.shared::cta.b64 p, [%r21], %r22;
@p bra DONE_1;
bra LAB_WAIT_1;
DONE_1:
}
  wgmma.fence.sync.aligned;
  shl.b32 %r30, %r74, 13;
  cvt.u64.u32 %rd20, %r30;
  and.b64  %rd21, %rd20, 8192;
  add.s64 %rd23, %rd22, %rd21;
  and.b64  %rd24, %rd23, 261120;
  shr.u64 %rd25, %rd24, 4;
  or.b64  %rd8, %rd25, 4611686293305360384;
  shl.b32 %r31, %r74, 11;
  cvt.u64.u32 %rd26, %r31;
  and.b64  %rd27, %rd26, 2048;
  add.s64 %rd29, %rd28, %rd27;
  and.b64  %rd30, %rd29, 261120;
  shr.u64 %rd31, %rd30, 4;
  or.b64  %rd9, %rd31, 4611686293305360384;
  {
.reg .pred p;
setp.ne.b32 p, %r26, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
    {%f112,%f111,%f110,%f109,%f108,%f107,%f106,%f105}, %rd8, %rd9, p, 1, 1, 0, 0;
}
  or.b64  %rd10, %rd25, 4611686293305360386;
  or.b64  %rd11, %rd31, 4611686293305360386;
  {
.reg .pred p;
setp.ne.b32 p, %r26, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
    {%f112,%f111,%f110,%f109,%f108,%f107,%f106,%f105}, %rd10, %rd11, p, 1, 1, 0, 0;
}
  or.b64  %rd12, %rd25, 4611686293305360388;
  or.b64  %rd13, %rd31, 4611686293305360388;
  {
.reg .pred p;
setp.ne.b32 p, %r26, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
    {%f112,%f111,%f110,%f109,%f108,%f107,%f106,%f105}, %rd12, %rd13, p, 1, 1, 0, 0;
}
  or.b64  %rd14, %rd25, 4611686293305360390;
  or.b64  %rd15, %rd31, 4611686293305360390;
  {
.reg .pred p;
setp.ne.b32 p, %r26, 0;
wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16
    {%f112,%f111,%f110,%f109,%f108,%f107,%f106,%f105}, %rd14, %rd15, p, 1, 1, 0, 0;
}
  wgmma.commit_group.sync.aligned;
  wgmma.wait_group.sync.aligned 0;
  add.s64 %rd33, %rd32, %rd17;
  cvt.u32.u64 %r27, %rd33;
  mbarrier.arrive.shared::cta.b64 _, [%r27];
  add.s32 %r74, %r74, 1;
  setp.lt.s32 %p4, %r74, %r1;
  @%p4 bra $L__BB0_5;
$L__BB0_6:
  mov.u32 %r32, %ctaid.y;
  shl.b32 %r33, %r32, 6;
  shr.u32 %r35, %r10, 1;
  and.b32  %r36, %r35, 2147483632;
  add.s32 %r37, %r36, %r33;
  and.b32  %r38, %r10, 28;
  shr.u32 %r39, %r38, 2;
  or.b32  %r40, %r37, %r39;
  mov.u32 %r41, %ctaid.x;
  shl.b32 %r42, %r41, 4;
  shl.b32 %r43, %r10, 1;
  and.b32  %r44, %r43, 6;
  or.b32  %r45, %r44, %r42;
  mul.lo.s32 %r46, %r40, %r8;
  add.s32 %r47, %r45, %r46;
  cvta.to.global.u64 %rd34, %rd3;
  mul.wide.s32 %rd35, %r47, 4;
  add.s64 %rd36, %rd34, %rd35;
  st.global.f32 [%rd36], %f112;
  st.global.f32 [%rd36+4], %f111;
  shl.b32 %r48, %r8, 3;
  add.s32 %r49, %r46, %r48;
  add.s32 %r50, %r45, %r49;
  mul.wide.s32 %rd37, %r50, 4;
  add.s64 %rd38, %rd34, %rd37;
  st.global.f32 [%rd38], %f110;
  st.global.f32 [%rd38+4], %f109;
  st.global.f32 [%rd36+32], %f108;
  st.global.f32 [%rd36+36], %f107;
  st.global.f32 [%rd38+32], %f106;
  st.global.f32 [%rd38+36], %f105;
$L__BB0_10:
  ret;
}
)";

constexpr int kM = 128;
constexpr int kN = 32;
constexpr int kK = 320;

int a_at(int m, int k) {
  return (m * 7 + k * 3) % 13 - 6;
}
int b_at(int n, int k) {
  return (n * 5 + k * 2) % 11 - 5;
}

TensorMap map_of(std::uint64_t address, int rows, int box_rows) {
  TensorSpec spec;
  spec.type = TensorType::bf16;
  spec.rank = 2;
  spec.address = address;
  spec.dims = {kK, static_cast<std::uint64_t>(rows)};
  spec.strides = {kK * 2};
  spec.box = {64, static_cast<std::uint32_t>(box_rows)};
  spec.swizzle = Swizzle::bytes128;
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

struct Outcome {
  LaunchResult result;
  std::vector<float> d;
};

Outcome run_gemm(const std::string& text) {
  PtxRunner run(text, "gemm");
  const auto a = run.buffer(matrix(kM, a_at));
  const auto b = run.buffer(matrix(kN, b_at));
  const auto d = run.fresh_buffer(kM * kN * 4);
  // The tensor maps are parameters, 16 words each.
  std::array<std::array<std::uint64_t, 16>, 2> maps{};
  const TensorMap encoded[2] = {map_of(a, kM, 64), map_of(b, kN, 16)};
  std::memcpy(&maps, &encoded, sizeof maps);
  const std::uint64_t sizes = kN | (std::uint64_t{kK} << 32U);
  Outcome outcome;
  outcome.result = std::apply(
      [&](auto... words) {
        return run.launch({kN / 16, kM / 64, 1}, {160, 1, 1}, words..., d, sizes);
      },
      std::tuple_cat(maps[0], maps[1]));
  outcome.d = run.read<float>(d, kM * kN);
  return outcome;
}

std::string without(const std::string& what) {
  std::string text = kGemm;
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.erase(at, what.size());
}

bool found(const Outcome& outcome, Finding finding) {
  const auto all = findings(outcome.result);
  return std::find(all.begin(), all.end(), finding) != all.end();
}

TEST(HopperGemm, MultipliesWithoutFindings) {
  const Outcome outcome = run_gemm(kGemm);
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
  EXPECT_TRUE(found(run_gemm(without("wgmma.wait_group.sync.aligned 0;")), Finding::missing_wait));
}

TEST(HopperGemm, WithoutItsWgmmaFenceItIsFound) {
  EXPECT_TRUE(found(run_gemm(without("wgmma.fence.sync.aligned;")), Finding::missing_fence));
}

TEST(HopperGemm, ReleasingAStageBeforeTheWaitIsFound) {
  // The arrival at the empty barrier moves in front of wgmma.wait_group.
  std::string text = without("wgmma.wait_group.sync.aligned 0;");
  const std::string arrival = "mbarrier.arrive.shared::cta.b64 _, [%r27];";
  const auto at = text.find(arrival);
  ASSERT_NE(at, std::string::npos);
  text.insert(at + arrival.size(), "\n  wgmma.wait_group.sync.aligned 0;");
  const Outcome outcome = run_gemm(text);
  EXPECT_TRUE(found(outcome, Finding::race) || found(outcome, Finding::missing_wait));
}

TEST(HopperGemm, WithoutAnyWaitForTheCopiesItIsFound) {
  // Consumers go on at once.
  std::string text = kGemm;
  const std::string again = "bra LAB_WAIT_1;";
  const auto at = text.find(again);
  ASSERT_NE(at, std::string::npos);
  text.erase(at, again.size());
  const Outcome outcome = run_gemm(text);
  EXPECT_FALSE(findings(outcome.result).empty());
}

}  // namespace
}  // namespace kiln::emulated
