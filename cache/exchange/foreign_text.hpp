// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kiln {

/// A place in a text, both from 1; the column counts bytes.
struct TextPlace {
  std::uint64_t line = 1;
  std::uint64_t column = 1;
};
[[nodiscard]] TextPlace place_of(std::string_view text, std::size_t offset);

/// Makes a file that Python wrote JSON, with no change to the places of what remains: `NaN` and
/// `Infinity` become strings, and a cache file that lacks its last braces gets them. Throws
/// Error(usage) if the text ends within a result.
void mend_python_json(std::string& text, const std::string& name);

}  // namespace kiln
