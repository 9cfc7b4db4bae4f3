// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/types.hpp"
#include "templates/operation/number_type.hpp"
#include "tools/adopt/lexer.hpp"
#include "tools/adopt/source.hpp"

namespace kiln::tools {

using TypeAliases = std::map<std::string, std::string, std::less<>>;

/// What an array of a C++ type is to Kiln.
struct ElementType {
  DType type = DType::f32;
  int parts = 1;         ///< numbers of one element: 2 of a float2
  bool is_exact = true;  ///< false: another type of the same bits stands for it
};

/// Nothing for a type that no element type stands for.
[[nodiscard]] std::optional<ElementType> element_type(std::string_view type,
                                                      const TypeAliases& aliases);

/// The type as an `args` line has it, for an integer that a kernel takes by value: "int",
/// "unsigned", "long long", "unsigned long long"; nothing for anything else.
[[nodiscard]] std::optional<std::string> integer_type(std::string_view type,
                                                      const TypeAliases& aliases);
/// The scalar's type for a number that a kernel takes by value; nothing for anything else.
[[nodiscard]] std::optional<NumberType> number_type(std::string_view type,
                                                    const TypeAliases& aliases);

/// `128`, `0x80`, `128LL`, `1'024`; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> integer_literal(std::string_view text);

/// The value of an expression of numbers and of macros that have one and are no defaults: `128`,
/// `(4 * WARP)`, `1 << 4`, `true`; nothing for anything else.
[[nodiscard]] std::optional<std::int64_t> constant_number(const std::vector<CodeToken>& body,
                                                          const SourceModel& model, int depth = 0);

/// The text of a macro's body if it consists of constants, numbers and operators, other such macros
/// replaced.
[[nodiscard]] std::optional<std::string> constant_text(
    const std::vector<CodeToken>& body, const SourceModel& model,
    const std::set<std::string, std::less<>>& constants, int depth = 0);

}  // namespace kiln::tools
