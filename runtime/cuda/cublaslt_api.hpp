// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace kiln {

/// The part of cuBLASLt's binary interface that Kiln calls, found at run time. It is declared here,
/// because none of the packages that the build needs contains the header; the interface has been
/// stable since CUDA 11, within which types are opaque and enumerators keep their numbers. Each
/// constant has the name that NVIDIA's documentation gives it.
struct CublasLtApi {
  using Status = int;
  using Handle = void*;
  using MatmulDesc = void*;
  using MatrixLayout = void*;
  using Preference = void*;
  struct Algorithm {
    std::array<std::uint64_t, 8> data;
  };
  struct HeuristicResult {
    Algorithm algorithm;
    std::size_t workspace_bytes;
    Status state;
    float waves;
    std::array<int, 4> reserved;
  };

  static constexpr Status kSuccess = 0;           // CUBLAS_STATUS_SUCCESS
  static constexpr Status kNotSupported = 15;     // CUBLAS_STATUS_NOT_SUPPORTED
  static constexpr int kCompute16F = 64;          // CUBLAS_COMPUTE_16F
  static constexpr int kCompute32F = 68;          // CUBLAS_COMPUTE_32F
  static constexpr int kCompute32FFastTf32 = 77;  // CUBLAS_COMPUTE_32F_FAST_TF32
  static constexpr int kCompute64F = 70;          // CUBLAS_COMPUTE_64F
  static constexpr int kCompute32I = 72;          // CUBLAS_COMPUTE_32I
  static constexpr int kDescTransA = 3;           // CUBLASLT_MATMUL_DESC_TRANSA
  static constexpr int kDescTransB = 4;           // CUBLASLT_MATMUL_DESC_TRANSB
  static constexpr int kDescEpilogue = 7;         // CUBLASLT_MATMUL_DESC_EPILOGUE
  static constexpr int kDescBiasPointer = 8;      // CUBLASLT_MATMUL_DESC_BIAS_POINTER
  static constexpr int kDescBiasType = 26;        // CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE
  static constexpr int kOpNone = 0;               // CUBLAS_OP_N
  static constexpr int kOpTranspose = 1;          // CUBLAS_OP_T
  static constexpr int kPrefMaxWorkspace = 1;     // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
  static constexpr int kPrefAlignmentA = 5;       // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES
  static constexpr int kPrefAlignmentB = 6;       // and so on for B, C, D
  static constexpr int kPrefAlignmentC = 7;
  static constexpr int kPrefAlignmentD = 8;

  std::size_t (*get_version)() = nullptr;
  Status (*create)(Handle* handle) = nullptr;
  Status (*destroy)(Handle handle) = nullptr;
  Status (*desc_create)(MatmulDesc* desc, int compute_type, cudaDataType scale_type) = nullptr;
  Status (*desc_destroy)(MatmulDesc desc) = nullptr;
  Status (*desc_set)(MatmulDesc desc, int attribute, const void* value,
                     std::size_t bytes) = nullptr;
  Status (*layout_create)(MatrixLayout* layout, cudaDataType type, std::uint64_t rows,
                          std::uint64_t cols, std::int64_t ld) = nullptr;
  Status (*layout_destroy)(MatrixLayout layout) = nullptr;
  Status (*preference_create)(Preference* preference) = nullptr;
  Status (*preference_destroy)(Preference preference) = nullptr;
  Status (*preference_set)(Preference preference, int attribute, const void* value,
                           std::size_t bytes) = nullptr;
  Status (*get_heuristic)(Handle handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b,
                          MatrixLayout c, MatrixLayout d, Preference preference, int wanted,
                          HeuristicResult* results, int* found) = nullptr;
  Status (*matmul)(Handle handle, MatmulDesc desc, const void* alpha, const void* a,
                   MatrixLayout a_layout, const void* b, MatrixLayout b_layout, const void* beta,
                   const void* c, MatrixLayout c_layout, void* d, MatrixLayout d_layout,
                   const Algorithm* algorithm, void* workspace, std::size_t workspace_bytes,
                   cudaStream_t stream) = nullptr;

  /// Loads the library; false and the reason if it is missing or incomplete.
  [[nodiscard]] bool load(std::string& why);
  /// "not supported", "invalid value" and so on.
  [[nodiscard]] static std::string status_text(Status status);
};

}  // namespace kiln
