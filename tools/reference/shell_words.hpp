// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/manual.hpp"

namespace kiln::tools {

/// {"-o", "--output"}.
[[nodiscard]] std::vector<std::string> names_of(const OptionText& flag);
[[nodiscard]] std::vector<std::string> verb_names(const Manual& manual);

using FlagsByValue = std::map<std::string, std::set<std::string>>;
/// The flags that take a value, by its kind. Shells go by the flag alone, whatever the verb: throws
/// Error(internal) for one that takes different kinds after different verbs.
[[nodiscard]] FlagsByValue flags_by_value(const Manual& manual);

/// Whether the verb takes the name of an operation, which decides what flags its problem has.
[[nodiscard]] bool takes_operation(const VerbText& verb);

/// `text` in single quotes for bash and zsh.
[[nodiscard]] std::string single_quoted(std::string_view text);
[[nodiscard]] std::string without_last_break(std::string text);

}  // namespace kiln::tools
