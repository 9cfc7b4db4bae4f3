// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::tools {

/// The lines of a section of tools/examples.txt: of a verb's name its commands. Throws
/// Error(internal) if there is no such section.
[[nodiscard]] std::vector<std::string> examples(std::string_view section);

/// The first of them, for messages that say what could be typed.
[[nodiscard]] std::string example(std::string_view section);

}  // namespace kiln::tools
