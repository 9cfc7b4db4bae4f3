// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/evaluator.hpp"
#include "tuner/verify/support_kernels.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {

/// What a run worked on, by operand; null: none.
using RunOperands = std::vector<const Matrix*>;
[[nodiscard]] RunOperands run_operands(const OperandSet& operands);

/// What was found wrong with an output.
struct WrongOutput {
  std::int64_t row = 0, col = 0;  ///< of the first wrong element
  CompareResult found;
  std::int64_t compared = 0;  ///< elements
  std::string checker;        ///< the kernel that refused; "": the reference has what is expected
  bool has_place = true;      ///< whether the checker has said where the first one is
  DType type = DType::f32;    ///< of the output's elements
  bool line = false;          ///< the output has one extent
  bool unwritten = false;     ///< nothing wrote it: it is what no arithmetic gives
};
/// "row 3 column 0: 7, expected 3 (allowed error 0)", for one that has failures; how far off it is
/// where the two would look the same.
[[nodiscard]] std::string describe(const WrongOutput& wrong);
/// "; the largest error is 7.8 times the allowed error", of results with that many wrong elements;
/// "" where there is no bound, as for exact ones, or no number.
[[nodiscard]] std::string excess_text(double worst_ratio, std::uint64_t failures);

/// Knows what is right for one case, and how the case must be run for that: on what data, which it
/// makes as far as kernels do. Used by one thread.
class Oracle : public InputMaker {
 public:
  /// Whether the case is judged with that kind of data.
  [[nodiscard]] virtual bool has(DataKind kind) const = 0;
  [[nodiscard]] virtual FillRecipe recipe(DataKind kind) const = 0;
  [[nodiscard]] virtual std::vector<Scalar> scalars(DataKind kind) const = 0;
  /// Those in words where they are not what the problem states, for messages; else "".
  [[nodiscard]] virtual std::string conditions(DataKind) const { return {}; }
  /// What make() runs, as errors begin: "polygon.cu:12: the fill kernel slopes_of".
  [[nodiscard]] virtual std::string makers_text() const { return {}; }
  /// Computes the reference from what `operands` are filled with, which it may change.
  virtual void learn(DataKind kind, OperandSet& operands) = 0;

  /// An input whose content must not matter, though it is there.
  [[nodiscard]] virtual std::optional<std::size_t> ignored(DataKind) const { return std::nullopt; }
  /// An input that an application may let be output `output`, at the same address.
  struct InPlace {
    std::size_t input = 0, output = 0;
  };
  [[nodiscard]] virtual std::optional<InPlace> in_place(DataKind) const { return std::nullopt; }
  /// Whether two runs must give the same bits.
  [[nodiscard]] virtual bool is_deterministic() const { return true; }

  /// Compares what a run has written to operand `output`, which it has.
  [[nodiscard]] virtual WrongOutput compare(DataKind kind, std::size_t output,
                                            const RunOperands& run) = 0;
  /// What is compared of a case too large for all of it, "Kiln compared only 128 of 65536 rows";
  /// else "".
  [[nodiscard]] virtual std::string scope() const { return {}; }
  /// What else a first run has left, and whether a second one left the same: a complaint, or
  /// nothing. Called after each run.
  [[nodiscard]] virtual std::optional<std::string> look_closer(DataKind, const OperandSet&,
                                                               bool /*second*/) {
    return std::nullopt;
  }
};

/// Makes the oracles of a set-up's cases; what they share stays here. Must outlive them.
class OracleSource {
 public:
  virtual ~OracleSource() = default;
  [[nodiscard]] virtual std::unique_ptr<Oracle> oracle(std::size_t index,
                                                       std::uint64_t seed_of_case) = 0;
};

/// By the problem's operation; `setup` outlives them only until their references are computed.
/// Throws Error(device) if the device refuses the reference kernel.
[[nodiscard]] std::unique_ptr<OracleSource> make_oracles(MemoryLedger& ledger,
                                                         SupportKernels& kernels,
                                                         const EvaluationSetup& setup);

[[nodiscard]] std::unique_ptr<OracleSource> make_declared_oracles(MemoryLedger& ledger,
                                                                  SupportKernels& kernels,
                                                                  const EvaluationSetup& setup);

}  // namespace kiln
