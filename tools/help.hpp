// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tools/manual.hpp"

namespace kiln::tools {

/// `kiln --help`, 80 columns wide.
[[nodiscard]] std::string help_text(const Manual& manual);
/// `kiln VERB --help`.
[[nodiscard]] std::string help_text(const VerbText& verb);

}  // namespace kiln::tools
