// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/records.hpp"
#include "runtime/device.hpp"
#include "templates/front_matter/constant_spec.hpp"
#include "tuner/case_parts.hpp"
#include "tuner/policy.hpp"
#include "tuner/problem_case.hpp"

namespace kiln {

/// A compiled helper with the names of its kernels.
struct CompiledUnit {
  std::vector<std::byte> cubin;
  std::vector<std::string> names;
};

/// What a right output is: RightSpec with its numbers.
struct OutputRule {
  RightSpec::Kind kind = RightSpec::Kind::exact;
  std::uint16_t operand = 0;
  double relative = 0.0;   ///< what multiplies |ref|
  double magnitude = 0.0;  ///< what multiplies the magnitude of the reference
  double absolute = 0.0;
};

/// How a kernel of a declared operation makes operands of one case.
struct FillRun {
  ArgumentPlan argument;
  LaunchGeometry geometry;
  std::vector<ConstantFill> constants;
  std::string place;                    ///< "polygon.cu:12: the fill kernel slopes_of", for errors
  std::vector<std::uint16_t> operands;  ///< that it makes
};

/// How the reference and the checker of a declared operation are run for one case, or for one part
/// of it, and what they judge.
struct ReferencePlan {
  ArgumentPlan argument;          ///< of the reference, if any rule needs one
  ArgumentPlan checker_argument;  ///< likewise of the checker
  LaunchGeometry checker_geometry;
  std::vector<ConstantFill> constants, checker_constants;  ///< in constant memory of these two
  std::string checker;                                     ///< its name, for messages
  /// Where the two stand, as errors begin: "sum.cu:12: the reference sum_reference".
  std::string place, checker_place;
  CaseParts parts;
  std::vector<FillRun> fills;     ///< in the order in which they run
  std::vector<OutputRule> rules;  ///< one for each operand that is written
  std::vector<Scalar> scalars;    ///< in the operation's order, of normal data
  std::string scalars_text;       ///< "scale=0.75", where they are not what the problem states
  int integer_range = 0;          ///< of data that gives exact results; 0: there is none
  bool deterministic = true;
};

/// What an evaluator needs before the first candidate: all of it is data, so that it can be sent
/// to a worker process again after a restart.
struct EvaluationSetup {
  std::vector<ProblemCase> cases;  ///< [0] is the tuned problem, the others ragged ones
  CompiledUnit support;            ///< templates/kernels/support/verify.cu
  /// The kernels that say what is right: judge_kernels() of the operation, or what a typed
  /// operation has built in (TypedTuning::add_reference).
  CompiledUnit reference;
  std::vector<LaunchGeometry> reference_geometry;  ///< one per case; idle without a reference
  std::vector<ReferencePlan> reference_plans;      ///< likewise; empty if typed
  /// templates/kernels/support/epilogue.cu for the problem's expression; empty if it has none.
  CompiledUnit epilogue;
  MeasurementPolicy policy;
  std::uint64_t seed = 1;
  std::int64_t memory_limit_bytes = 0;  ///< 0: a quarter of the free memory
};

/// One compiled candidate with its launches for every case.
struct EvaluationJob {
  std::string label;     ///< for messages: "rows_fast block=128 ..."
  std::string accepted;  ///< what its author allows checks to find, which every verdict shows
  CompiledUnit unit;     ///< one name per launch
  std::vector<std::string> launch_places;  ///< KernelTemplate::launch_place(); none: not known
  /// geometry[case][launch]; empty for a case that the configuration is not valid for.
  std::vector<std::vector<LaunchGeometry>> geometry;
  /// arguments[case][launch], as geometry.
  std::vector<std::vector<ArgumentPlan>> arguments;
  std::vector<std::vector<ConstantFill>> constants;  ///< per case; empty: there are none
  std::vector<std::int64_t> workspace_bytes;         ///< per case, without scratch arrays
  std::vector<std::vector<ScratchPlan>> scratch;     ///< per case; empty: there are none
  double best_ns = 0.0;                              ///< of the session so far, for racing; 0: none
  double best_j = 0.0;                               ///< likewise its energy; 0: none
  double timeout_s = 10.0;                           ///< a candidate that takes longer is killed
  bool time_it = true;                               ///< false: verify only
  bool check = false;                                ///< with the device's checks, if it has any
};

struct Evaluation {
  Outcome outcome = Outcome::ok;
  std::string message;
  Verification verification;
  std::optional<Timing> timing;
  /// Its first run at the tuned size took so much longer than the best that it was neither verified
  /// there nor timed again: `timing` has one sample, and `verification` says nothing.
  bool hopeless = false;
};

/// One competitor in an interleaved comparison.
struct ComparisonRow {
  std::string label;
  Outcome outcome = Outcome::ok;
  std::string message;
  Timing timing;
  double ratio = 0.0;         ///< median over rounds of (reference time / this time); 1 for itself
  double ratio_spread = 0.0;  ///< half width of its 95 % interval
};

struct ComparisonRequest {
  std::vector<EvaluationJob> jobs;
  bool against_cublaslt = false;  ///< adds every heuristic's algorithm; reference = fastest of them
  std::int64_t cublaslt_workspace_bytes = 64LL << 20;
  int rounds = 15;
  double timeout_s = 60.0;  ///< of all; half of it for rounds, of which there are three at least
  int energy_turns = 0;     ///< after the rounds; 0: the energy is not measured
};

struct Comparison {
  std::vector<ComparisonRow> jobs;       ///< in the order of the request
  std::vector<ComparisonRow> baselines;  ///< fastest first; empty unless asked for
  std::string note;                      ///< why there is no baseline, when asked for and absent
};

/// Polled several times a second during a wait; an empty one never gives up.
using GiveUp = std::function<bool()>;
/// What the caller does while a candidate runs. May be empty.
using Meanwhile = std::function<void()>;

/// Runs candidates. Implementations: in this process on a Device, or in a worker process that takes
/// the crash of a bad one. Used by one thread.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  /// Sets what is evaluated from now on. Must precede the others. Like them it throws
  /// Error(device) when the device cannot do it, or cannot measure energy where the policy wants
  /// it.
  virtual void set_up(const EvaluationSetup& setup) = 0;
  /// Waits until evaluate() or compare() can begin at once: a worker has to start and to compute
  /// its data, after set_up() and after each restart. False if `give_up` returned true first.
  [[nodiscard]] virtual bool make_ready(const GiveUp& give_up) = 0;
  /// These get ready by themselves. Nothing if `give_up` returned true first: then a worker is
  /// killed and the candidate has no outcome. What runs in this process cannot be aborted.
  /// `meanwhile` is called once while a worker runs the candidate, or before it runs in this
  /// process; not if there is no worker to run it. It must not throw.
  [[nodiscard]] virtual std::optional<Evaluation> evaluate(const EvaluationJob& job,
                                                           const GiveUp& give_up,
                                                           const Meanwhile& meanwhile) = 0;
  [[nodiscard]] virtual std::optional<Comparison> compare(const ComparisonRequest& request,
                                                          const GiveUp& give_up) = 0;
  [[nodiscard]] std::optional<Evaluation> evaluate(const EvaluationJob& job,
                                                   const GiveUp& give_up) {
    return evaluate(job, give_up, {});
  }
  /// The same without giving up.
  [[nodiscard]] Evaluation evaluate(const EvaluationJob& job) {
    return evaluate(job, {}, {}).value();
  }
  [[nodiscard]] Comparison compare(const ComparisonRequest& request) {
    return compare(request, {}).value();
  }
};

/// In this process. A sticky fault makes every later call throw Error(device).
[[nodiscard]] std::unique_ptr<Evaluator> make_local_evaluator(std::unique_ptr<Device> device);

/// In a child process: `command` (argv) is started and speaks the protocol of worker_main on its
/// standard input and output. It is killed (whole process group) at a time-out and started again,
/// and set up again, after a time-out or a fault. If it was killed from outside (by the system,
/// short of memory, say) the request gets one second try. Throws Error(device) if it cannot start,
/// or dies again by itself right after a restart, or `give_up` returns true before the device is
/// open.
[[nodiscard]] std::unique_ptr<Evaluator> make_worker_evaluator(std::vector<std::string> command,
                                                               const GiveUp& give_up = {});

/// The child's side: serves requests on the descriptors until end of file. Returns an exit code.
int worker_main(int in_fd, int out_fd, const std::function<std::unique_ptr<Device>()>& open);

}  // namespace kiln
