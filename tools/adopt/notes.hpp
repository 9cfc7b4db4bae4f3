// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/adopt/operation.hpp"

namespace kiln::tools {

/// What has to be changed in the adopted file itself, which `file` names with its folders.
[[nodiscard]] std::vector<std::string> adoption_notes(const AdoptionGuess& guess,
                                                      const std::string& file);

}  // namespace kiln::tools
