// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation.hpp"
#include "templates/template_parts.hpp"

namespace kiln {

inline constexpr std::size_t kMostTunables = 64;
inline constexpr std::size_t kMostValues = 4096;  ///< of a tunable or a trait
inline constexpr std::size_t kMostFileBytes = std::size_t{4} << 20;

/// A part of a line's text with its offset there.
struct TextPart {
  std::string_view text;
  std::size_t offset = 0;
};

/// The words between spaces.
[[nodiscard]] std::vector<TextPart> split_words(std::string_view text);
/// The parts between commas that are not inside parentheses or braces, without the spaces around
/// them.
[[nodiscard]] std::vector<TextPart> split_arguments(std::string_view text);
/// The parts between semicolons, likewise.
[[nodiscard]] std::vector<TextPart> split_clauses(std::string_view text);

/// `a=f16|bf16 b=a c=d d=a|f32 acc=f32`: every slot of the operation once, each with element types
/// or other slots, such that the row comes down to element types in the end.
[[nodiscard]] TypeRow parse_type_row(const FrontMatterLine& line, const Operation& operation);

/// `name = expression`: the name, behind so many characters, and the part after '='. Throws
/// Error(template_) that points at what is missing.
[[nodiscard]] std::pair<std::string_view, TextPart> name_and_value(const FrontMatterLine& line,
                                                                   std::size_t skipped = 0);

}  // namespace kiln
