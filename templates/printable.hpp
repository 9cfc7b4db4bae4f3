// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

enum class LineBreaks { keep, escape };

/// `text` as a terminal may show it, whatever its origin: names and messages from a database,
/// templates and compilers can contain bytes that move the cursor, rename the window, or reverse
/// the order of letters. Control characters (C0 except tabs and, if kept, line feeds; DEL; C1),
/// bidirectional controls and separators of lines and paragraphs become \u001b, \u202e and
/// the like, which inside JSON strings are JSON's own escapes; bytes that are not UTF-8 become
/// \xff. Everything else stays, so a second call changes nothing.
[[nodiscard]] std::string printable(std::string_view text, LineBreaks breaks = LineBreaks::keep);

/// `value`, quoted if a shell would not take it for one word as it is.
[[nodiscard]] std::string shell_word(const std::string& value);

}  // namespace kiln
