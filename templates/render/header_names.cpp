// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/header_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "templates/catalog.hpp"
#include "templates/digest.hpp"
#include "templates/nearest_name.hpp"

namespace kiln {
namespace {

using Names = std::span<const std::string_view>;

bool lists(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Names of the standard library, and the file of templates/kernels/standard that has what they
/// declare.
constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kStandard{{
    {"algorithm", "algorithm"},
    {"assert.h", "assert"},
    {"cassert", "assert"},
    {"cfloat", "float"},
    {"cinttypes", "inttypes"},
    {"climits", "limits_h"},
    {"cmath", "math"},
    {"complex", "complex"},
    {"cstddef", "stddef"},
    {"cstdint", "stdint"},
    {"cstdio", "stdio"},
    {"cstdlib", "stdlib"},
    {"cstring", "string_h"},
    {"float.h", "float"},
    {"functional", "functional"},
    {"initializer_list", "initializer_list"},
    {"inttypes.h", "inttypes"},
    {"iterator", "iterator"},
    {"limits", "limits"},
    {"limits.h", "limits_h"},
    {"math.h", "math"},
    {"new", "new"},
    {"numeric", "numeric"},
    {"stdalign.h", "keywords"},
    {"stdbool.h", "keywords"},
    {"stddef.h", "stddef"},
    {"stdint.h", "stdint"},
    {"stdio.h", "stdio"},
    {"stdlib.h", "stdlib"},
    {"string.h", "string_h"},
    {"type_traits", "type_traits"},
    {"utility", "utility"},
}};

/// Folders of CUDA's headers.
constexpr std::array<std::string_view, 9> kCudaFolders{
    "cooperative_groups", "crt", "cub", "cuda", "cuda_tile", "nv", "nvtx3", "thrust", "cccl"};

/// What beside them a kernel can include of CUDA 12 and 13. A name that is missing here costs
/// nothing but that Kiln reads and digests the header itself.
constexpr std::array<std::string_view, 92> kCudaFiles{
    "builtin_types.h",
    "channel_descriptor.h",
    "common_functions.h",
    "cooperative_groups.h",
    "cuComplex.h",
    "cuda.h",
    "cudaTypedefs.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_helpers.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_fp4.h",
    "cuda_fp4.hpp",
    "cuda_fp6.h",
    "cuda_fp6.hpp",
    "cuda_fp8.h",
    "cuda_fp8.hpp",
    "cuda_occupancy.h",
    "cuda_pipeline.h",
    "cuda_pipeline_helpers.h",
    "cuda_pipeline_primitives.h",
    "cuda_profiler_api.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_stdint.h",
    "cuda_surface_types.h",
    "cuda_texture_types.h",
    "cudart_platform.h",
    "curand.h",
    "curand_discrete.h",
    "curand_discrete2.h",
    "curand_globals.h",
    "curand_kernel.h",
    "curand_lognormal.h",
    "curand_mrg32k3a.h",
    "curand_mtgp32.h",
    "curand_mtgp32_host.h",
    "curand_mtgp32_kernel.h",
    "curand_mtgp32dc_p_11213.h",
    "curand_normal.h",
    "curand_normal_static.h",
    "curand_philox4x32_x.h",
    "curand_poisson.h",
    "curand_precalc.h",
    "curand_uniform.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "driver_functions.h",
    "driver_types.h",
    "fatbinary_section.h",
    "host_config.h",
    "host_defines.h",
    "library_types.h",
    "math_constants.h",
    "math_functions.h",
    "mma.h",
    "nvfunctional",
    "nvrtc_device_runtime.h",
    "sm_20_atomic_functions.h",
    "sm_20_atomic_functions.hpp",
    "sm_20_intrinsics.h",
    "sm_20_intrinsics.hpp",
    "sm_30_intrinsics.h",
    "sm_30_intrinsics.hpp",
    "sm_32_atomic_functions.h",
    "sm_32_atomic_functions.hpp",
    "sm_32_intrinsics.h",
    "sm_32_intrinsics.hpp",
    "sm_35_atomic_functions.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_60_atomic_functions.hpp",
    "sm_61_intrinsics.h",
    "sm_61_intrinsics.hpp",
    "surface_functions.h",
    "surface_indirect_functions.h",
    "surface_types.h",
    "texture_fetch_functions.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "vector_functions.h",
    "vector_functions.hpp",
    "vector_types.h",
    "cuda_surface_types.hpp",
};

/// Headers of the standard library that Kiln has not, but libcu++ since 12.8: <cuda/std/array>.
constexpr std::array<std::string_view, 21> kOfLibcuxx{
    "array", "atomic", "barrier", "bit",      "bitset",  "chrono",   "concepts",
    "ctime", "latch",  "mdspan",  "optional", "ranges",  "ratio",    "semaphore",
    "span",  "tuple",  "variant", "version",  "numbers", "expected", "source_location"};
/// Those that are in neither.
constexpr std::array<std::string_view, 60> kOfHosts{
    "any",        "charconv",      "condition_variable",
    "deque",      "errno.h",       "exception",
    "filesystem", "format",        "forward_list",
    "fstream",    "future",        "iomanip",
    "ios",        "iostream",      "istream",
    "list",       "map",           "memory",
    "mutex",      "ostream",       "queue",
    "random",     "regex",         "set",
    "sstream",    "stdexcept",     "string",
    "thread",     "unordered_map", "vector",
    "cerrno",     "clocale",       "compare",
    "coroutine",  "csetjmp",       "csignal",
    "cstdarg",    "ctype.h",       "cwchar",
    "iosfwd",     "locale",        "memory_resource",
    "print",      "setjmp.h",      "shared_mutex",
    "signal.h",   "stack",         "stdarg.h",
    "streambuf",  "string_view",   "system_error",
    "time.h",     "typeindex",     "typeinfo",
    "unistd.h",   "unordered_set", "valarray",
    "omp.h",      "mpi.h",         "cctype"};
/// Folders and beginnings of names of libraries that programs for hosts call.
constexpr std::array<std::string_view, 12> kOfHostLibraries{
    "cublas", "cudnn",  "cufft", "cusolver", "cusparse", "curand.h",
    "nccl",   "nvml.h", "sys/",  "nvrtc",    "nvjpeg",   "npp"};

constexpr std::string_view kFolder = "standard/";

/// Headers that are for hosts in the main, with what kernels need of them. thrust/complex.h
/// declares how complex numbers are read from and written to streams.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kForKernels{
    {{"cub/cub.cuh", "cub"}, {"cuda.h", "driver"}, {"thrust/complex.h", "thrust_complex"}}};

const std::string& standard_file(std::string_view name) {
  return embedded_files().at(fmt::format("{}{}.cuh", kFolder, name));
}

}  // namespace

bool is_standard_header(std::string_view name) {
  return std::ranges::find(kStandard, name,
                           &std::pair<std::string_view, std::string_view>::first) !=
         kStandard.end();
}

bool is_cuda_header(std::string_view name) {
  const auto slash = name.find('/');
  return slash == std::string_view::npos ? lists(kCudaFiles, name)
                                         : lists(kCudaFolders, name.substr(0, slash));
}

std::string nearest_header(std::string_view name) {
  const auto slash = name.find('/');
  if (slash != std::string_view::npos) {
    const std::vector<std::string> folders(kCudaFolders.begin(), kCudaFolders.end());
    std::string folder = nearest_name(name.substr(0, slash), folders);
    if (!folder.empty()) folder.append(name.substr(slash));
    return folder;
  }
  std::vector<std::string> names(kCudaFiles.begin(), kCudaFiles.end());
  for (const auto& standard : kStandard) names.emplace_back(standard.first);
  return nearest_name(name, names);
}

bool is_advised_libcuxx_header(std::string_view name) {
  return lists(kOfLibcuxx, name);
}

std::string advice_on_missing_header(std::string_view name) {
  if (is_advised_libcuxx_header(name)) {
    return fmt::format("include <cuda/std/{}> and write cuda::std:: instead of std::", name);
  }
  const bool is_librarys = std::ranges::any_of(
      kOfHostLibraries, [&](std::string_view start) { return name.starts_with(start); });
  if (lists(kOfHosts, name) || is_librarys) {
    return "do not use this header in device code, and put host code under #if "
           "!defined(KILN_RENDERED)";
  }
  const std::string meant = nearest_header(name);
  return (meant.empty() ? ""
                        : fmt::format("if you mean <{}>, write that name; otherwise ", meant)) +
         "put the header beside the template, or name the header's folder with --include DIR or "
         "\"//@ include DIR\"";
}

std::vector<std::string> advised_libcuxx_headers() {
  return {kOfLibcuxx.begin(), kOfLibcuxx.end()};
}

const std::vector<SuppliedHeader>& supplied_headers() {
  static const std::vector<SuppliedHeader> headers = [] {
    std::vector<SuppliedHeader> all;
    const auto add = [&all](const auto& table) {
      for (const auto& [name, file] : table) {
        all.push_back({std::string(name), standard_file(file)});
      }
    };
    add(kStandard);
    add(kForKernels);
    return all;
  }();
  return headers;
}

const std::string& supplied_headers_digest() {
  static const std::string digest = [] {
    DigestBuilder builder;
    for (const auto& header : supplied_headers()) builder.add(header.name).add(header.text);
    return builder.hex();
  }();
  return digest;
}

}  // namespace kiln
