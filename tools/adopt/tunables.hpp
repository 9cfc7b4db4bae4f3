// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// The value that sizes have in test problems if kernels are compiled for the size.
inline constexpr std::int64_t kSmallExtent = 64;

/// A number that kernels are compiled with, and what it may be.
struct TunableGuess {
  enum class Kind : std::uint8_t {
    block,  ///< threads of a block in one dimension
    grid,   ///< blocks of the grid in one dimension
    tile,   ///< work of a thread, unrolling
    flag,
    size,    ///< named like a size of the problem: no tunable
    extent,  ///< a size of the problem that the kernel is compiled for
    other,
  };
  Kind kind = Kind::other;
  std::string name;
  int dimension = 0;               ///< of block and grid
  std::string values;              ///< "32 64 128* 256"; "" if nothing tells them
  std::string comment;             ///< "", or what is to be checked
  std::int64_t usual = 1;          ///< the default among the values
  bool is_of_file = false;         ///< the file defines it unless something else does
  bool is_square = false;          ///< of a block: it is the extent in y, too
  bool is_listed = false;          ///< a T1 file says its values
  std::string usual_word;          ///< the default, if the values are names
  std::string template_parameter;  ///< of a kernel, "" of a macro
};

/// Names that device code uses and nothing in the file defines, and macros that the file only
/// defines where nothing else does. Blocks come first, the others in the order of their use.
[[nodiscard]] std::vector<TunableGuess> find_tunables(const SourceModel& model);
/// Pairs of tunables of which the code divides the first by the second.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> divided_tunables(
    const SourceModel& model, const std::vector<TunableGuess>& tunables);
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
