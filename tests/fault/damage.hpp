// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>

namespace kiln::test {

/// The bytes of an SQLite file with one damage of the kinds caused by disks, copies and people: a
/// flipped bit, noise, a page header, truncation, zeroed sectors, a page in another's place.
[[nodiscard]] std::string damaged(std::string bytes, std::mt19937_64& random);

}  // namespace kiln::test
