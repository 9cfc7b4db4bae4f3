// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Warps that produce and warps that consume, which pass two buffers to each other through named
// barriers.
#include <gtest/gtest.h>

#include <vector>

#include "tests/compile/mutants/plain_specimen.hpp"

namespace kiln::testing {
namespace {

const char* const kPipeline = R"(
__device__ void sync(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
constexpr int kAll = 128;
constexpr int kFull = 1;   // and 2
constexpr int kEmpty = 3;  // and 4

extern "C" __global__ void doubled(const int* values, int* results, int steps) {
  __shared__ int buffers[2][64];
  const int at = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    for (int step = 0; step < steps; ++step) {
      int* buffer = buffers[step % 2];
      const int value = values[step * 64 + at];
      if (step >= 2) {
        sync(kEmpty + step % 2, kAll);
      }
      buffer[at] = value;
      arrive(kFull + step % 2, kAll);
    }
  } else {
    for (int step = 0; step < steps; ++step) {
      const int* full = buffers[step % 2];
      sync(kFull + step % 2, kAll);  // full
      results[step * 64 + at] = 2 * full[63 - at];
      if (step + 2 < steps) {
        arrive(kEmpty + step % 2, kAll);
      }
    }
  }
}
)";

void run_pipeline(Bench& bench, Observed& observed) {
  constexpr int kSteps = 7;
  std::vector<int> values;
  for (int i = 0; i < kSteps * 64; ++i) values.push_back(i * 13 % 50);
  const struct {
    DevicePtr values, results;
    int steps;
  } arguments{bench.upload(values), bench.fresh(kSteps * 64 * 4), kSteps};
  if (!bench.launch({1, 1, 1}, 128, arguments)) return;
  compare(
      bench.download<int>(arguments.results, kSteps * 64), 64,
      [&](int step, int at) { return 2 * values[static_cast<std::size_t>(step * 64 + 63 - at)]; },
      observed);
}

using NamedBarrierMutants = NvrtcTest;

TEST_F(NamedBarrierMutants, Pipeline) {
  PlainSpecimen specimen(kPipeline, "doubled", run_pipeline);
  examine(specimen,
          {
              reported("other_count", "sync(kFull + step % 2, kAll);",
                       "sync(kFull + step % 2, 96);", Finding::barrier_mismatch, "bar.sync"),
              reported("count_of_no_warps", "kAll = 128;", "kAll = 100;", Finding::barrier_mismatch,
                       "bar.arrive"),
              reported("too_few_arrivals", "      arrive(kFull + step % 2, kAll);\n",
                       "      if (threadIdx.x < 32) arrive(kFull + step % 2, kAll);\n",
                       Finding::deadlock, "bar.sync"),
              reported("never_released", "        arrive(kEmpty + step % 2, kAll);\n", "",
                       Finding::deadlock, "bar.sync"),
              reported("no_wait_for_the_producer", "      sync(kFull + step % 2, kAll);  // full\n",
                       "", Finding::race, "2 * full[63 - at]"),
              reported("one_buffer_only", "int* buffer = buffers[step % 2];",
                       "int* buffer = buffers[0];", Finding::race, "buffer[at] = value;"),
              reported("released_too_early",
                       "      results[step * 64 + at] = 2 * full[63 - at];\n"
                       "      if (step + 2 < steps) {\n"
                       "        arrive(kEmpty + step % 2, kAll);\n      }\n",
                       "      if (step + 2 < steps) arrive(kEmpty + step % 2, kAll);\n"
                       "      results[step * 64 + at] = 2 * full[63 - at];\n",
                       Finding::race, "buffer[at] = value;"),
              reported("waits_for_the_other", "sync(kEmpty + step % 2, kAll);",
                       "sync(kEmpty + (step + 1) % 2, kAll);", Finding::deadlock, "bar.sync"),
              reported("barrier_beyond_15", "kEmpty = 3;", "kEmpty = 15;", Finding::invalid_operand,
                       "bar.arrive"),
              reported("by_half_a_warp", "sync(kEmpty + step % 2, kAll);",
                       "if (at % 32 < 16) sync(kEmpty + step % 2, kAll);", Finding::divergent,
                       "bar.sync"),
          });
}

}  // namespace
}  // namespace kiln::testing
