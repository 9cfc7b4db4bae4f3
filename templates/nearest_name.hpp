// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kiln {

/// The candidate with the fewest edits from `name`, if few enough that it may be meant; else "".
[[nodiscard]] std::string nearest_name(std::string_view name,
                                       std::span<const std::string> candidates);

/// Whether one of two different names is likely a typo of the other: upper and lower case, or one
/// or two edits. Names that people choose to tell things apart are none: tile_x and tile_y, part1
/// and part2, block and blocks.
[[nodiscard]] bool is_typo_of(std::string_view name, std::string_view other);

/// Whether they differ by their numbers or by the last letters of their words, as tile_x and tile_y
/// do: rather two names than one and its typo.
[[nodiscard]] bool are_siblings(std::string_view a, std::string_view b);

/// `; did you mean "tile_k"?`, or nothing if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string> candidates);

/// The same with all candidates: `; did you mean "b"? There are a, b`, `; there are a, b`.
[[nodiscard]] std::string meant_or_known(std::string_view name,
                                         std::span<const std::string> candidates);

}  // namespace kiln
