// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// What a kernel does with an array that it has the address of.
struct PointerUse {
  bool is_read = false;
  bool is_written = false;
  bool is_atomic = false;            ///< read and written, by an atomic operation
  bool is_given_away = false;        ///< its address goes to a function or a variable
  std::set<std::string> written_at;  ///< indices: "0", "blockIdx.x", "i"
  /// Whether places depend on the block: with more than that, as nothing but its number, not at
  /// all.
  bool is_by_block_and_more = false, is_by_block_number = false, is_without_block = false;
  bool is_indirect = false;  ///< other arrays say where
  /// What indices tell of the extents: "height, width", the outermost first.
  std::set<std::string> extents;
};

/// One dimension of a launch, as the body shows it.
struct DimensionUse {
  bool has_thread = false, has_block = false, has_block_extent = false, has_grid_extent = false;
  /// What an index made of this blockIdx is compared with: expressions of parameters and macros,
  /// those that are a parameter first.
  std::vector<std::string> bounds;
  /// What this blockIdx is multiplied by on its way into an index, without duplicates; the block's
  /// own extent is "blockDim.x".
  std::vector<std::string> factors;
  std::string shift;  ///< by which this blockIdx is shifted to the left, if that is no number
  /// Sizes that this blockIdx, or what follows from it, is multiplied by: lengths of rows.
  std::vector<std::string> row_lengths;
  /// Lengths of rows along which this blockIdx leads, though nothing compares it with them.
  std::vector<std::string> columns;
  /// Numbers by which loops go on that begin at this threadIdx.
  std::vector<std::string> strides;
};

/// What the body of a kernel tells of its launch, its sizes and its operands.
struct BodyFacts {
  std::array<DimensionUse, 3> dimensions;
  std::map<std::string, PointerUse, std::less<>> pointers;  ///< by parameter
  std::set<std::string, std::less<>>
      compared;  ///< integer parameters that indices are held against
  std::set<std::string, std::less<>> indexing;  ///< those that take part in an index
  /// Sizes that loops go along in steps, and these: nothing but the loop looks at the size.
  std::set<std::pair<std::string, std::string>> steps;

  [[nodiscard]] bool writes(const std::string& parameter) const {
    const auto found = pointers.find(parameter);
    return found != pointers.end() && (found->second.is_written || found->second.is_atomic);
  }
};

/// `constants` are names whose value is known when the kernel is compiled: they may be a part of
/// factors. `sizes` are names of the file that stand for sizes of the problem, beside the kernel's
/// parameters.
[[nodiscard]] BodyFacts read_body(const SourceModel& model, const SourceKernel& kernel,
                                  const std::set<std::string, std::less<>>& constants,
                                  const std::set<std::string, std::less<>>& sizes = {});

}  // namespace kiln::tools
