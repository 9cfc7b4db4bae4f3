// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/measure/device_buffer.hpp"
#include "tuner/problem_case.hpp"
#include "tuner/verify/support_kernels.hpp"

namespace kiln {

/// The data that inputs are filled with: `normal` stands for what the operands ask for.
enum class DataKind : std::uint8_t { integer, normal };

/// How operands are filled: equal recipes give equal bytes.
struct FillRecipe {
  DataKind kind = DataKind::normal;
  std::uint64_t seed = 1;
  int integer_range = 2;  ///< integers of [-range, range], unsigned types [0, range]
};

/// Memory and data of one operand.
class Matrix {
 public:
  Matrix() = default;
  Matrix(MemoryLedger& ledger, const MatrixShape& shape, const std::string& purpose,
         MemoryUse use = MemoryUse::judged);
  [[nodiscard]] const MatrixShape& shape() const { return shape_; }
  [[nodiscard]] GuardedBuffer& buffer() { return buffer_; }
  [[nodiscard]] const GuardedBuffer& buffer() const { return buffer_; }
  [[nodiscard]] DevicePtr data() const { return buffer_.data(); }
  [[nodiscard]] bool is_empty() const { return shape_.elements() == 0; }
  /// What kernels get: the address of the data or of the pointers to its rows, or null if it is
  /// empty.
  [[nodiscard]] DevicePtr argument() const {
    return is_empty() ? 0 : shape_.pointers ? pointers_.address() : data();
  }
  /// Whether the pointers, if there are any, are as they were.
  [[nodiscard]] bool has_its_pointers() const;
  void write_pointers();

 private:
  MatrixShape shape_;
  GuardedBuffer buffer_;
  DeviceBuffer pointers_;  ///< to the rows
};

/// Puts the addresses of a shape's rows, the first at `data`, into memory that kernels get instead.
[[nodiscard]] DeviceBuffer make_pointers(MemoryLedger& ledger, const MatrixShape& shape,
                                         DevicePtr data, const std::string& purpose);

/// Device memory for one run of a problem.
class OperandSet {
 public:
  OperandSet() = default;
  OperandSet(MemoryLedger& ledger, const ProblemCase& one, const std::string& purpose,
             MemoryUse use = MemoryUse::judged);
  /// What the constructor takes from the ledger.
  [[nodiscard]] static std::int64_t footprint_bytes(const ProblemCase& one);
  /// What a set, second outputs, and references in float64 take together while results are judged,
  /// at the most.
  [[nodiscard]] static double judged_bytes(const ProblemCase& one);
  /// Bytes that one run touches.
  [[nodiscard]] static std::int64_t touched_bytes(const ProblemCase& one);

  /// Fills all that is read; NaN goes into leading-dimension padding. What amax() records is reset.
  void fill_inputs(SupportKernels& kernels, const FillRecipe& recipe);
  void reset_peaks();
  /// Operands without elements are null, which applications may pass as well.
  [[nodiscard]] RunArguments arguments(std::vector<Scalar> scalars, DevicePtr workspace) const;

  [[nodiscard]] const ProblemCase& problem() const { return case_; }
  [[nodiscard]] std::size_t count() const { return matrices_.size(); }
  [[nodiscard]] const OperandPlan& plan(std::size_t index) const { return case_.operands[index]; }
  /// Without memory if the operand is not present.
  [[nodiscard]] Matrix& operator[](std::size_t index) { return matrices_[index]; }
  [[nodiscard]] const Matrix& operator[](std::size_t index) const { return matrices_[index]; }
  /// Whether the operand is read, and so is filled: not what is only written, or recorded.
  [[nodiscard]] bool is_input(std::size_t index) const;

 private:
  ProblemCase case_;
  std::vector<Matrix> matrices_;
};

/// The arguments that fill operand `index`, planned like that, at `data`.
[[nodiscard]] FillArgs fill_arguments(const OperandPlan& plan, DevicePtr data, std::size_t index,
                                      const FillRecipe& recipe);

/// Operand sets that consecutive timed runs walk through, so that each run finds its operands
/// outside the L2. Set 0 belongs to the verifier; the others are made here.
class RotatingSets {
 public:
  /// As many sets as make the footprint exceed `footprint_bytes`, within the ledger and kMaxSets.
  RotatingSets(MemoryLedger& ledger, SupportKernels& kernels, OperandSet& first,
               std::int64_t footprint_bytes, std::uint64_t seed);
  [[nodiscard]] int count() const { return static_cast<int>(others_.size()) + 1; }
  [[nodiscard]] const OperandSet& set(int run) const;

 private:
  static constexpr int kMaxSets = 256;
  OperandSet& first_;
  std::vector<OperandSet> others_;
};

}  // namespace kiln
