// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/library/kernel_builder.hpp"
#include "runtime/library/kernel_entry.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/tuner_process.hpp"
#include "runtime/library/workspaces.hpp"
#include "runtime/process/fork_guard.hpp"

namespace kiln::detail {

/// A kernel that was asked for and is in no table yet. is_loaded() and publish() are called with
/// the loader's lock, which makes them the only ones that write to tables.
struct WantedKernel {
  Problem problem;
  /// The problem on the tuner's command line: "softmax", "--rows", "1000", ... Called when a tuner
  /// starts, or is named in a message.
  std::function<std::vector<std::string>()> tuner_words;
  /// Whether another thread has been faster.
  std::function<bool()> is_loaded;
  /// Puts the kernel into its table.
  std::function<void(KernelEntry)> publish;
};

/// Finds, builds and loads kernels for problems of any operation. One mutex around everything but
/// compiling and the tuner, which takes most of a minute.
class KernelLoader {
 public:
  explicit KernelLoader(LibraryParts parts);
  KernelLoader(const KernelLoader&) = delete;
  KernelLoader& operator=(const KernelLoader&) = delete;

  /// Publishes a kernel for the problem, unless that has been done: afterwards it is in its table.
  /// Throws what Library::get() is documented to throw.
  void load(const WantedKernel& wanted);

  [[nodiscard]] const LibraryParts& parts() const { return parts_; }
  [[nodiscard]] LibraryCounters counters() const noexcept;

 private:
  using Lock = std::unique_lock<std::mutex>;
  /// Candidates for one problem that turned out not to work, and why the latest did not.
  struct Refusals {
    Refused candidates;
    std::string latest;
    std::string failure;  ///< the latest one's, without its name
    /// The first of those that would run, but are not competitive.
    std::optional<Choice> usable;
  };
  /// `toolkit` is the present compiler's identity, which the database is asked with. May release
  /// the lock for as long as the tuner runs.
  [[nodiscard]] std::optional<Choice> choose(const WantedKernel& wanted, const Refusals& refusals,
                                             const std::string& toolkit, Lock& lock);
  /// Releases the lock for as long as it compiles.
  [[nodiscard]] BuiltKernel build(const Choice& choice, const Problem& problem, Lock& lock);
  /// Throws Error(not_found): no template computes the problem.
  [[noreturn]] void refuse_unknown(const WantedKernel& wanted, const Refusals& refusals) const;
  /// Throws Error(not_found): the mode requires a tuned kernel.
  [[noreturn]] void refuse_untuned(const WantedKernel& wanted, const Refusals& refusals) const;
  [[nodiscard]] TunerSettings tuner_settings() const;
  /// To be pasted into a shell.
  [[nodiscard]] std::string command_that_tunes(const WantedKernel& wanted) const;
  /// Of each kind of problem, once.
  void warn_if_untuned(const WantedKernel& wanted, const Choice& choice);
  void warn_if_wrong(const WantedKernel& wanted, const Choice& choice);
  /// Runs the tuner, or waits for another thread that runs it for the same problem; once for each.
  /// Releases the lock, so that problems that need no tuner go on meanwhile. Returns whether there
  /// may be results that were not there before.
  [[nodiscard]] bool tune(const WantedKernel& wanted, Lock& lock);
  /// Without the lock. One tuner at a time: another problem's waits.
  void run_tuner(const WantedKernel& wanted);
  /// The whole entry where no result has elements.
  [[nodiscard]] KernelEntry idle_entry(const Problem& problem) const;
  [[nodiscard]] KernelEntry make_entry(const Problem& problem, const Choice& choice,
                                       BuiltKernel built);

  std::uint32_t process_ = this_process();
  LibraryParts parts_;
  CachingCompiler compiler_;
  Workspaces workspaces_;

  std::mutex tuner_mutex_;  ///< held while the tuner runs, and never taken under mutex_
  std::mutex mutex_;        ///< guards all below, and writing to tables
  KernelChooser chooser_;
  KernelBuilder builder_;
  std::map<std::string, bool> tunings_;  ///< by problem: whether the tuner has ended
  std::condition_variable tuning_ended_;
  std::set<std::string> compiling_;  ///< names of code being compiled by some thread
  std::condition_variable compiled_;
  std::atomic<std::uint64_t> database_reads_{0};
};

}  // namespace kiln::detail
