// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/operation/problem.hpp"

namespace kiln::tools {

/// Numbers as a person reads them: three or four significant digits and a unit.
[[nodiscard]] std::string time_text(double ns);        ///< "310.2 us"
[[nodiscard]] std::string energy_text(double joules);  ///< "1.234 mJ"
[[nodiscard]] std::string power_text(double watts);    ///< "512.0 W"
/// "12.34 Gpoints/s": the number with an SI prefix in front of the unit.
[[nodiscard]] std::string si_text(double value, const std::string& unit);
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
/// A result in the units of the operation's own `metric` lines.
struct MetricValue {
  std::string name;  ///< "points_per_s"
  double value = 0.0;
  std::string text;  ///< "12.34 Gpoints/s"
};
/// Those that have a value. Without an energy (0) such as need it are left out.
[[nodiscard]] std::vector<MetricValue> metrics_of(const Problem& problem, double time_ns,
                                                  double energy_j = 0.0);
/// The first metric of the operation, if it has one. Else "443.1 TFLOP/s"; of a declared operation
/// that computes little with what it reads "4.21 TB/s"; "" for one that no file declares.
[[nodiscard]] std::string rate_text(const Problem& problem, double time_ns);
/// All metrics, and what rate_text() says of an operation without any.
[[nodiscard]] std::string rates_text(const Problem& problem, double time_ns, double energy_j = 0.0);

}  // namespace kiln::tools
