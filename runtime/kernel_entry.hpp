// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/types.hpp"
#include "runtime/device.hpp"
#include "runtime/gemm_key.hpp"

namespace kiln::detail {

class Workspaces;

/// A kernel that is loaded and ready for one problem. Immutable once published.
struct KernelEntry {
  GemmKey key;

  // First what a launch reads.
  std::uint32_t process = 0;  ///< this_process() of its library
  Device* device = nullptr;
  Workspaces* workspaces = nullptr;
  /// In order; arguments are filled in by each launch. None where D has no elements.
  std::vector<LaunchRequest> launches;
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
  std::int64_t workspace_bytes = 0;

  std::shared_ptr<const LoadedModule> module;
  Match match = Match::none;
  std::string reason;
  std::string template_name;
  std::string config;
};

}  // namespace kiln::detail
