// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// A struct in a template's code.
struct ScannedStruct {
  int line = 0;
  std::vector<std::string> fields;  ///< data members, in the order of their declaration
};

/// A __global__ function in a template's code.
struct ScannedKernel {
  std::string name;  ///< without its namespaces
  int line = 0;
  std::size_t parameters = 0;  ///< of its template
  std::size_t defaults = 0;    ///< how many of them have a default
  bool is_variadic = false;
};

/// What can be found out about CUDA C++ without a compiler: enough to point at the line that a
/// compiler error is about, and never a reason to refuse anything. Macros are not expanded.
[[nodiscard]] std::optional<ScannedStruct> find_struct(std::string_view source,
                                                       std::string_view name);
[[nodiscard]] std::vector<ScannedKernel> find_kernels(std::string_view source);

}  // namespace kiln
