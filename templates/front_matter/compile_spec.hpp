// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "templates/compile_options.hpp"
#include "templates/expression/expression.hpp"

namespace kiln {

/// One option of a line `compile --maxrregcount=regs when regs > 0`.
struct CompileItem {
  const CompileOptionRule* rule = nullptr;
  std::optional<Expression> value;  ///< of a number or a truth value
  std::string word;                 ///< of a word, if it is fixed
  int slot = -1;                    ///< of the tunable that chooses the word; -1: none does
  std::optional<Expression> when;   ///< of the line; absent: always
  std::string text;                 ///< as written
  SourcePlace place;                ///< of it
};

}  // namespace kiln
