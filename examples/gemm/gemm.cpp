// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// D = A B in half precision with the best kernel that is known for this GPU. Tune the problem with
/// `kiln tune gemm --m 4096 --n 4096 --k 4096 --dtype f16` and run this again.

#include <cuda_runtime_api.h>

#include <cstdio>
#include <kiln/kiln.hpp>
#include <string>

int main() try {
  constexpr std::int64_t kSize = 4096;
  void *a = nullptr, *b = nullptr, *d = nullptr;
  for (void** matrix : {&a, &b, &d}) {
    if (cudaMalloc(matrix, kSize * kSize * 2) != cudaSuccess) return 1;
  }
  cudaStream_t stream = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;

  const kiln::Library library = kiln::Library::open();
  const kiln::Kernel gemm = library.get(kiln::Gemm::of(kiln::DType::f16, kSize, kSize, kSize));
  gemm.launch(stream, {.a = a, .b = b, .d = d});

  if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  std::printf("%s [%s] on %s: %s\n", std::string(gemm.template_name()).c_str(),
              std::string(gemm.config()).c_str(), library.device_description().c_str(),
              std::string(gemm.match_reason()).c_str());
  return 0;
} catch (const kiln::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
