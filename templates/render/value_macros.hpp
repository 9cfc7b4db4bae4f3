// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "templates/space/param_space.hpp"

namespace kiln {

/// A macro that makes `layout == soa` work where nothing else declares `soa`.
struct ValueMacro {
  std::string name;
  int number = 0;  ///< from 1; another one for each name
};

/// For tunables that are macros: the names of their values that the sources mention, and only to
/// compare the tunable with them. A name that a source uses for anything else is the source's own.
[[nodiscard]] std::vector<ValueMacro> value_macros(std::span<const Tunable> tunables,
                                                   std::span<const std::string_view> sources);

/// Throws Error(template_) at an `#if layout == soa` that would be true for every value, because
/// `soa` is an enumerator or the like, which the preprocessor does not know; and where the name of
/// a value is that of a macro in `macros`.
void refuse_unknown_values(const std::string& file, std::string_view source,
                           std::span<const Tunable> tunables, std::span<const std::string> macros);

}  // namespace kiln
