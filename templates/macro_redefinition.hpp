// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// The macro that tells a file that its tunables are defined, by the name that Kernel Tuner uses.
inline constexpr std::string_view kTunerMacro = "kernel_tuner";
/// The macro that leaves out of a rendered kernel what is for the host.
inline constexpr std::string_view kRenderedMacro = "KILN_RENDERED";

/// A line of a source that defines a macro anew, or undefines it.
struct MacroRedefinition {
  std::string name;
  std::string line_text;
  int line = 0;
  int column = 0;          ///< of the name
  bool certain = false;    ///< no condition that only the compiler knows stands around it
  std::string guard = {};  ///< the condition asks for this one, a typo of its name
};

/// Where a source redefines one of `macros`, all of which are defined before it, as is kTunerMacro.
/// What their being defined leaves out does not count: `#ifndef kernel_tuner`, `#ifndef tile_x`.
[[nodiscard]] std::vector<MacroRedefinition> find_redefinitions(
    std::string_view source, std::span<const std::string> macros);

/// Throws Error(template_) with file, line and remedy for the first that is certain.
void refuse_redefinitions(const std::string& file, std::string_view source,
                          std::span<const std::string> macros);

}  // namespace kiln
