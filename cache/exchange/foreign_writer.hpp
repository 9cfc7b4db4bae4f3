// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cache/exchange/foreign_results.hpp"

namespace kiln {

/// A cache file as Kernel Tuner 1.x writes and loads it, closed. `values` lists the values of each
/// tunable, in the order of `file.names`.
[[nodiscard]] std::string cache_file_text(const ForeignResults& file,
                                          const std::vector<std::vector<ForeignValue>>& values);

/// A file in the T4 format, results schema 1.0.0, with times in milliseconds. The compile time has
/// both names that readers look for: `compilation` and `compilation_time`.
[[nodiscard]] std::string t4_file_text(const ForeignResults& file);

}  // namespace kiln
