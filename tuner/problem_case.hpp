// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/scalar.hpp"
#include "kiln/types.hpp"
#include "templates/launch/argument_plan.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/problem.hpp"

namespace kiln {

/// A matrix in memory: `rows` rows of `ld` elements, the first `cols` of which count. It
/// ends with the last element that counts, as an application's may. An element is what memory has
/// as one: a byte of packed values. An array of higher rank is a matrix of its innermost rows.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  DType type = DType::f32;
  int alignment = 16;     ///< of the address, bytes
  bool recorded = false;  ///< amax() of an expression writes it, and its data is 0 before a run
  /// Kernels get an array with the address of each row. Rows lie apart then, so that what reaches
  /// out of one is found.
  bool pointers = false;
  bool line = false;  ///< declared with one extent: messages name its elements by one number
  [[nodiscard]] std::int64_t elements() const {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
  }
  [[nodiscard]] std::int64_t bytes() const { return elements() * size_bytes(type); }
  [[nodiscard]] std::int64_t row_bytes() const { return cols * size_bytes(type); }
  [[nodiscard]] std::int64_t pitch_bytes() const { return ld * size_bytes(type); }
  /// What a run touches: all of it, or the rows behind pointers.
  [[nodiscard]] std::int64_t touched_bytes() const {
    return pointers ? rows * row_bytes() : bytes();
  }
};

/// "row 3 column 5", or "element 5" of an operand with one extent.
[[nodiscard]] std::string element_place(const MatrixShape& shape, std::int64_t row,
                                        std::int64_t col);

/// Complex numbers as the two real ones that they lie in memory as; others stay.
[[nodiscard]] MatrixShape in_real_numbers(MatrixShape shape);

/// What allocators give, and the least promise that it is given for.
inline constexpr int kAllocatorsAlignment = 256;
inline constexpr int kPromisedAlignment = 16;
/// An address that promises 16 bytes or more gets what allocators give; anything less is met
/// exactly, so that a kernel that relies on more is caught, and is timed as it will run.
[[nodiscard]] int real_alignment(int promised, DType type);

/// What an operand is filled with: FillSpec with its numbers.
struct OperandFill {
  FillSpec::Kind kind = FillSpec::Kind::normal;
  std::int64_t low = 0, high = 0;  ///< of integers and sorted
};

/// A file with an operand's elements, one after the other without gaps.
struct DataFile {
  std::string path;         ///< absolute; "": there is none
  std::int64_t offset = 0;  ///< bytes before the first element
  std::string digest;       ///< of the elements
};

/// One operand of a problem, as it lies in memory.
struct OperandPlan {
  std::string name;  ///< for messages
  OperandRole role = OperandRole::in;
  bool present = true;  ///< else it has no memory, and kernels get a null pointer
  MatrixShape shape;
  OperandFill fill;
  bool scratch = false;  ///< an input that kernels may overwrite
  DataFile data = {};    ///< what normal data are instead of `fill`
};

/// One problem to be run: the tuned one, or one that a candidate must also get right.
struct ProblemCase {
  Problem problem;
  std::vector<OperandPlan> operands;  ///< in the operation's order, then those of an expression
  std::vector<Scalar> scalars;        ///< in the operation's order
  /// How much work it is, in multiply-adds or elements moved, as DeviceInfo::most_products counts.
  double products = 0.0;
  /// Of a tuned problem: sets of sizes that some of its ragged cases have, too, because a template
  /// is compiled for them (tuner/kept_sizes.hpp).
  std::vector<std::vector<std::string>> kept_sizes = {};
};

/// The case of a problem of a declared operation. `scalars`: by name; others have their usual
/// values. Throws Error(usage) for a problem that is not as declared, a scalar that the operation
/// has not or a value that its type has not, and an operand of more than 2^63 bytes.
struct NamedScalar {
  std::string name;
  Scalar value = 0;
};
[[nodiscard]] ProblemCase declared_case(const Operation& operation, const Problem& problem,
                                        const std::vector<NamedScalar>& scalars);

/// "m=4096 n=4096 k=4096".
[[nodiscard]] std::string describe(const ProblemCase& one);

/// What one run gets beside what is planned.
struct RunArguments {
  std::vector<std::uintptr_t> operands;  ///< addresses in the case's order; null: none
  std::vector<Scalar> scalars;
  std::uintptr_t workspace = 0;
};

}  // namespace kiln
