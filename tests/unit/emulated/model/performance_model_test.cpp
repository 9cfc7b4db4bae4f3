// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/performance_model.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

#include "runtime/compile/register_note.hpp"
#include "runtime/emulated/decode/decoder.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

/// A loop of `turns` turns around some instructions; %r20 counts. Leaves f32 values alive.
std::string loop_text(const std::string& body, int turns) {
  return test::kernel_text(R"(
    .reg .pred %p<4>; .reg .b32 %r<32>; .reg .b64 %rd<8>; .reg .f32 %f<32>;
    .shared .align 16 .b8 place[16384];
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, place;
    shl.b32 %r3, %r1, 2;
    add.u32 %r4, %r2, %r3;
    shl.b32 %r5, %r1, 7;
    and.b32 %r5, %r5, 4095;
    add.u32 %r6, %r2, %r5;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r19, 40;
    mov.u32 %r20, 0;
  again:
)" + body + R"(
    add.u32 %r20, %r20, 1;
    setp.lt.u32 %p1, %r20, )" + std::to_string(turns) +
                               R"(;
    @%p1 bra again;
    st.global.f32 [%rd3], %f1;
    ret;
  )",
                           1);
}

/// The prediction for a kernel on blocks of 256 threads.
Prediction predicted(const std::string& text, std::uint32_t blocks, int registers = 32) {
  EmulatedDevice device("h200");
  const std::string ptx = text + register_note({{"k", registers}});
  DeviceStatus status;
  const auto module = device.load(std::as_bytes(std::span(ptx.data(), ptx.size())), {"k"}, status);
  EXPECT_TRUE(status.ok()) << status.message;
  const DevicePtr memory = device.allocate(1 << 20);
  const std::uint64_t argument = memory;
  LaunchRequest request;
  request.function = module->functions().front();
  request.geometry.grid = {blocks, 1, 1};
  request.geometry.block = {256, 1, 1};
  request.arguments = &argument;
  const Prediction prediction = device.predict(request, status);
  EXPECT_TRUE(status.ok()) << status.message;
  return prediction;
}

/// Eight chains of multiply-adds of integers, which take their unit two clocks each.
const std::string kMultiplyAdds =
    "mad.lo.s32 %r7, %r7, %r7, %r7; mad.lo.s32 %r8, %r8, %r8, %r8;"
    "mad.lo.s32 %r9, %r9, %r9, %r9; mad.lo.s32 %r10, %r10, %r10, %r10;"
    "mad.lo.s32 %r11, %r11, %r11, %r11; mad.lo.s32 %r12, %r12, %r12, %r12;"
    "mad.lo.s32 %r13, %r13, %r13, %r13; mad.lo.s32 %r14, %r14, %r14, %r14;";

double busy(const Prediction& prediction, Resource resource) {
  return prediction.busy[static_cast<std::size_t>(resource)];
}

TEST(PerformanceModel, ArithmeticRunsAtTheRateOfItsUnit) {
  // 200 turns of 8 by 2,048 threads at 64 lanes a clock are 51.2 thousand clocks, 28.5 us.
  const Prediction full = predicted(loop_text(kMultiplyAdds, 200), 132 * 8);
  EXPECT_EQ(full.blocks_per_sm, 8);
  EXPECT_DOUBLE_EQ(full.rounds, 1.0);
  EXPECT_GT(busy(full, Resource::fp32), 0.9);
  EXPECT_EQ(full.bound, "fp32");
  EXPECT_NEAR(full.time_ns, 29'200, 1'000);
}

TEST(PerformanceModel, TwiceTheWorkTakesTwiceTheTime) {
  const Prediction once = predicted(loop_text(kMultiplyAdds, 200), 132 * 8);
  const Prediction longer = predicted(loop_text(kMultiplyAdds, 400), 132 * 8);
  const Prediction more = predicted(loop_text(kMultiplyAdds, 200), 132 * 16);
  EXPECT_NEAR(longer.time_ns / once.time_ns, 2.0, 0.15);
  EXPECT_NEAR(more.time_ns / once.time_ns, 2.0, 0.15);
  // One block more than fits means another, nearly empty round.
  const Prediction tail = predicted(loop_text(kMultiplyAdds, 200), 132 * 8 + 1);
  EXPECT_GT(tail.time_ns, once.time_ns * 1.1);
}

TEST(PerformanceModel, OneChainWaitsForItsLatency) {
  const std::string chain =
      "fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1;"
      "fma.rn.f32 %f1, %f1, %f1, %f1; fma.rn.f32 %f1, %f1, %f1, %f1;";
  const Prediction one = predicted(loop_text(chain, 400), 132);
  EXPECT_LT(busy(one, Resource::fp32), 0.6);
  // 1,600 multiply-adds of 4.1 clocks each are 3.7 us.
  EXPECT_NEAR(one.time_ns, 4'300, 700);
}

TEST(PerformanceModel, BankConflictsCostTheirWavefronts) {
  const Prediction clean = predicted(
      loop_text("ld.shared.f32 %f1, [%r4]; ld.shared.f32 %f2, [%r4]; ld.shared.f32 %f3, [%r4];",
                200),
      132 * 8);
  const Prediction conflicts = predicted(
      loop_text("ld.shared.f32 %f1, [%r6]; ld.shared.f32 %f2, [%r6]; ld.shared.f32 %f3, [%r6];",
                200),
      132 * 8);
  EXPECT_EQ(conflicts.bound, "memory");
  EXPECT_GT(conflicts.time_ns / clean.time_ns, 10.0) << "32 lanes in one bank";
}

// Nobody waits for a store, but the block is not done before all are.
TEST(PerformanceModel, StoresTakeTheTimeOfWhatTheyUse) {
  const std::string conflicts =
      "st.shared.f32 [%r6], %f1; st.shared.f32 [%r6], %f2; st.shared.f32 [%r6], %f3;";
  const Prediction shared = predicted(loop_text(conflicts, 200), 132 * 8);
  EXPECT_EQ(shared.bound, "memory");
  EXPECT_NEAR(busy(shared, Resource::memory), 1.0, 0.01);
  // 200 turns of 3 by 64 warps, 32 clocks each.
  EXPECT_NEAR(shared.time_ns, 685'000, 10'000);

  const std::string again =
      "st.global.f32 [%rd3], %f1; st.global.f32 [%rd3], %f2; st.global.f32 [%rd3], %f3;";
  const Prediction global = predicted(loop_text(again, 200), 132 * 8);
  EXPECT_EQ(global.bound, "l2") << "the first level writes through";
  EXPECT_NEAR(busy(global, Resource::l2), 1.0, 0.01);
}

// movmatrix uses the memory pipe: fragments of bf16 that have to be turned cost it twice.
TEST(PerformanceModel, TurningMatricesTakesTheMemoryPipe) {
  std::string turns;
  for (int i = 7; i < 15; ++i) {
    turns += fmt::format("movmatrix.sync.aligned.m8n8.trans.b16 %r{0}, %r{0};", i);
  }
  const Prediction turning = predicted(loop_text(turns, 200), 132 * 8);
  EXPECT_EQ(turning.bound, "memory");
  // 200 turns of 8 by 64 warps, one a clock.
  EXPECT_NEAR(turning.time_ns, 57'000, 3'000);

  const auto loads = [](const char* order) {
    return loop_text(fmt::format("wmma.load.b.sync.aligned.{}.m16n16k16.shared.bf16 "
                                 "{{%r7, %r8, %r9, %r10}}, [%r2], %r19;",
                                 order),
                     200);
  };
  const Prediction row = predicted(loads("row"), 132 * 8);
  const Prediction column = predicted(loads("col"), 132 * 8);
  EXPECT_NEAR(row.time_ns / column.time_ns, 2.0, 0.3);
}

TEST(PerformanceModel, RegistersLimitWhatFits) {
  const std::string text = loop_text(kMultiplyAdds, 200);
  EXPECT_EQ(predicted(text, 132 * 8, 255).blocks_per_sm, 1);
  EXPECT_EQ(predicted(text, 132 * 8, 64).blocks_per_sm, 4);
}

/// The costs of a kernel of these statements, without those of the `ret` and of the end.
std::vector<InstructionCost> costs_of(const std::string& statements) {
  const std::string text =
      ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<16>;"
      ".shared .align 16 .b8 place[256]; .shared .align 8 .b64 barrier;" +
      statements + " ret;";
  const auto module = ptx::read_module(test::kernel_text(text, 0));
  const auto program = decode(module, "k", [](const ptx::Variable&) { return std::uint64_t{0}; });
  auto costs = instruction_costs(*program, profile_of("h200"));
  costs.resize(costs.size() - 2);
  return costs;
}

Step step_of(const std::string& statement) {
  const auto costs = costs_of(statement);
  EXPECT_EQ(costs.size(), 1U) << statement;
  return costs.front().step;
}

TEST(PerformanceModel, ProductsTakeAsLongAsTheirShapeAndTypesSay) {
  const DeviceProfile profile = profile_of("h200");
  const auto clocks = [](const std::string& statement) {
    return double{costs_of(statement).front().pipe_clocks};
  };
  const auto parts = double{kSubPartitions};
  EXPECT_NEAR(clocks("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,"
                     "%f7}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, "
                     "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};"),
              4096 * parts / profile.mma.f16, 1e-3);
  EXPECT_NEAR(clocks("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1,%f2,%f3}, "
                     "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3};"),
              1024 * parts / profile.mma.tf32, 1e-3);
  EXPECT_NEAR(clocks("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r0,%r1,%r2,%r3}, "
                     "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%r0,%r1,%r2,%r3};"),
              4096 * parts / profile.mma.s8, 1e-3);
  EXPECT_NEAR(clocks("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f0,%f1,%f2,%f3}, "
                     "{%r0,%r1,%r2,%r3}, {%r0,%r1}, {%f0,%f1,%f2,%f3};"),
              4096 * parts / profile.mma.e4m3, 1e-3);
  // Each part of the multiprocessor does its quarter.
  EXPECT_NEAR(clocks("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0,%f1,%f2,%f3}, %rd0, "
                     "%rd1, 1, 1, 1, 0, 0;"),
              64 * 8 * 16 / profile.wgmma.f16, 1e-3);
}

TEST(PerformanceModel, BarriersOfTheBlockAreKnownInAnySpelling) {
  for (const char* statement : {"bar.sync 0;", "barrier.sync.aligned 0;", "barrier.cta.sync 0;",
                                "bar.cta.sync 0;", "barrier.cluster.wait.aligned;"}) {
    EXPECT_EQ(step_of(statement), Step::barrier) << statement;
  }
  for (const char* statement :
       {"bar.arrive 0, 64;", "barrier.cta.arrive 0, 64;", "bar.warp.sync %r0;",
        "barrier.cluster.arrive;", "membar.gl;", "fence.acq_rel.gpu;"}) {
    EXPECT_EQ(step_of(statement), Step::compute) << statement;
  }
  // The half of bar.red that gives the result waits for nothing.
  for (const char* statement :
       {"bar.red.or.pred %p1, 0, %p2;", "bar.red.popc.u32 %r1, 0, %p2;",
        "barrier.cta.red.and.pred %p1, 0, %p2;", "barrier.red.or.pred %p1, 0, %p2;"}) {
    const auto costs = costs_of(statement);
    ASSERT_EQ(costs.size(), 2U) << statement;
    EXPECT_EQ(costs[0].step, Step::barrier) << statement;
    EXPECT_EQ(costs[1].step, Step::compute) << statement;
  }
}

TEST(PerformanceModel, OnlyPlainAsynchronousCopiesMoveWhatTheTraceSays) {
  EXPECT_EQ(step_of("cp.async.cg.shared.global [place], [%rd0], 16;"), Step::copy);
  EXPECT_EQ(step_of("cp.async.ca.shared.global [place], [%rd0], 4;"), Step::copy);
  EXPECT_EQ(step_of("cp.async.commit_group;"), Step::commit);
  EXPECT_EQ(costs_of("cp.async.wait_group 2;").front().groups, 2);
  EXPECT_EQ(costs_of("cp.async.wait_all;").front().groups, -1);
  EXPECT_EQ(step_of("cp.async.wait_all;"), Step::wait);
  EXPECT_EQ(step_of("cp.async.mbarrier.arrive.shared.b64 [barrier];"), Step::compute);
  EXPECT_EQ(step_of("cp.async.bulk.commit_group;"), Step::compute);
  EXPECT_EQ(step_of("cp.async.bulk.wait_group.read 0;"), Step::compute);
}

TEST(PerformanceModel, PtxBecomesMoreInstructionsOrFewer) {
  const auto slots = [](const std::string& statement) {
    const InstructionCost cost = costs_of(statement).front();
    return cost.step == Step::nothing ? 0.0F : cost.slots;
  };
  EXPECT_EQ(slots("mov.u32 %r1, %tid.x;"), 0.0F);
  EXPECT_EQ(slots("cvta.to.global.u64 %rd1, %rd2;"), 0.0F);
  EXPECT_EQ(slots("cvt.u64.u32 %rd1, %r2;"), 0.0F);
  EXPECT_EQ(slots("cvt.s64.s32 %rd1, %r2;"), 0.5F);
  EXPECT_EQ(slots("cvt.s64.s16 %rd1, %r2;"), 1.5F);
  EXPECT_EQ(slots("and.pred %p1, %p2, %p3;"), 0.5F);
  EXPECT_EQ(slots("add.s32 %r1, %r2, %r3;"), 1.0F);
  EXPECT_EQ(slots("add.s64 %rd1, %rd2, %rd3;"), 1.0F);
  EXPECT_EQ(slots("sub.s64 %rd1, %rd2, %rd3;"), 1.5F);
  EXPECT_EQ(slots("mul.lo.s64 %rd1, %rd2, %rd3;"), 4.0F);
  EXPECT_EQ(slots("div.u32 %r1, %r2, %r3;"), 16.0F);
  EXPECT_EQ(slots("div.s64 %rd1, %rd2, %rd3;"), 60.0F);
  EXPECT_EQ(slots("div.approx.f32 %f1, %f2, %f3;"), 2.0F);
  EXPECT_EQ(slots("rcp.rn.f32 %f1, %f2;"), 10.0F);
  EXPECT_EQ(slots("rcp.approx.f32 %f1, %f2;"), 1.0F);
}

TEST(PerformanceModel, ARecordedBatchReplaysThePrediction) {
  EmulatedDevice device("h200");
  const std::string ptx = loop_text(kMultiplyAdds, 50) + register_note({{"k", 40}});
  DeviceStatus status;
  const auto module = device.load(std::as_bytes(std::span(ptx.data(), ptx.size())), {"k"}, status);
  ASSERT_TRUE(status.ok()) << status.message;
  const std::uint64_t memory = device.allocate(4096);
  std::uint64_t argument = memory;
  LaunchRequest request;
  request.function = module->functions().front();
  request.geometry.grid = {264, 1, 1};
  request.geometry.block = {256, 1, 1};
  request.arguments = &argument;
  const double one_ns = device.predict(request, status).time_ns;
  const auto batch = device.record(
      [&](int, void* stream) {
        argument = memory;
        (void)device.launch(request, stream);
        const DeviceStatus launched = device.launch(request, stream);
        argument = 0;  // was copied: the kernel would fault here
        return launched;
      },
      5, status);
  ASSERT_TRUE(status.ok()) << status.message;
  double total_ns = 0.0;
  ASSERT_TRUE(batch->replay(total_ns).ok());
  EXPECT_DOUBLE_EQ(total_ns, 10 * one_ns);
}

TEST(RegisterNote, IsReadBackAndNothingElseIs) {
  const KernelRegisters two{{"_Z4mainv", 168}, {"reduce", 32}};
  EXPECT_EQ(noted_registers("text" + register_note(two)), two);
  EXPECT_EQ(noted_registers(register_note({{"k", 40}}) + register_note({{"k", 41}})),
            (KernelRegisters{{"k", 41}}));
  for (const char* text :
       {".version 9.0\n", "\n// registers per thread: many in k\n",
        "\n// registers per thread: 70000 in k\n", "\n// registers per thread: 40\n"}) {
    EXPECT_TRUE(noted_registers(text).empty()) << text;
  }
}

}  // namespace
}  // namespace kiln::emulated
