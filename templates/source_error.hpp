// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/expression/expression.hpp"

namespace kiln {

/// Error(template_): "file:line:column: message", the line, and a caret under the character
/// `offset` of `text`, where `text` begins at `place`.
[[nodiscard]] Error source_error(const SourcePlace& place, std::string_view text,
                                 std::size_t offset, std::string_view message);
/// Throws it.
[[noreturn]] void throw_at(const SourcePlace& place, std::string_view text, std::size_t offset,
                           std::string_view message);

/// `a comma is missing between "n" and "4"`, where a value begins at `at` of an expression behind
/// another one, and `what` is what may be missing; else "".
[[nodiscard]] std::string why_missing(std::string_view what, std::string_view text, std::size_t at);

/// Throws Error(template_) at the first NUL of a file: the compiler would read no further, and take
/// what is there for the whole.
void refuse_nul(std::string_view file, std::string_view source);

}  // namespace kiln
