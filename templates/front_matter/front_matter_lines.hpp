// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression/expression.hpp"

namespace kiln {

/// Limits of a template: far more than any tuned kernel needs, and little enough that reading it
/// and counting its space take milliseconds.
inline constexpr std::size_t kMostFrontMatterLines = 1024;
/// Of what a file declares: what a problem and a configuration are called then fits into a key.
inline constexpr std::size_t kMostNameCharacters = 128;

/// What `kiln adopt` writes in place of what it cannot know.
inline constexpr std::string_view kFillInWord = "FILL_IN";

/// What it begins its comments with where it guessed.
inline constexpr std::string_view kCheckWord = "CHECK:";

/// What precedes the mark on the line of a declaration:
/// `struct TinyConfig : Base {  //@ config` or `int tile_m;  //@ tune 32 64*`.
struct Declaration {
  std::string type;   ///< "struct", "int", "bool", or an enumeration's name; "" if the line begins
                      ///< with the mark
  std::string name;   ///< of the struct or the field
  std::string owner;  ///< the marked struct that contains a field; "": none
  SourcePlace place;  ///< of the name
  std::vector<std::string> bases = {};  ///< of a struct, without their namespaces
};

/// One statement `//@ key text // comment`, taken apart. It may span several lines; text and
/// comment are then joined with spaces.
struct FrontMatterLine {
  std::string key;
  std::string text;     ///< without the comment and the spaces around it
  std::string comment;  ///< likewise
  SourcePlace key_place;
  SourcePlace text_place;
  Declaration declaration = {};

  [[nodiscard]] bool is_declaration() const { return !declaration.type.empty(); }
  /// Throws Error(template_) at the key, or at character `offset` of the text.
  [[noreturn]] void fail_at_key(std::string_view message) const;
  [[noreturn]] void fail(std::size_t offset, std::string_view message) const;
};

/// The keys that a statement of a template can begin with.
[[nodiscard]] const std::vector<std::string>& template_keys();
/// Whether any line begins with `//@`.
[[nodiscard]] bool has_front_matter(std::string_view source);
/// The statements of a file, in order: lines that begin with `//@`, declarations of a marked struct
/// that end with one, and lines of such a struct that contain nothing else. A statement continues
/// on the line below
///   - if it is incomplete: a parenthesis is open, or it ends with an operator or a comma;
///   - if that line begins with what cannot begin a statement: an operator, a number, `name=`.
/// Throws Error(template_) at the first line that is too many, at a mark of a declaration that
/// comes after something else, and where the word FILL_IN stands, with the line's comment: what
/// `kiln adopt` could not know, at a NUL character, and at a name that is too long.
[[nodiscard]] std::vector<FrontMatterLine> read_front_matter(
    const std::string& file, std::string_view source,
    const std::vector<std::string>& keys = template_keys());

/// Letters, digits and underscores, no digit first.
[[nodiscard]] bool is_identifier(std::string_view text);

}  // namespace kiln
