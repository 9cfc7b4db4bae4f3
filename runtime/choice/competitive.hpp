// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "runtime/compile/compiler.hpp"

namespace kiln {

/// A thread may store so many spilled bytes and still be fast: what is put away before a main loop
/// and fetched after it.
inline constexpr std::int64_t kFewSpilledBytes = 256;

/// Why compiled code that would run is not worth running, by what the compiler reports: spilled
/// registers, or an asynchronous instruction that ptxas serialised. Empty if it is. The tuner
/// rejects such candidates, and an application gets none that was not measured. Thread-safe.
[[nodiscard]] std::string why_not_competitive(const CompileResult& compiled);

}  // namespace kiln
