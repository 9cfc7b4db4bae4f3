// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "kiln/epilogue.hpp"
#include "runtime/library/gemm_key.hpp"
#include "runtime/library/kernel_entry.hpp"

namespace kiln::detail {

/// A kernel for one product, and what a launch of it must keep.
struct GemmEntry : KernelEntry {
  explicit GemmEntry(KernelEntry common) : KernelEntry(std::move(common)) {}

  GemmKey key;
  std::uintptr_t mask_a = 0, mask_b = 0, mask_c = 0, mask_d = 0;  ///< bits that must be zero
  int m = 0, n = 0, k = 0;
  bool reads_c = false;
  Epilogue epilogue;
  bool names_alpha = true, names_beta = true;  ///< else it must be 1 or 0
  int epilogue_operands = 0;
  std::array<std::uintptr_t, kMostEpilogueOperands> epilogue_masks{};
  std::array<bool, kMostEpilogueOperands> epilogue_matrices{};  ///< x[m,n]
  bool whole_scalars = false;                                   ///< alpha and beta become integers
  double largest_scalar = 0.0;  ///< that the accumulator's type represents
};

}  // namespace kiln::detail
