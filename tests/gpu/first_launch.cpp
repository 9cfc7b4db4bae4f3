// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// A process whose kernel was compiled by another one. Prints the time from opening the library to
/// the end of its first launch, beyond the creation of the CUDA context. Exit code: 1 if it
/// compiled or failed, 3 if an optimised build took longer than promised. usage: first_launch
/// DATABASE CUBIN_STORE [M N K]

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "kiln/kiln.hpp"

namespace {

#if defined(__OPTIMIZE__)
constexpr double kLongestMs = 20.0;
#else
constexpr double kLongestMs = 1000.0;
#endif

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 6) return 2;
  using Clock = std::chrono::steady_clock;
  const auto size = [&](int i) { return argc == 6 ? std::atoll(argv[i]) : 256; };
  const auto milliseconds = [](Clock::duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  try {
    const auto begin = Clock::now();
    static_cast<void>(cudaFree(nullptr));
    const auto context = Clock::now();
    kiln::LibraryOptions options;
    options.database = argv[1];
    options.cubin_store = argv[2];
    const kiln::Library library = kiln::Library::open(options);
    const auto opened = Clock::now();
    const kiln::Gemm gemm = kiln::Gemm::of(kiln::DType::f16, size(3), size(4), size(5));
    const kiln::Kernel kernel = library.get(gemm);
    const auto got = Clock::now();
    void* memory = nullptr;
    const std::size_t largest =
        static_cast<std::size_t>(2 * (gemm.m * gemm.k + gemm.k * gemm.n + gemm.m * gemm.n));
    if (cudaMalloc(&memory, largest) != cudaSuccess) return 1;
    const auto allocated = Clock::now();
    kernel.launch(nullptr, {memory, memory, nullptr, memory});
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    const auto done = Clock::now();
    const auto total = (got - context) + (done - allocated);
    std::printf(
        "context %.1f ms; open %.2f ms, get %.2f ms, launch %.2f ms: %.2f ms in all; "
        "compiles %llu\n",
        milliseconds(context - begin), milliseconds(opened - context), milliseconds(got - opened),
        milliseconds(done - allocated), milliseconds(total),
        static_cast<unsigned long long>(library.counters().compiles));
    if (library.counters().compiles != 0) return 1;
    return milliseconds(total) < kLongestMs ? 0 : 3;
  } catch (const kiln::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
