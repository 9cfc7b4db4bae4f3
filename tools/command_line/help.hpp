// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/command_line/manual.hpp"

namespace kiln::tools {

enum class HelpDetail {
  screen,  ///< --help: what most people need, on one screen
  all      ///< --help-all
};

/// `kiln --help`, 80 columns wide.
[[nodiscard]] std::string help_text(const Manual& manual, HelpDetail detail);
/// `kiln VERB --help`.
[[nodiscard]] std::string help_text(const VerbText& verb, HelpDetail detail);

}  // namespace kiln::tools
