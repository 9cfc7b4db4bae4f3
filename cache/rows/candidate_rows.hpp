// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "cache/records.hpp"
#include "cache/store/sqlite.hpp"

namespace kiln {

/// Row numbers of the tables that trials, attempts and sessions refer to. `find_*` only look,
/// `intern_*` add what is missing (inside the caller's transaction).
[[nodiscard]] std::optional<std::int64_t> find_problem(const sqlite::Connection& connection,
                                                       const Problem& problem);
[[nodiscard]] std::optional<std::int64_t> find_device(const sqlite::Connection& connection,
                                                      const DeviceClass& device);
[[nodiscard]] std::int64_t intern_problem(const sqlite::Connection& connection,
                                          const Problem& problem);
[[nodiscard]] std::int64_t intern_device(const sqlite::Connection& connection,
                                         const DeviceClass& device);
[[nodiscard]] std::int64_t intern_template(const sqlite::Connection& connection,
                                           const std::string& name, const std::string& digest);
[[nodiscard]] std::int64_t intern_environment(const sqlite::Connection& connection,
                                              const Environment& environment);

/// The columns of a joined device and environment row, read in the order in which the constants
/// below list them.
inline constexpr const char* kDeviceColumns =
    "d.name, d.arch, d.sm_count, d.l2_bytes, d.mig_profile";
inline constexpr const char* kEnvironmentColumns = "e.driver, e.toolkit, e.policy";
[[nodiscard]] DeviceClass read_device(const sqlite::Statement& row, int first_column);
[[nodiscard]] Environment read_environment(const sqlite::Statement& row, int first_column);

}  // namespace kiln
