// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "templates/operation/operation.hpp"
#include "tuner/problem_case.hpp"

namespace kiln {

/// What is compared of a case whose reference would cost too much: parts of the operation's
/// independent size, all of the same length. By itself: the whole case.
struct CaseParts {
  std::string size;         ///< its name
  std::int64_t extent = 0;  ///< its value
  std::int64_t length = 0;  ///< of each part; 0: there is one, the whole case
  /// By operand: how many rows of its shape belong to each of the size, or of a shape of one row
  /// how many elements; 0: all of it belongs to every part.
  std::vector<std::int64_t> rows;
};

/// The parts of a case: more than one only for an operation that names an independent size and a
/// case of more work than 2^36 multiply-adds or elements; on a device that can check no more than
/// `most_products` (0: any number), than a sixteenth of these.
[[nodiscard]] CaseParts plan_parts(const Operation& operation, const ProblemCase& one,
                                   std::int64_t most_products);

/// Where the parts begin, ascending: the first and the last there are, and others between them that
/// `seed` draws. They do not overlap.
[[nodiscard]] std::vector<std::int64_t> part_starts(const CaseParts& parts, std::uint64_t seed);

/// One operand's share of a part.
struct OperandPart {
  MatrixShape shape;
  std::int64_t row = 0, col = 0;  ///< of its first element in the whole operand
  std::int64_t offset = 0;        ///< of that, bytes
};
[[nodiscard]] OperandPart operand_part(const CaseParts& parts, std::size_t operand,
                                       const MatrixShape& whole, std::int64_t start);

/// "Kiln compared only 128 of 65536 rows"; "" for the whole case.
[[nodiscard]] std::string describe(const CaseParts& parts);

}  // namespace kiln
