// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/adopt/operation.hpp"
#include "tools/adopt/space_file.hpp"

namespace kiln::tools {

/// The parameter of the size that a T1 file gives the value of the digits; "" if none or several
/// have it, and for 0 and 1.
[[nodiscard]] std::string size_with_value(const ProblemGuess& problem, std::string_view digits);

/// Arguments of a T1 file that do not fit the kernel.
[[nodiscard]] std::vector<std::string> argument_notes(const SpaceFile& space,
                                                      const AdoptionGuess& guess);

}  // namespace kiln::tools
