// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln {

/// A folder that a line of a source names for headers.
struct IncludeLine {
  std::string folder;  ///< relative to the source's
  int line = 0;
};

}  // namespace kiln
