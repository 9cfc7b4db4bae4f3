// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/records.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/verify/oracle.hpp"
#include "tuner/verify/support_kernels.hpp"
#include "tuner/verify/workload.hpp"

namespace kiln {

/// Something that computes a problem: a candidate, or a vendor library's algorithm.
struct Subject {
  /// Enqueues one run of case `index` on `stream`.
  std::function<DeviceStatus(std::size_t index, const RunArguments& arguments, void* stream)> run;
  /// Cases that it is judged by.
  std::vector<std::size_t> cases;
  /// Device memory for the workspace of each case (by index; null: none), which may be the same
  /// for several, and how much of it the case may use. Empty: no case has any.
  std::vector<GuardedBuffer*> workspaces;
  std::vector<std::int64_t> workspace_bytes;
  /// Further memory that launches share, of each case. Empty: no case has any.
  struct Scratch {
    std::string name;
    GuardedBuffer* buffer = nullptr;
  };
  std::vector<std::vector<Scratch>> scratch = {};
  std::string accepted = {};  ///< EvaluationJob::accepted
};

/// Whether the device can check a case of that size: by DeviceInfo::most_products and its memory.
[[nodiscard]] bool is_checkable(const DeviceInfo& device, const ProblemCase& one);

/// The result of judging one.
struct Verdict {
  bool judged = false;  ///< false: none of the subject's cases can be checked, nothing was run
  DeviceStatus status;  ///< not ok: a launch failed or faulted; then nothing else is known
  std::string place;    ///< of that failure: the case
  Verification verification;
  std::uint64_t unbounded = 0;  ///< elements of outputs whose error nothing bounds
};

/// Judges candidates. Keeps the operands of every case and their references on the device.
///
/// For each case: small integers, where they make results exact; then the data that the operands
/// ask for. Results are what the case's oracle says, and the same bits in a second run; if the
/// operation is not deterministic, again what the oracle says. After each: padding, the inputs and
/// the red zones of all buffers are as they were.
class Verifier {
 public:
  /// Computes the references. Throws Error(usage) if memory does not suffice for that. Cases that
  /// cannot be checked on the device are skipped.
  Verifier(MemoryLedger& ledger, SupportKernels& kernels, const EvaluationSetup& setup);
  ~Verifier();

  [[nodiscard]] Verdict judge(const Subject& subject);
  /// Operands of the tuned case; after a passed judgement they contain normal random numbers,
  /// unless that case is skipped: then nothing is ever written to them.
  [[nodiscard]] OperandSet& tuned_operands();
  /// Makes what the operation's fill kernels make, for further sets of those operands.
  [[nodiscard]] InputMaker& tuned_inputs();

 private:
  struct Case;
  class Checks;
  void check_made_inputs(Case& problem);
  [[nodiscard]] bool judge_case(const Subject& subject, std::size_t index, DataKind kind,
                                Verdict& verdict);
  [[nodiscard]] DeviceStatus run(const Subject& subject, std::size_t index,
                                 const RunArguments& arguments);
  /// One of the two runs of a case.
  struct Run {
    DataKind kind;
    bool second = false;
    bool only_outputs_poisoned = false;  ///< and no input, nor a workspace
  };
  [[nodiscard]] bool results_are_right(Case& problem, const Run& run, Verdict& verdict);
  [[nodiscard]] bool has_bytes(const Matrix& output, const WrongOutput& wrong, int pattern) const;
  void prepare_second_run(Case& problem, DataKind kind, RunArguments& arguments);
  [[nodiscard]] std::optional<std::string> damage(const Case& problem, DataKind kind,
                                                  const Subject& subject, std::size_t index);
  void repair_zones(const Subject& subject);

  Device& device_;
  SupportKernels& kernels_;
  std::unique_ptr<OracleSource> oracles_;
  std::vector<std::unique_ptr<Case>> cases_;
  DeviceBuffer scratch_;  ///< as large as the largest input
};

}  // namespace kiln
