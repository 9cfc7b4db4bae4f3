// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

namespace kiln::tools {

/// A check for flags that take a number: decimal digits, and nothing that would wrap, be cut or be
/// rounded on its way into the variable. "--seed: -1 is not a whole number of 0 or more".
[[nodiscard]] CLI::Validator whole_number(
    std::int64_t least, std::int64_t most = std::numeric_limits<std::int64_t>::max());

/// The most that an `int` holds, and the most repetitions of anything that a person can mean.
inline constexpr std::int64_t kMostInt = std::numeric_limits<std::int32_t>::max();
inline constexpr std::int64_t kMostRepetitions = 1'000'000;
/// Threads that compile: more than machines have processors, fewer than a process may have.
inline constexpr std::int64_t kMostThreads = 1024;

}  // namespace kiln::tools
