// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// The example operation `sum` as an application runs it, against CUB's DeviceReduce::Sum on the
/// same numbers, in turns. `sum-against-cub` compiles and runs it:
///
///     sum_against_cub TEMPLATE_PATH DATABASE [N]
///
/// Prints the medians and the median over rounds of (CUB's time / Kiln's time).

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cub/device/device_reduce.cuh>
#include <random>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"

namespace {

constexpr int kRounds = 41;
constexpr int kRunsPerRound = 5;

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

class Timer {
 public:
  Timer() {
    check(cudaEventCreate(&begin_), "creating an event");
    check(cudaEventCreate(&end_), "creating an event");
  }
  /// Microseconds of one run.
  template <class Run>
  double us(const Run& run) {
    check(cudaEventRecord(begin_, nullptr), "recording an event");
    for (int i = 0; i < kRunsPerRound; ++i) run();
    check(cudaEventRecord(end_, nullptr), "recording an event");
    check(cudaEventSynchronize(end_), "waiting for an event");
    float ms = 0.0F;
    check(cudaEventElapsedTime(&ms, begin_, end_), "reading an event");
    return static_cast<double>(ms) * 1e3 / kRunsPerRound;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int compare(const std::string& template_path, const std::string& database, int n) {
  kiln::LibraryOptions options;
  options.template_path = {template_path};
  options.database = database;
  const kiln::Library library = kiln::Library::open(options);
  kiln::OperationProblem problem;
  problem.operation = "sum";
  problem.sizes = {{"n", n}};
  problem.types = {{"x", kiln::DType::f32}, {"y", kiln::DType::f32}};
  const kiln::OperationKernel kernel = library.get(problem);

  std::vector<float> numbers(static_cast<std::size_t>(n));
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  for (float& number : numbers) number = uniform(random);
  const std::size_t bytes = numbers.size() * sizeof(float);
  float* x = nullptr;
  float* results = nullptr;
  check(cudaMalloc(&x, bytes), "allocating the numbers");
  check(cudaMalloc(&results, 512), "allocating the sums");
  check(cudaMemcpy(x, numbers.data(), bytes, cudaMemcpyHostToDevice), "copying the numbers");
  float* const ours = results;
  float* const theirs = results + 64;
  std::size_t scratch_bytes = 0;
  check(cub::DeviceReduce::Sum(nullptr, scratch_bytes, x, theirs, n), "asking CUB");
  void* scratch = nullptr;
  check(cudaMalloc(&scratch, scratch_bytes), "allocating CUB's scratch");

  kiln::Arguments arguments = kernel.arguments();
  arguments.operands[kernel.operand_index("x")] = x;
  arguments.operands[kernel.operand_index("y")] = ours;
  const auto run_ours = [&] { kernel.launch(nullptr, arguments); };
  const auto run_theirs = [&] {
    check(cub::DeviceReduce::Sum(scratch, scratch_bytes, x, theirs, n), "CUB");
  };
  Timer timer;
  timer.us(run_ours);
  timer.us(run_theirs);
  std::vector<double> our_us, their_us, ratios;
  for (int round = 0; round < kRounds; ++round) {
    // The order alternates, so that neither always finds what the other left in the cache.
    if (round % 2 == 0) their_us.push_back(timer.us(run_theirs));
    our_us.push_back(timer.us(run_ours));
    if (round % 2 != 0) their_us.push_back(timer.us(run_theirs));
    ratios.push_back(their_us.back() / our_us.back());
  }
  float sums[65];
  check(cudaMemcpy(sums, results, sizeof(sums), cudaMemcpyDeviceToHost), "copying the sums");
  const bool alike = std::fabs(sums[0] - sums[64]) <= 1e-5F * std::fabs(sums[64]);
  std::printf(
      "%s %s [%.*s]\nn %d: Kiln %.2f us, %.3f TB/s; CUB %.2f us; ratio %.4f; sums %g %g%s\n",
      kernel.template_name().data(), kernel.config().data(),
      static_cast<int>(kernel.match_reason().size()), kernel.match_reason().data(), n,
      median(our_us), static_cast<double>(bytes) / median(our_us) / 1e6, median(their_us),
      median(ratios), static_cast<double>(sums[0]), static_cast<double>(sums[64]),
      alike ? "" : " DIFFER");
  return alike ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s TEMPLATE_PATH DATABASE [N]\n", argv[0]);
    return 2;
  }
  return compare(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1 << 28);
} catch (const kiln::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
