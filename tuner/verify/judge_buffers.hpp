// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/case_parts.hpp"
#include "tuner/verify/oracle.hpp"

namespace kiln {

/// The result of a reference for one output, row after row without gaps.
struct Expected {
  DeviceBuffer value;
  DeviceBuffer magnitude;  ///< empty: |value|
  /// In place of the value, in the output's type and with its gaps, where float64 has too few bits.
  DeviceBuffer own;
  DevicePtr own_at = 0;
};

/// A part of a case, and what is known of its operands.
struct JudgedPart {
  const ProblemCase& problem;
  const CaseParts& parts;
  std::int64_t start = 0;
  FillRecipe recipe;       ///< what inputs were filled by
  const RunOperands& run;  ///< of the whole case
  /// The operands that have the copies of what was made (Matrix::kept()); the same as `run` before
  /// any run.
  const RunOperands& filled;
};

/// Whose memory it is.
enum class JudgeRole : std::uint8_t {
  reference,  ///< computes what is written, from what `JudgedPart::run` has been filled with
  checker,    ///< looks at what is there
  fill,       ///< writes what is there
};

/// Memory that a kernel of the operation's file works on for one part: only what its argument asks
/// for.
class JudgeBuffers {
 public:
  JudgeBuffers(MemoryLedger& ledger, SupportKernels& kernels, const JudgedPart& part,
               JudgeRole role);

  /// All that the argument mentions.
  void provide(const ArgumentPlan& argument);
  /// What the kernel reads from constant memory.
  void provide(const std::vector<ConstantFill>& constants);
  [[nodiscard]] ArgumentValues values(const std::vector<Scalar>& scalars) const;
  /// What the reference has computed for an output.
  [[nodiscard]] Expected take(std::size_t output);
  /// What the checker has counted, and where the first of that is.
  [[nodiscard]] CountResult verdict() const;

 private:
  [[nodiscard]] bool is_there(std::size_t index) const;
  [[nodiscard]] OperandPart part_of(std::size_t index) const;
  void provide_own(std::size_t index);
  void provide_before(std::size_t index);
  void provide_float64(std::size_t index);
  void provide_verdict();
  [[nodiscard]] bool is_overwritten(std::size_t index) const;
  [[nodiscard]] DeviceBuffer filled(std::size_t index);
  /// What errors and findings call its memory.
  [[nodiscard]] std::string purpose(std::size_t index) const;
  [[nodiscard]] DeviceBuffer zeros(std::size_t index, std::int64_t element_bytes);
  [[nodiscard]] std::int64_t float64_bytes(std::size_t index) const;
  /// What kernels get for data of the operand's part: its address, or pointers to its rows.
  [[nodiscard]] DevicePtr passed(std::size_t index, DevicePtr data);
  void convert(const MatrixShape& whole, DevicePtr from, DevicePtr to);

  MemoryLedger& ledger_;
  SupportKernels& kernels_;
  JudgedPart part_;
  JudgeRole role_;
  std::vector<DeviceBuffer> own_, float64_, magnitudes_, before_;
  std::vector<DeviceBuffer> pointers_;  ///< to rows of these
  /// What kernels get; own data is what own_at_ leads to where that is an array of pointers.
  std::vector<DevicePtr> own_data_;
  std::vector<DevicePtr> own_at_, float64_at_, magnitudes_at_, before_at_;
  DeviceBuffer verdict_;
};

}  // namespace kiln
