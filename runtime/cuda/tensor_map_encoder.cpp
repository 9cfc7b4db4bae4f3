// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/tensor_map_encoder.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>

#include "templates/launch/tensor_maps.hpp"

namespace kiln {
namespace {

/// The interface that <cuda.h> declares for cuTensorMapEncodeTiled.
constexpr unsigned kEncodeInterface = 12000;

CUtensorMapDataType cuda_type(DType type) {
  switch (type) {
    case DType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::tf32:
      return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case DType::f32:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case DType::s32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    default:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

CUtensorMapSwizzle cuda_swizzle(int bytes) {
  return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
         : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                       : CU_TENSOR_MAP_SWIZZLE_NONE;
}

CUtensorMapL2promotion cuda_promotion(int bytes) {
  return bytes == 256   ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
         : bytes == 128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_128B
         : bytes == 64  ? CU_TENSOR_MAP_L2_PROMOTION_L2_64B
                        : CU_TENSOR_MAP_L2_PROMOTION_NONE;
}

/// What a thread made before, by a hash of its address. A launch has up to four maps, and an
/// application a few kernels that it launches in turn.
struct Remembered {
  TensorMapPlan plan;
  BoundTensorMap bound;
  CUtensorMap map;
};
constexpr std::size_t kRemembered = 64;

Remembered& slot_of(const TensorMapPlan& plan, const BoundTensorMap& bound) {
  thread_local std::array<Remembered, kRemembered> slots{};
  const std::uint64_t mixed = (bound.address ^ (std::uint64_t{plan.box[1]} << 20) ^
                               (std::uint64_t{plan.extents[0]} << 32) ^ plan.pointer_at) *
                              0x9e3779b97f4a7c15ULL;
  return slots[mixed >> 58];
}
static_assert(kRemembered == std::size_t{1} << (64 - 58));

}  // namespace

TensorMapEncoder::TensorMapEncoder() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, kEncodeInterface,
                                       cudaEnableDefault, &result) == cudaSuccess) {
    encode_ = reinterpret_cast<decltype(encode_)>(found);
  }
}

DeviceStatus TensorMapEncoder::encode(const TensorMapPlans& plans, const void* argument,
                                      CudaTensorMaps& maps) const noexcept {
  for (std::size_t i = 0; i < plans.count; ++i) {
    const TensorMapPlan& plan = plans.items[i];
    if (plan.rank == 0) {
      std::memset(&maps[i], 0, sizeof(maps[i]));
      continue;
    }
    const BoundTensorMap bound = bind_tensor_map(plan, argument);
    Remembered& remembered = slot_of(plan, bound);
    if (remembered.bound != bound || remembered.plan != plan) {
      if (encode_ == nullptr) {
        return {DeviceStatus::Code::launch_failed,
                "the NVIDIA driver has no function cuTensorMapEncodeTiled. Next: install driver "
                "570 or newer",
                false};
      }
      // The driver's integers are unsigned long long, not long.
      std::array<cuuint64_t, kMostMapRank> extents{};
      std::array<cuuint64_t, kMostMapRank> strides{};
      std::array<cuuint32_t, kMostMapRank> box{};
      for (std::size_t d = 0; d < kMostMapRank; ++d) {
        extents[d] = plan.extents[d];
        box[d] = plan.box[d];
        if (d + 1 < kMostMapRank) strides[d] = static_cast<cuuint64_t>(bound.strides[d]);
      }
      constexpr std::array<cuuint32_t, kMostMapRank> kSteps{1, 1, 1, 1, 1};
      remembered = {};
      const CUresult result = encode_(
          &remembered.map, cuda_type(plan.type), plan.rank, reinterpret_cast<void*>(bound.address),
          extents.data(), strides.data(), box.data(), kSteps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
          cuda_swizzle(plan.swizzle), cuda_promotion(plan.promotion),
          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
      if (result != CUDA_SUCCESS) {
        return {
            DeviceStatus::Code::launch_failed,
            fmt::format("the driver rejected a tensor map: cuTensorMapEncodeTiled returned error "
                        "{} for {} (row stride: {} bytes, "
                        "address: {:#x})",
                        static_cast<int>(result), describe(plan), bound.strides[0], bound.address),
            false};
      }
      remembered.plan = plan;
      remembered.bound = bound;
    }
    maps[i] = remembered.map;
  }
  return {};
}

}  // namespace kiln
