// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the library costs on the host once a kernel is loaded: looking it up, and launching it on a
// device that does nothing. An optimised build fails when a look-up costs more than is promised.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <vector>

#include "tests/bench/idle_library.hpp"

namespace kiln::testing {
namespace {

/// The `i`-th of a number of problems, as an application with many layers has them.
Gemm problem(std::int64_t i) {
  return Gemm::of(DType::f16, 64 + 16 * i, 512, 256);
}

void look_up(benchmark::State& state) {
  const std::int64_t problems = state.range(0);
  for (std::int64_t i = 0; i < problems; ++i) static_cast<void>(idle_library().get(problem(i)));
  std::int64_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(idle_library().get(problem(next)));
    if (++next == problems) next = 0;
  }
}
BENCHMARK(look_up)->Arg(1)->Arg(100);
BENCHMARK(look_up)->Arg(100)->Threads(2);

void launch(benchmark::State& state) {
  const Kernel kernel = idle_library().get(problem(0));
  alignas(256) static char memory[256];
  const GemmOperands operands{memory, memory, nullptr, memory};
  for (auto _ : state) kernel.launch(nullptr, operands);
}
BENCHMARK(launch);

void look_up_operation(benchmark::State& state) {
  const OperationProblem asked = row_sums(64, 64);
  for (auto _ : state) benchmark::DoNotOptimize(idle_library().get(asked));
}
BENCHMARK(look_up_operation);

/// Two launches.
void launch_operation(benchmark::State& state) {
  const OperationKernel kernel = idle_library().get(row_sums(64, 64));
  alignas(256) static char memory[256];
  const Arguments arguments{.operands = {memory, nullptr, memory}, .scalars = {2.0}};
  for (auto _ : state) kernel.launch(nullptr, arguments);
}
BENCHMARK(launch_operation);

/// Counts the look-ups that took longer than promised.
class Promise : public benchmark::ConsoleReporter {
 public:
  Promise() : ConsoleReporter(OO_Tabular) {}
  void ReportRuns(const std::vector<Run>& runs) override {
    ConsoleReporter::ReportRuns(runs);
    for (const Run& run : runs) {
      if (run.run_name.function_name != "look_up") continue;
      slow += run.GetAdjustedCPUTime() < kMostLookUpNs ? 0 : 1;
    }
  }
  int slow = 0;

 private:
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  static constexpr double kMostLookUpNs = 200.0;
#else
  static constexpr double kMostLookUpNs = 10000.0;
#endif
};

}  // namespace
}  // namespace kiln::testing

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  kiln::testing::Promise promise;
  benchmark::RunSpecifiedBenchmarks(&promise);
  if (promise.slow > 0) std::fprintf(stderr, "look-ups slower than promised: %d\n", promise.slow);
  return promise.slow > 0 ? 1 : 0;
}
