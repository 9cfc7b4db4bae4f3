// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "templates/render/conditional_groups.hpp"

namespace kiln {

/// A line of a source that defines a macro anew, or undefines it.
struct MacroRedefinition {
  std::string name;
  std::string line_text;
  int line = 0;
  int column = 0;          ///< of the name
  bool certain = false;    ///< no condition that only the compiler knows stands around it
  bool is_mark = false;    ///< kTunerMacro or kRenderedMacro, which it undefines
  std::string guard = {};  ///< the condition asks for this one, a typo of its name
};

/// Where a source redefines one of `macros`, all of which are defined before it, as is kTunerMacro,
/// or undefines that. What their being defined leaves out does not count: `#ifndef kernel_tuner`,
/// `#ifndef tile_x`.
[[nodiscard]] std::vector<MacroRedefinition> find_redefinitions(
    std::string_view source, std::span<const std::string> macros);

/// Throws Error(template_) with file, line and remedy for the first that is certain, and for the
/// first declaration of such a name: `constexpr int tile_x = 4`, of which the compiler would read
/// `int 8 = 4`.
void refuse_redefinitions(const std::string& file, std::string_view source,
                          std::span<const std::string> macros);

}  // namespace kiln
