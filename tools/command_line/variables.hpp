// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace kiln::tools {

/// A variable of the environment that Kiln reads.
struct Variable {
  std::string_view name;
  std::string_view flag;  ///< the global flag that wins over it, or ""
  std::string_view text;  ///< what it does, where no flag says so
};

/// All of them. Those that begin with KILN_ are the only ones of that kind: `kiln doctor` warns of
/// any other, because a misspelt one has no effect.
inline constexpr std::array<Variable, 9> kVariables{{
    {"KILN_DB", "--db", ""},
    {"KILN_MODE", "",
     "what the library does for a problem without a tuned kernel; `kiln run --mode` overrides this "
     "variable"},
    {"KILN_DEVICE", "--device", ""},
    {"KILN_OBJECTIVE", "",
     "what makes a kernel the best: `time` (default), `energy`, `energy_delay` or an expression; "
     "`--objective` of `kiln tune` and `kiln show` overrides this variable"},
    {"KILN_TEMPLATE_PATH", "--template-path", ""},
    {"KILN_CUDA_INCLUDE", "--cuda-include", ""},
    {"KILN_LOG", "", "what the library prints to stderr; `kiln run --log` overrides this variable"},
    {"NO_COLOR", "",
     "if not empty, Kiln uses no colour by default; `--color always` overrides this variable"},
    {"TERM", "",
     "if `dumb` or empty, Kiln uses no colour by default, and does not redraw its progress line"},
}};

/// The variable that a global flag wins over, or nullptr.
[[nodiscard]] constexpr const Variable* variable_of(std::string_view flag) {
  for (const auto& variable : kVariables) {
    if (variable.flag == flag) return &variable;
  }
  return nullptr;
}

}  // namespace kiln::tools
