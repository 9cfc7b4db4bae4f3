// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kiln/types.hpp"

namespace kiln {

inline constexpr std::size_t kMostTensorMaps = 4;  ///< of a launch
inline constexpr std::size_t kMostMapRank = 5;     ///< dimensions of a tensor map

/// A tensor map but for what only a launch knows: where the operand is and its leading dimension,
/// which are read from the kernel's argument then. Arrays begin with the innermost dimension, of
/// which `rank` count. Trivially copyable, because launches copy it.
struct TensorMapPlan {
  /// Bytes from one index to the next of dimensions 1 and up; 0 for dimension 1: as many elements
  /// as the operand's leading dimension.
  std::array<std::int64_t, kMostMapRank - 1> strides{};
  std::int64_t offset = 0;                            ///< bytes behind the address in the argument
  std::array<std::uint32_t, kMostMapRank> extents{};  ///< of the tensor, in elements
  std::array<std::uint16_t, kMostMapRank> box{};      ///< that one copy moves, in elements
  std::uint16_t pointer_at = 0;  ///< byte offset of the address in the kernel's argument
  std::uint16_t ld_at = 0;       ///< and of the leading dimension, an std::int64_t of elements
  std::uint16_t swizzle = 0;     ///< bytes of its span: 0 (none), 32, 64, 128
  std::uint16_t promotion = 0;   ///< bytes that a miss brings into L2: 0 (as asked for), 64 to 256
  DType type = DType::f16;
  std::uint8_t rank = 0;  ///< 0: the tensor has no elements, and the kernel gets 128 zeros
  friend bool operator==(const TensorMapPlan&, const TensorMapPlan&) = default;
};

/// The tensor maps of a launch: what a kernel gets by value after its other parameters, as
/// `const __grid_constant__ kiln::TensorMap`, in the order of the `map` lines.
struct TensorMapPlans {
  std::array<TensorMapPlan, kMostTensorMaps> items{};
  std::uint32_t count = 0;
  friend bool operator==(const TensorMapPlans&, const TensorMapPlans&) = default;
};

}  // namespace kiln
