// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "runtime/emulated/device/emulated_device.hpp"
#include "templates/catalog.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/session/search_space.hpp"
#include "tuner/session/setup.hpp"

/// \file
/// Templates of declared operations on the emulated GPU, judged as a tuning session judges them,
/// after the way that set-ups and jobs take to a worker process.

namespace kiln::testing {

/// Values by name, for each size of an operation.
using Sizes = std::vector<NamedValue>;
/// An element type for each slot of an operation.
using Types = std::vector<NamedType>;

/// What judging a candidate came to.
struct Judged {
  Outcome outcome = Outcome::ok;
  std::string message;
  bool verified = false;
  std::string evidence;  ///< beside the message: what is said of a right one
  std::vector<emulated::Report> reports;
  /// All of it in words; "" if it is right and nothing was reported.
  [[nodiscard]] std::string complaint() const;
};

/// NVRTC with a store of what it compiled, made once. Throws Error(compiler) where there is none.
[[nodiscard]] std::shared_ptr<Compiler> shared_nvrtc();

/// A device, its compiler, and the setup of one problem.
class OperationBench {
 public:
  /// On an emulated H200 with all checks on. Throws what shared_nvrtc() throws.
  OperationBench();
  /// On a device that checks nothing itself.
  explicit OperationBench(std::unique_ptr<Device> device);

  /// Sets up what verifies candidates for that problem and its operation's ragged sizes.
  void set_up(const Problem& problem, const std::vector<NamedScalar>& scalars = {});
  /// Compiles and judges, without timing.
  [[nodiscard]] Judged judge(const Catalog& catalog, const Candidate& candidate);

  [[nodiscard]] const DeviceInfo& info() const { return evaluator_.info(); }

 private:
  std::shared_ptr<Compiler> compiler_;
  EmulatedDevice* checked_ = nullptr;  ///< null: there are no reports
  LocalEvaluator evaluator_;
  EvaluationSetup setup_;
};

/// Judges the template in the text `kernel` with its default configuration, for the operation in
/// the text `operation`.
[[nodiscard]] Judged judge_texts(OperationBench& bench, const std::string& operation,
                                 const std::string& kernel, const Sizes& sizes);

/// examples/ of the source tree.
[[nodiscard]] std::string example_folder(const std::string& below);
[[nodiscard]] std::string read_text(const std::filesystem::path& file);

/// Sizes that have a default and traits may be left out; then traits have their first value.
[[nodiscard]] Problem problem_of(const Operation& operation, const Sizes& sizes, const Types& types,
                                 const std::vector<NamedValue>& traits = {});

/// Types for a template such that every type of every slot occurs; those that come first in the
/// front matter first. With `all`, every combination that its rows allow.
[[nodiscard]] std::vector<Types> type_choices_of(const KernelTemplate& kernel, bool all);

/// The default configuration and others, so that every value that a tunable may have in this space
/// occurs: few, drawn at random from `seed`.
[[nodiscard]] std::vector<Config> covering_configs(const ParamSpace& space, std::uint64_t seed);

}  // namespace kiln::testing
