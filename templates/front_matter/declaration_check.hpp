// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln {

/// The types of declarations that are lines of their own: tunables and lets of a template without a
/// config struct, and `let name = ...` beside one.
inline constexpr std::string_view kMacro = "macro";
inline constexpr std::string_view kHostValue = "host value";

/// Whether the statement follows a declaration exactly if it is about one: `config` and `at launch`
/// a struct, `tune` and `let` a field of a marked struct. Throws Error(template_) that shows how to
/// write it.
void check_declaration(const FrontMatterLine& line);

}  // namespace kiln
