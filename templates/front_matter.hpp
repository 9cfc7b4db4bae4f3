// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression.hpp"
#include "templates/kernel_template.hpp"
#include "templates/operation.hpp"

namespace kiln {

/// What a template may have at most: far more than any tuned kernel needs, and little enough that
/// reading it and counting its space stay a matter of milliseconds.
inline constexpr std::size_t kMostFrontMatterLines = 1024;
inline constexpr std::size_t kMostTunables = 64;
inline constexpr std::size_t kMostValues = 1024;  ///< of a tunable
inline constexpr std::size_t kMostFileBytes = std::size_t{4} << 20;

/// One `//@ key text // comment` line, taken apart.
struct FrontMatterLine {
  std::string key;
  std::string text;     ///< without the comment and the spaces around it
  std::string comment;  ///< likewise
  SourcePlace key_place;
  SourcePlace text_place;

  /// Throws Error(template_) at the key, or at character `offset` of the text.
  [[noreturn]] void fail_at_key(std::string_view message) const;
  [[noreturn]] void fail(std::size_t offset, std::string_view message) const;
};

/// A part of a line's text with its offset there.
struct TextPart {
  std::string_view text;
  std::size_t offset = 0;
};

/// Whether any line begins with `//@`.
[[nodiscard]] bool has_front_matter(std::string_view source);
/// The lines of a file that begin with `//@` and hold something, in order. Throws Error(template_)
/// at the first that is too many.
[[nodiscard]] std::vector<FrontMatterLine> read_front_matter(const std::string& file,
                                                             std::string_view source);

/// The words between spaces.
[[nodiscard]] std::vector<TextPart> split_words(std::string_view text);
/// The parts between commas that no parenthesis encloses, without the spaces around them.
[[nodiscard]] std::vector<TextPart> split_arguments(std::string_view text);
/// Letters, digits and underscores, no digit first.
[[nodiscard]] bool is_identifier(std::string_view text);

/// `a=f16|bf16 b=a c=d d=a|f32 acc=f32`: every slot of the operation once, each with element types
/// or other slots, such that the row comes down to element types in the end.
[[nodiscard]] TypeRow parse_type_row(const FrontMatterLine& line, const Operation& operation);
/// `tile_m = 32 64* 128`.
[[nodiscard]] Tunable parse_tunable(const FrontMatterLine& line);

}  // namespace kiln
