// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kiln::tools {

/// `text` in lines of at most 80 columns, unless a word is longer; the first begins at column
/// `indent`, the others are indented so far.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t indent);

}  // namespace kiln::tools
