// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "templates/operation/problem.hpp"

namespace kiln::tools {

/// Numbers as a person reads them: three or four significant digits and a unit.
[[nodiscard]] std::string time_text(double ns);             ///< "310.2 us"
[[nodiscard]] std::string seconds_text(double seconds);     ///< "45 s", "2 m 05 s"
[[nodiscard]] std::string bytes_text(std::int64_t bytes);   ///< "48.0 KiB"
[[nodiscard]] std::string percent_text(double fraction);    ///< "6.5 %"
[[nodiscard]] std::string date_text(std::int64_t unix_ms);  ///< "2026-11-20 14:03", UTC
[[nodiscard]] std::string count_text(std::uint64_t count);  ///< "4,821"
/// "1 trial", "4,821 trials": for nouns that take an s.
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

/// TFLOP/s of the problem's operation at that time per run; 0 when it has no flops.
[[nodiscard]] double tera_flops(const Problem& problem, double time_ns);
/// GB/s at which the fewest bytes that a run must move were moved; 0 for an unknown operation.
[[nodiscard]] double giga_bytes(const Problem& problem, double time_ns);
/// "443.1 TFLOP/s". Of a declared operation that computes little with what it reads "4.21 TB/s";
/// "" for one that no file declares.
[[nodiscard]] std::string rate_text(const Problem& problem, double time_ns);

}  // namespace kiln::tools
