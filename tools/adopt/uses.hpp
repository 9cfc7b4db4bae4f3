// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// What device code does with a number that it is compiled with.
struct NameUses {
  bool is_in_code = false;       ///< beside conditions and `#pragma unroll`
  bool is_in_unroll = false;     ///< `#pragma unroll NAME`
  bool may_be_zero = false;      ///< a condition asks whether it is
  std::set<std::int64_t> asked;  ///< numbers that conditions compare it with by ==
  bool has_else = false;         ///< and code for all others
  /// By dimension: threads lie that far apart, as in `threadIdx.x + i * NAME`, or loops from
  /// threadIdx.x go on by it, or it is the length of a row of threads.
  std::array<bool, 3> is_thread_stride{};
  std::array<bool, 3> scales_block{};  ///< `blockIdx.x * NAME + threadIdx.x`
  bool scales_threads = false;         ///< a factor beside threadIdx, blockIdx or blockDim
  bool is_in_launch_bounds = false;
  bool extends_shared = false, extends_constant = false;  ///< an array
  bool is_step = false;  ///< `i += NAME`, where i does not begin at a thread's number
  bool bounds_loop = false;
  bool is_divisor = false;
};

/// What is told of all names together.
struct SourceUses {
  std::map<std::string, NameUses, std::less<>> names;
  std::set<std::pair<std::string, std::string>> quotients;  ///< `first / second`, both names
};

/// The uses of `names` in code for the device, macros included.
[[nodiscard]] SourceUses read_uses(const SourceModel& model,
                                   const std::set<std::string, std::less<>>& names);

}  // namespace kiln::tools
