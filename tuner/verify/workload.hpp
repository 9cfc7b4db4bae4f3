// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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
  int integer_range = 2;             ///< integers of [-range, range], unsigned types [0, range]
  std::vector<Scalar> scalars = {};  ///< of the runs, which fill kernels may get as well
};

/// What fill kernels get as their seed.
[[nodiscard]] std::uint64_t seed_of(const FillRecipe& recipe);

/// Whether an operand's data of that kind come from a file.
[[nodiscard]] inline bool is_of_file(const OperandPlan& plan, DataKind kind) {
  return !plan.data.path.empty() && kind == DataKind::normal;
}
/// Whether they are made by a kernel or come from a file, once for each recipe, and are copied from
/// there on.
[[nodiscard]] inline bool is_made(const OperandPlan& plan, DataKind kind) {
  return plan.fill.kind == FillSpec::Kind::kernel || is_of_file(plan, kind);
}

class OperandSet;

/// Makes what kernels of the operation's file compute from other operands, and what files have.
class InputMaker {
 public:
  InputMaker() = default;
  InputMaker(const InputMaker&) = delete;
  InputMaker& operator=(const InputMaker&) = delete;
  virtual ~InputMaker() = default;
  /// Fills those operands of a set whose other inputs were filled by that recipe. Throws
  /// Error(template_) that names the kernel, or Error(usage) that names the file.
  virtual void make(OperandSet&, const FillRecipe&) {}
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
  /// Copies the data, which a kernel has made, so that it can be restored.
  void keep(MemoryLedger& ledger, SupportKernels& kernels, DataKind kind,
            const std::string& purpose);
  /// The copy; 0 if there is none.
  [[nodiscard]] DevicePtr kept(DataKind kind) const {
    return kept_[static_cast<std::size_t>(kind)].address();
  }

 private:
  MatrixShape shape_;
  GuardedBuffer buffer_;
  DeviceBuffer pointers_;             ///< to the rows
  std::array<DeviceBuffer, 2> kept_;  ///< by DataKind
};

/// Writes to `to` what operand `index`, planned like that, is filled with by the recipe, with its
/// padding: `of` has the data that was made.
void write_filled(SupportKernels& kernels, const OperandPlan& plan, const Matrix& of, DevicePtr to,
                  std::size_t index, const FillRecipe& recipe);

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
  /// What kernels make is copied from what keep_made_inputs() has kept for that kind of data, or
  /// else is 0.
  void fill_inputs(SupportKernels& kernels, const FillRecipe& recipe);
  /// The same, but what kernels make is made by `maker`.
  void make_inputs(SupportKernels& kernels, const FillRecipe& recipe, InputMaker& maker);
  /// Keeps copies of what was made.
  void keep_made_inputs(MemoryLedger& ledger, SupportKernels& kernels, DataKind kind);
  [[nodiscard]] bool has_made_inputs(DataKind kind) const;
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
  /// Whether a kernel or a file makes its data of that kind, of which it has some.
  [[nodiscard]] bool is_made_input(std::size_t index, DataKind kind) const;

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
  /// `maker`: of what kernels make of the inputs; null: no kernel makes any.
  RotatingSets(MemoryLedger& ledger, SupportKernels& kernels, OperandSet& first,
               std::int64_t footprint_bytes, std::uint64_t seed, InputMaker* maker = nullptr);
  [[nodiscard]] int count() const { return static_cast<int>(others_.size()) + 1; }
  [[nodiscard]] const OperandSet& set(int run) const;

 private:
  static constexpr int kMaxSets = 256;
  OperandSet& first_;
  std::vector<OperandSet> others_;
};

}  // namespace kiln
