// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// A number that kernels are compiled with, and what it may be.
struct TunableGuess {
  enum class Kind : std::uint8_t {
    block,  ///< threads of a block in one dimension
    grid,   ///< blocks of the grid in one dimension
    tile,   ///< work of a thread, unrolling
    flag,
    size,  ///< named like a size of the problem: no tunable
    other,
  };
  Kind kind = Kind::other;
  std::string name;
  int dimension = 0;        ///< of block and grid
  std::string values;       ///< "32 64 128* 256"; "" if nothing tells them
  std::string comment;      ///< "", or what is to be checked
  std::int64_t usual = 1;   ///< the default among the values
  bool is_of_file = false;  ///< the file defines it unless something else does
};

/// Names that device code uses and nothing in the file defines, and macros that the file only
/// defines where nothing else does. Blocks come first, the others in the order of their use.
[[nodiscard]] std::vector<TunableGuess> find_tunables(const SourceModel& model);
/// What one of that name may be; `usual` if the file has a default. `dimensions` is how many a
/// block has.
[[nodiscard]] TunableGuess guess_tunable(const std::string& name, std::optional<std::int64_t> usual,
                                         int dimensions);
/// How many dimensions blocks have, by what the kernels mention.
[[nodiscard]] int block_dimensions(const SourceModel& model);
/// Whether a parameter of that name is likely to be a size of the problem: "n", "width".
[[nodiscard]] bool is_size_name(std::string_view name);
/// In lower case, with underscores between words: "BlockSize" -> "block_size".
[[nodiscard]] std::string snake_case(std::string_view name);

}  // namespace kiln::tools
