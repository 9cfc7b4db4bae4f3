// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "tools/command_line/manual.hpp"

namespace kiln::tools {

/// Generated pieces of text by name. Each ends without a line break.
using Sections = std::map<std::string, std::string, std::less<>>;

/// Everything that the manual page, the completions and the documentation take from the
/// declarations of the program.
[[nodiscard]] Sections sections_of(const Manual& manual);

/// `text` with every `@name@` replaced by that section. `source` names the text in errors. Throws
/// Error(usage) with "source:line: ..." for a section that there is not.
[[nodiscard]] std::string filled(std::string_view text, const Sections& sections,
                                 const std::string& source);

/// `page` with what stands between `<!-- generated: name -->` and `<!-- end -->` replaced by that
/// section. Throws likewise, also for a marker without its end, and for a page without any.
[[nodiscard]] std::string refreshed(std::string_view page, const Sections& sections,
                                    const std::string& source);

/// The sections of one kind of reader. Names begin with what they are for: "man-", "bash-", "zsh-",
/// "fish-"; those of the documentation have no such beginning.
void add_man_sections(Sections& sections, const Manual& manual);
void add_bash_sections(Sections& sections, const Manual& manual);
void add_zsh_sections(Sections& sections, const Manual& manual);
void add_fish_sections(Sections& sections, const Manual& manual);
void add_page_sections(Sections& sections, const Manual& manual);

}  // namespace kiln::tools
