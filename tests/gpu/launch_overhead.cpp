// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Host time of a look-up, of Kernel::launch, and of the bare CUDA call with the same kernel
/// arguments' size, as medians over batches in turns. Prints nanoseconds; run it in a release
/// build.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "kiln/kiln.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "templates/kernels/common/gemm_args.cuh"

namespace {

constexpr int kBatches = 201;
constexpr int kPerBatch = 200;

/// Median time of one call, in ns. The device is idle before each batch, and the queue never full.
template <class Call>
double time_batch(const Call& call) {
  static_cast<void>(cudaDeviceSynchronize());
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kPerBatch; ++i) call();
  const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - begin;
  return elapsed.count() / kPerBatch;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + kBatches / 2, values.end());
  return values[kBatches / 2];
}

/// An empty kernel that takes what a gemm kernel takes.
struct EmptyKernel {
  explicit EmptyKernel(kiln::Device& device) {
    kiln::CompileRequest request;
    request.source = "struct Args { char bytes[" + std::to_string(sizeof(kiln::GemmArgs)) +
                     "]; };\nextern \"C\" __global__ void empty(const Args args) {}\n";
    request.plain_names = {"empty"};
    request.arch = device.info().limits.arch;
    const kiln::CompileResult compiled = kiln::make_nvrtc_compiler()->compile(request);
    kiln::DeviceStatus status;
    module = device.load(compiled.cubin, compiled.lowered_names, status);
  }
  std::unique_ptr<kiln::LoadedModule> module;
};

}  // namespace

int main() try {
  const auto device = kiln::open_device("cuda:0");
  const EmptyKernel empty(*device);
  if (!empty.module) return 1;
  const kiln::Library library = kiln::Library::open();
  const kiln::Gemm gemm = kiln::Gemm::of(kiln::DType::f16, 64, 64, 64);
  const kiln::Kernel kernel = library.get(gemm);
  void* memory = reinterpret_cast<void*>(device->allocate(1 << 16));
  const kiln::GemmOperands operands{memory, memory, nullptr, memory};

  kiln::GemmArgs args{};
  void* pointers[] = {&args};
  cudaLaunchConfig_t config{};
  config.gridDim = {1, 1, 1};
  config.blockDim = {128, 1, 1};
  const void* function = empty.module->functions()[0].handle;

  std::vector<double> bare, launch, look_up;
  for (int batch = 0; batch < kBatches; ++batch) {
    bare.push_back(
        time_batch([&] { static_cast<void>(cudaLaunchKernelExC(&config, function, pointers)); }));
    launch.push_back(time_batch([&] { kernel.launch(nullptr, operands); }));
    look_up.push_back(time_batch([&] {
      const kiln::Kernel found = library.get(gemm);
      asm volatile("" : : "r"(&found) : "memory");
    }));
  }
  std::printf("cudaLaunchKernelExC %.0f ns, Kernel::launch %.0f ns (%+.0f), look-up %.0f ns\n",
              median(bare), median(launch), median(launch) - median(bare), median(look_up));
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
} catch (const kiln::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 77;
}
