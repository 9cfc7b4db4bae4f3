// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

namespace kiln::testing {

/// The command of plain nvcc; "" if there is none.
[[nodiscard]] inline std::string find_nvcc() {
  for (const char* command : {"nvcc", "/usr/local/cuda/bin/nvcc"}) {
    if (std::system((std::string(command) + " --version >/dev/null 2>&1").c_str()) == 0) {
      return command;
    }
  }
  return {};
}

}  // namespace kiln::testing
