// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln::tools {

/// CUDA source of the kernels that measure a device's ceilings, and their names.
struct CeilingSource {
  std::string text;
  std::vector<std::string> kernels;  ///< extern "C"
};

/// For a device of compute capability `sm` (80, 90): support/ceilings.cu without the kernels that
/// such a device cannot run, and with one for each type of wgmma where it has that.
[[nodiscard]] CeilingSource ceiling_source(int sm);

/// Multiply-adds of one iteration of a kernel wgmma_X, all of one block (two warpgroups).
[[nodiscard]] double wgmma_work(const std::string& type);

}  // namespace kiln::tools
