// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt.hpp"

#include <cuda_fp16.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "runtime/cuda/cublaslt_api.hpp"
#include "runtime/cuda/cublaslt_epilogue.hpp"
#include "runtime/cuda/cuda_status.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"

namespace kiln {
namespace {

using Api = CublasLtApi;
constexpr int kMostAlgorithms = 32;

struct Types {
  cudaDataType a, b, c, d;
  int compute;
  cudaDataType scale;
};

std::optional<cudaDataType> data_type(DType type) {
  switch (type) {
    case DType::f16:
      return CUDA_R_16F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::tf32:
    case DType::f32:
      return CUDA_R_32F;
    case DType::f64:
      return CUDA_R_64F;
    case DType::e4m3:
      return CUDA_R_8F_E4M3;
    case DType::e5m2:
      return CUDA_R_8F_E5M2;
    case DType::s8:
      return CUDA_R_8I;
    case DType::s32:
      return CUDA_R_32I;
    case DType::u8:
    case DType::s4:
    case DType::u4:
    case DType::b1:
    case DType::b1_xor:
    case DType::s16:
    case DType::u16:
    case DType::u32:
    case DType::s64:
    case DType::u64:
    case DType::cf32:
    case DType::cf64:
      return std::nullopt;
  }
  return std::nullopt;
}

/// Types in cuBLASLt's terms, or why it has none.
std::optional<Types> to_types(const Gemm& gemm, std::string& why) {
  const auto a = data_type(gemm.a), b = data_type(gemm.b), c = data_type(gemm.c),
             d = data_type(gemm.d);
  if (!a || !b || !c || !d) {
    why = "cuBLASLt does not support the type of an operand (for example u8, s4, u4 or b1)";
    return std::nullopt;
  }
  const bool eight_bit_float = size_bytes(gemm.a) == 1 && gemm.acc == DType::f32;
  if (eight_bit_float && (gemm.storage_a != Storage::n || gemm.storage_b != Storage::t)) {
    why = "cuBLASLt multiplies 8-bit floats only in layout nt";
    return std::nullopt;
  }
  switch (gemm.acc) {
    case DType::f16:
      return Types{*a, *b, *c, *d, Api::kCompute16F, CUDA_R_16F};
    case DType::f32:
      return Types{*a,
                   *b,
                   *c,
                   *d,
                   gemm.a == DType::tf32 ? Api::kCompute32FFastTf32 : Api::kCompute32F,
                   CUDA_R_32F};
    case DType::f64:
      return Types{*a, *b, *c, *d, Api::kCompute64F, CUDA_R_64F};
    case DType::s32:
      return Types{
          *a, *b, *c, *d, Api::kCompute32I, has_whole_factors(gemm) ? CUDA_R_32I : CUDA_R_32F};
    default:
      why = fmt::format("cuBLASLt does not support accumulators of type {}", to_string(gemm.acc));
      return std::nullopt;
  }
}

/// A factor in the type that cuBLASLt reads it in.
union Scale {
  __half_raw f16;
  float f32;
  double f64;
  std::int32_t s32;
};

Scale to_scale(double value, cudaDataType type) {
  Scale scale{};
  if (type == CUDA_R_16F) {
    scale.f16 = __double2half(value);
  } else if (type == CUDA_R_32F) {
    scale.f32 = static_cast<float>(value);
  } else if (type == CUDA_R_64F) {
    scale.f64 = value;
  } else {
    scale.s32 = static_cast<std::int32_t>(std::lround(value));
  }
  return scale;
}

/// Largest power of two up to 256, what cuBLASLt assumes at most, that divides the address.
std::uint32_t alignment_of(const void* address) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address) | 256U;
  return static_cast<std::uint32_t>(bits & (~bits + 1));
}

}  // namespace

/// Everything is transposed: a row-major D is a column-major D^T = op(B)^T op(A)^T, so cuBLASLt's
/// first operand ("left") is our B and its second ("right") our A, neither of which
/// moves in memory.
struct CublasLtMatmul::Impl {
  ~Impl() {
    for (Api::MatrixLayout layout : {left, right, c, d}) {
      if (layout != nullptr) static_cast<void>(api.layout_destroy(layout));
    }
    if (desc != nullptr) static_cast<void>(api.desc_destroy(desc));
    if (handle != nullptr) static_cast<void>(api.destroy(handle));
  }

  /// Success, or the first failing step's status.
  Api::Status describe(const Gemm& gemm, const Types& types);
  /// Sets which bias the next run adds.
  Api::Status set_bias(const GemmOperands& operands);
  Api::Status ask(const GemmOperands& operands, std::int64_t workspace_bytes);

  Api api;
  Api::Handle handle = nullptr;
  Api::MatmulDesc desc = nullptr;
  Api::MatrixLayout left = nullptr, right = nullptr, c = nullptr, d = nullptr;
  cudaDataType scale = CUDA_R_32F;
  CublasLtEpilogue finish;
  std::size_t workspace = 0;
  std::vector<Api::HeuristicResult> results;
};

Api::Status CublasLtMatmul::Impl::describe(const Gemm& gemm, const Types& types) {
  scale = types.scale;
  const bool left_transposed = gemm.storage_b == Storage::t;
  const bool right_transposed = gemm.storage_a == Storage::t;
  const auto m = static_cast<std::uint64_t>(gemm.m), n = static_cast<std::uint64_t>(gemm.n),
             k = static_cast<std::uint64_t>(gemm.k);
  const int left_op = left_transposed ? Api::kOpTranspose : Api::kOpNone;
  const int right_op = right_transposed ? Api::kOpTranspose : Api::kOpNone;
  for (const Api::Status status :
       {api.create(&handle), api.desc_create(&desc, types.compute, types.scale),
        api.layout_create(&left, types.b, left_transposed ? k : n, left_transposed ? n : k,
                          gemm.ldb),
        api.layout_create(&right, types.a, right_transposed ? m : k, right_transposed ? k : m,
                          gemm.lda),
        api.layout_create(&c, types.c, n, m, gemm.ldc),
        api.layout_create(&d, types.d, n, m, gemm.ldd)}) {
    if (status != Api::kSuccess) return status;
  }
  for (const Api::Status status :
       {api.desc_set(desc, Api::kDescTransA, &left_op, sizeof(left_op)),
        api.desc_set(desc, Api::kDescTransB, &right_op, sizeof(right_op))}) {
    if (status != Api::kSuccess) return status;
  }
  if (finish.code == CublasLtEpilogue().code) return Api::kSuccess;
  for (const Api::Status status :
       {api.desc_set(desc, Api::kDescEpilogue, &finish.code, sizeof(finish.code)),
        api.desc_set(desc, Api::kDescBiasType, &types.d, sizeof(types.d))}) {
    if (status != Api::kSuccess) return status;
  }
  return Api::kSuccess;
}

Api::Status CublasLtMatmul::Impl::set_bias(const GemmOperands& operands) {
  if (finish.bias_operand < 0) return Api::kSuccess;
  const void* const bias = operands.epilogue[static_cast<std::size_t>(finish.bias_operand)].data;
  return api.desc_set(desc, Api::kDescBiasPointer, &bias, sizeof(bias));
}

Api::Status CublasLtMatmul::Impl::ask(const GemmOperands& operands, std::int64_t workspace_bytes) {
  workspace = static_cast<std::size_t>(workspace_bytes);
  Api::Preference preference = nullptr;
  if (const auto status = api.preference_create(&preference); status != Api::kSuccess) {
    return status;
  }
  const void* c_address = operands.c != nullptr ? operands.c : operands.d;
  const std::uint32_t alignment_left = alignment_of(operands.b);
  const std::uint32_t alignment_right = alignment_of(operands.a);
  const std::uint32_t alignment_c = alignment_of(c_address);
  const std::uint32_t alignment_d = alignment_of(operands.d);
  constexpr std::size_t kBytes = sizeof(std::uint32_t);
  Api::Status status = Api::kSuccess;
  const auto set = [&](int attribute, const void* value, std::size_t bytes) {
    if (status == Api::kSuccess) status = api.preference_set(preference, attribute, value, bytes);
  };
  set(Api::kPrefMaxWorkspace, &workspace, sizeof(workspace));
  set(Api::kPrefAlignmentA, &alignment_left, kBytes);
  set(Api::kPrefAlignmentB, &alignment_right, kBytes);
  set(Api::kPrefAlignmentC, &alignment_c, kBytes);
  set(Api::kPrefAlignmentD, &alignment_d, kBytes);
  results.resize(kMostAlgorithms);
  int found = 0;
  if (status == Api::kSuccess) {
    status = api.get_heuristic(handle, desc, left, right, c, d, preference, kMostAlgorithms,
                               results.data(), &found);
  }
  static_cast<void>(api.preference_destroy(preference));
  results.resize(static_cast<std::size_t>(std::max(found, 0)));
  std::erase_if(results, [](const auto& result) { return result.state != Api::kSuccess; });
  return status;
}

CublasLtMatmul::CublasLtMatmul(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CublasLtMatmul::~CublasLtMatmul() = default;

std::unique_ptr<CublasLtMatmul> CublasLtMatmul::plan(const Gemm& gemm, const GemmOperands& operands,
                                                     std::int64_t workspace_bytes,
                                                     std::string& why) {
  const Gemm g = normalised(gemm);
  const auto types = to_types(g, why);
  const auto finish = cublaslt_epilogue(g);
  if (!finish) {
    why = fmt::format("cuBLASLt does not support the epilogue {}", g.epilogue.text());
    return nullptr;
  }
  auto impl = std::make_unique<Impl>();
  impl->finish = *finish;
  if (!types || !impl->api.load(why)) return nullptr;
  Api::Status status = impl->describe(g, *types);
  if (status == Api::kSuccess) status = impl->set_bias(operands);
  if (status == Api::kSuccess) status = impl->ask(operands, workspace_bytes);
  if (status != Api::kSuccess || impl->results.empty()) {
    why = fmt::format(
        "cuBLASLt offers no algorithm for this problem ({})",
        status == Api::kSuccess ? "its list of algorithms is empty" : Api::status_text(status));
    return nullptr;
  }
  return std::unique_ptr<CublasLtMatmul>(new CublasLtMatmul(std::move(impl)));
}

int CublasLtMatmul::algorithms() const {
  return static_cast<int>(impl_->results.size());
}

std::string CublasLtMatmul::label(int algorithm) const {
  const std::size_t version = impl_->api.get_version();
  return fmt::format("cuBLASLt {}.{}.{} heuristic {}", version / 10000, version % 10000 / 100,
                     version % 100, algorithm);
}

std::int64_t CublasLtMatmul::workspace_bytes(int algorithm) const {
  return static_cast<std::int64_t>(
      impl_->results[static_cast<std::size_t>(algorithm)].workspace_bytes);
}

DeviceStatus CublasLtMatmul::run(int algorithm, const GemmOperands& operands, DevicePtr workspace,
                                 void* stream) const {
  const CublasLtEpilogue& finish = impl_->finish;
  const double factor_c = !finish.with_c ? 0.0 : finish.with_beta ? operands.beta : 1.0;
  const Scale alpha = to_scale(finish.with_alpha ? operands.alpha : 1.0, impl_->scale);
  const Scale beta = to_scale(factor_c, impl_->scale);
  const void* c = factor_c != 0.0 ? operands.c : operands.d;
  const auto& choice = impl_->results[static_cast<std::size_t>(algorithm)];
  Api::Status status = impl_->set_bias(operands);
  if (status == Api::kSuccess) {
    status = impl_->api.matmul(impl_->handle, impl_->desc, &alpha, operands.b, impl_->left,
                               operands.a, impl_->right, &beta, c, impl_->c, operands.d, impl_->d,
                               &choice.algorithm, reinterpret_cast<void*>(workspace),
                               impl_->workspace, static_cast<cudaStream_t>(stream));
  }
  if (status == Api::kSuccess) return {};
  // Some of these stem from a CUDA error, which says more.
  if (DeviceStatus cuda = to_status(cudaPeekAtLastError()); !cuda.ok()) return cuda;
  return {DeviceStatus::Code::launch_failed, "cuBLASLt: " + Api::status_text(status), false};
}

}  // namespace kiln
