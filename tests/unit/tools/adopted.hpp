// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/adopt/adopt.hpp"

namespace kiln::tools {

/// What adopt() makes of a source in kernels/file.cu.
inline Adoption adopted(const std::string& source, const AdoptOptions& options = {}) {
  return adopt("kernels/file.cu", source, options);
}

}  // namespace kiln::tools
