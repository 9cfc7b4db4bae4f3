// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Blocks of a cluster: each other's shared memory, barriers, multicast; registers that move.
#include "tests/gpu/emulator_fragments.hpp"

namespace kiln::testing {
namespace {

class Clusters : public EmulatorPair {
 protected:
  void compare(PairRun run) {
    const auto result = this->run(run);
    ASSERT_TRUE(result);
    expect_identical(*result);
  }
};

TEST_F(Clusters, BlocksReadWriteAndCountInEachOthersMemory) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void __cluster_dims__(4, 1, 1) k(const __grid_constant__ Args args) {
  __shared__ u32 words[256];
  __shared__ u32 counts[8];
  const u32 t = threadIdx.x;
  u32 rank, size, id;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
  asm("mov.u32 %0, %%clusterid.x;" : "=r"(id));
  words[t] = static_cast<const u32*>(args.in[0])[blockIdx.x * 128 + t];
  words[128 + t] = 0;
  if (t < 8) counts[t] = 0;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
  const u32 other = (rank + 1 + t % 3) % size;
  u32 theirs, there, count;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(smem(words + t)), "r"(other));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(there) : "r"(theirs) : "memory");
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(count) : "r"(smem(counts + t % 8)), "r"(other));
  asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(count), "r"(there) : "memory");
  // Each word of the upper half has one writer.
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(smem(words + 128 + t)), "r"((rank
      + 1) % size));
  asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(theirs), "r"(there ^ rank) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
  u32* const out = static_cast<u32*>(args.out) + blockIdx.x * 256;
  out[t] = words[128 + t] + id;
  out[128 + t] = t < 8 ? counts[t] : there;
}
)";
  run.geometry = {{8, 1, 1}, {128, 1, 1}, {4, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 4096, Values::whole, 41)};
  run.out_bytes = 8 * 256 * 4;
  compare(run);
}

TEST_F(Clusters, MulticastReachesTheBlocksOfItsMask) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void __cluster_dims__(4, 1, 1) k(const __grid_constant__ Args args) {
  __shared__ __align__(128) u32 box[1024];
  __shared__ __align__(8) u64 bar;
  const u32 t = threadIdx.x;
  u32 rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  for (int i = t; i < 1024; i += 128) box[i] = 0xeeeeeeee;
  if (t == 0) {
    mbar_init(&bar, 1);
    fence_init();
    // Of its own 1 KiB from block 0 and, except for block 1, 1 KiB from block 2.
    mbar_expect(&bar, rank == 1 ? 1024 : 2048);
  }
  fence_async();
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
  if (t == 0 && rank % 2 == 0) {
    const unsigned short mask = rank == 0 ? 0xf : 0xd;
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes.multicast::cluster"
                 " [%0], [%1, {%2, %3}], [%4], %5;"
                 ::"r"(smem(box) + rank * 1024), "l"(&args.maps[0]), "r"(rank * 8), "r"(rank * 3),
                     "r"(smem(&bar)), "h"(mask) : "memory");
  }
  mbar_wait(&bar, 0);
  for (int i = t; i < 1024; i += 128) static_cast<u32*>(args.out)[blockIdx.x * 1024 + i] = box[i];
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
}
)";
  run.geometry = {{4, 1, 1}, {128, 1, 1}, {4, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 1 << 16, Values::whole, 42)};
  emulated::TensorSpec spec;
  spec.type = emulated::TensorType::u32;
  spec.rank = 2;
  spec.dims = {40, 50};
  spec.strides = {160};
  spec.box = {32, 8};
  spec.swizzle = emulated::Swizzle::bytes128;
  run.maps = {{0, spec}};
  run.out_bytes = 4 * 4096;
  compare(run);
}

TEST_F(Clusters, RemoteArrivalsReleaseAPipeline) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const __grid_constant__ Args args) {
  __shared__ u32 inbox[2][128];
  __shared__ __align__(8) u64 full[2], empty[2];
  const u32 t = threadIdx.x;
  u32 rank, sum = 0;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) {
    for (int i = 0; i < 2; ++i) { mbar_init(full + i, 128); mbar_init(empty + i, 128); }
    fence_init();
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
  const auto remote = [&](const void* p) {
    u32 at;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(smem(p)), "r"(rank ^ 1));
    return at;
  };
  const auto wait = [&](u64* bar, int phase) {
    asm volatile("{\n.reg .pred p;\nWAIT:\n"
                 "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra WAIT;\n}" ::"r"(smem(bar)), "r"(phase) : "memory");
  };
  const auto arrive = [&](u64* bar) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote(bar))
        : "memory");
  };
  for (int turn = 0; turn < 9; ++turn) {
    const int slot = turn % 2, phase = turn / 2 % 2;
    if (rank == 0) {
      if (turn >= 2) wait(empty + slot, (turn / 2 - 1) % 2);
      const u32 x = static_cast<const u32*>(args.in[0])[turn * 128 + t];
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(remote(&inbox[slot][t])), "r"(x) :
          "memory");
      arrive(full + slot);
    } else {
      wait(full + slot, phase);
      sum = sum * 5 + inbox[slot][(t + turn) % 128];
      arrive(empty + slot);
    }
  }
  static_cast<u32*>(args.out)[blockIdx.x * 128 + t] = sum;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
}
)";
  run.geometry = {{4, 1, 1}, {128, 1, 1}, {2, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 8192, Values::whole, 43)};
  run.out_bytes = 4 * 128 * 4;
  compare(run);
}

TEST_F(Clusters, AsyncStoresReportTheirBytes) {
  PairRun run;
  run.source = R"(
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(const __grid_constant__ Args args) {
  __shared__ __align__(16) u32 inbox[512];
  __shared__ __align__(8) u64 bar;
  const u32 t = threadIdx.x;
  u32 rank, to, there;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (t == 0) { mbar_init(&bar, 1); fence_init(); mbar_expect(&bar, 128 * 16); }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(smem(inbox + (t * 37 % 128) * 4)),
      "r"(rank ^ 1));
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(smem(&bar)), "r"(rank ^ 1));
  const u32* const x = static_cast<const u32*>(args.in[0]) + (blockIdx.x * 128 + t) * 4;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.u32"
               " [%0], {%1, %2, %3, %4}, [%5];"
               ::"r"(to), "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(there) : "memory");
  mbar_wait(&bar, 0);
  for (int i = t; i < 512; i += 128) static_cast<u32*>(args.out)[blockIdx.x * 512 + i] = inbox[i];
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" :::
      "memory");
}
)";
  run.geometry = {{2, 1, 1}, {128, 1, 1}, {2, 1, 1}, 0};
  run.inputs = {elements(Element::bits, 8192, Values::whole, 44)};
  run.out_bytes = 2 * 512 * 4;
  compare(run);
}

}  // namespace
}  // namespace kiln::testing
