// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/operation/problem.hpp"
#include "templates/space/config.hpp"

namespace kiln {

/// The outcome of a candidate.
enum class Outcome : std::uint8_t {
  ok,
  rejected,  ///< a fact found before running forbids it (limits, spills, ptxas warning)
  compile_failed,
  launch_failed,     ///< the device refused the launch
  out_of_resources,  ///< too many registers, threads or too much shared memory for the device
  wrong_result,
  timed_out,
  crashed,  ///< took the worker process with it (illegal address and the like)
};
inline constexpr std::array<std::string_view, 8> kOutcomeNames{
    "ok",           "rejected",  "compile_failed", "launch_failed", "out_of_resources",
    "wrong_result", "timed_out", "crashed"};
[[nodiscard]] constexpr std::string_view to_string(Outcome outcome) {
  return kOutcomeNames[static_cast<std::size_t>(outcome)];
}
[[nodiscard]] std::optional<Outcome> parse_outcome(std::string_view name);

/// Where a number comes from; a look-up prefers measured, and ignores `compiled` and `imported`.
enum class Provenance : std::uint8_t {
  measured,  ///< timed on the device
  modelled,  ///< predicted by a performance model
  compiled,  ///< no time: compiled for an architecture, ranked by occupancy
  /// Reported by another autotuner. Kiln has not verified the result: it only says which candidates
  /// a search should try. Such a trial is never the best, and never speaks against its candidate.
  imported,
};
inline constexpr std::array<std::string_view, 4> kProvenanceNames{"measured", "modelled",
                                                                  "compiled", "imported"};
[[nodiscard]] constexpr std::string_view to_string(Provenance provenance) {
  return kProvenanceNames[static_cast<std::size_t>(provenance)];
}
[[nodiscard]] std::optional<Provenance> parse_provenance(std::string_view name);

/// Devices on which a measurement means the same: part of the identity of a result. For
/// `--compile-only`, name is "compile-only", the rest is the target's published limits.
struct DeviceClass {
  std::string name;  ///< "NVIDIA H200"
  std::string arch;  ///< "sm_90a": compute capability and feature suffix
  int sm_count = 0;
  std::int64_t l2_bytes = 0;
  std::string mig_profile;  ///< "" when not partitioned
  /// "NVIDIA H200 arch=sm_90a sms=132 l2_bytes=62914560 mig=-"
  [[nodiscard]] std::string canonical() const;
  friend bool operator==(const DeviceClass&, const DeviceClass&) = default;
};

/// Differences that make a result stale, not wrong.
struct Environment {
  std::string driver;   ///< "580.159.04" or the CUDA version the driver supports, "13.0"
  std::string toolkit;  ///< "nvrtc 13.0"
  std::string policy;   ///< canonical text of the measurement policy, "cold graph ..."
  /// "driver=580.159.04 toolkit=nvrtc 13.0 policy=cold graph"
  [[nodiscard]] std::string canonical() const;
  friend bool operator==(const Environment&, const Environment&) = default;
};

/// What the compiler reported for a candidate (maximum over its kernels).
struct KernelResources {
  int registers = 0;
  int spill_store_bytes = 0;
  int spill_load_bytes = 0;
  int stack_bytes = 0;
  std::int64_t smem_static_bytes = 0;
  std::int64_t smem_dynamic_bytes = 0;
  double occupancy = 0.0;  ///< resident warps over the maximum, 0 to 1
  friend bool operator==(const KernelResources&, const KernelResources&) = default;
};

/// Times of one candidate, in nanoseconds per run of the operation, and its energy.
struct Timing {
  std::vector<double> samples_ns;
  double median_ns = 0.0;
  double spread_ns = 0.0;  ///< half the width of the 95 % confidence interval of the median
  int sm_clock_mhz = 0;    ///< at the end of the measurement; 0 when unknown
  double power_w = 0.0;
  int temperature_c = 0;
  /// Interleaved with the other finalists. A time that was not counts a quarter longer than one
  /// that was, because clocks drift within minutes (see better()).
  bool interleaved = false;
  /// Joules of the whole device per run, idle power included: the median over the turns that were
  /// long enough to measure it; 0 when it was not measured. Then power_w is of one moment, else the
  /// mean over these turns.
  double energy_j = 0.0;
  double energy_spread_j = 0.0;  ///< half the width of the interval that the turns leave open
  friend bool operator==(const Timing&, const Timing&) = default;
};

/// What the verifier found.
struct Verification {
  bool passed = false;
  double worst_ratio = 0.0;  ///< largest |error| / bound; at most 1 when passed
  /// "row 17 column 130: 3.25, expected 3.5 (allowed error 0.004)"; when passed, what could not be
  /// checked.
  std::string evidence;
  /// Also by the device's own checks, which look for races, reads of unwritten memory, missing
  /// waits and the like, whatever the results. An emulated GPU has them. When not passed: it is
  /// they that found the fault, and not results that differ.
  bool checked = false;
  friend bool operator==(const Verification&, const Verification&) = default;
};

/// Identity of a candidate: whatever would make its result wrong if it differed.
struct CandidateKey {
  Problem problem;
  DeviceClass device;
  std::string template_name;
  std::string template_digest;
  Config config;
  friend bool operator==(const CandidateKey&, const CandidateKey&) = default;
};

/// One evaluation of one candidate. Immutable once stored. Newer and older mean the order of
/// (created_unix_ms, id), which is the same in every database that has the trials, whatever the
/// order in which they arrived there; sessions likewise have (started_unix_ms, id).
struct Trial {
  std::string id;  ///< 32 hexadecimal digits, unique everywhere; filled by the store when empty
  CandidateKey key;
  Environment environment;
  Provenance provenance = Provenance::measured;
  Outcome outcome = Outcome::ok;
  /// Why, when the outcome is not ok; may be long (a compiler log). Of an imported trial, the
  /// second line has what else the file says, as JSON (cache/exchange/foreign_trials.hpp).
  std::string message;
  std::optional<KernelResources> resources;
  std::optional<Verification> verification;
  std::optional<Timing> timing;
  std::string rendered_digest;
  double compile_seconds = 0.0;
  std::string session_id;
  std::int64_t created_unix_ms = 0;  ///< next_unix_ms(); filled by the store when 0
  /// Digest of what runs: machine code and launches. Candidates of one problem and device in which
  /// it is equal do the same. "" when it is not known; the trial then stands for its candidate
  /// only.
  std::string code_digest;
  /// Id of the trial whose outcome, verification and timing these are: the code is the same, and
  /// nothing ran for this one. "" when the candidate ran, or never got that far.
  std::string shared_from;
  /// judge_digest() of what the outcome was judged by; see judge_of(). "" for one that was only
  /// compiled, and in rows of schemas before 9.
  std::string judge_digest;
  friend bool operator==(const Trial&, const Trial&) = default;
};

/// The judge of the trial's outcome: its digest, or for a row without one the judge that there was
/// then. "" where that is not known: such a trial neither recommends its candidate nor speaks
/// against it.
[[nodiscard]] std::string judge_of(const Trial& trial);

/// Milliseconds since 1970, but later than any date it has returned in this process: the trials of
/// one run are in the order in which they were made, even within a millisecond and when the clock
/// is set back.
[[nodiscard]] std::int64_t next_unix_ms();

/// A new id for a trial or session: 128 random bits, 32 hexadecimal digits.
[[nodiscard]] std::string random_id();

/// One tuning run, so that a partial search does not look final.
struct SessionRecord {
  std::string id;
  Problem problem;
  DeviceClass device;
  Environment environment;
  std::string strategy;          ///< canonical text, "random seed=1"
  std::string budget;            ///< "time=50s count=-"
  std::uint64_t space_size = 0;  ///< valid configurations over all templates
  std::uint64_t evaluated = 0;   ///< candidates with an outcome when the session ended
  std::string state;  ///< "running", "complete", "converged", "budget", "interrupted", "failed"
  std::int64_t started_unix_ms = 0;
  std::int64_t ended_unix_ms = 0;
  std::string objective = "time";  ///< canonical text of the Objective that decided its search
  friend bool operator==(const SessionRecord&, const SessionRecord&) = default;
};

}  // namespace kiln
