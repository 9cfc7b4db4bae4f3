// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cubin_store.hpp"
#include "kiln/library.hpp"
#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/fork_guard.hpp"
#include "runtime/gemm_key.hpp"
#include "runtime/kernel_builder.hpp"
#include "runtime/kernel_chooser.hpp"
#include "runtime/kernel_entry.hpp"
#include "runtime/lazy_compiler.hpp"
#include "runtime/published_table.hpp"
#include "runtime/tuner_process.hpp"
#include "runtime/warning_sink.hpp"
#include "runtime/workspaces.hpp"
#include "templates/catalog.hpp"

namespace kiln::detail {

/// The parts of a library: Library::open derives these from options and environment, tests supply
/// their own.
struct LibraryParts {
  std::shared_ptr<Device> device;  ///< shared with the memory that the application got from it
  CompilerSource compiler;
  std::shared_ptr<CubinStore> cubins = std::make_shared<CubinStore>();
  Catalog catalog = Catalog::builtin();
  std::string database;  ///< may not exist; "": none
  std::vector<std::string> site_databases;
  Mode mode = Mode::use;
  std::string tuner_program;  ///< "": find_tuner()
  // For the tuner, as the application named them: where `catalog` was read from, where `compiler`
  // finds headers, and the file of `cubins`.
  std::vector<std::string> template_path;
  std::string cuda_include;
  std::string cubin_store;
  std::shared_ptr<WarningSink> warnings;
};

/// Fills in the database and the cubin store that options and environment name. A machine without a
/// home folder has none by default: that is one warning, and nothing is kept. `parts.warnings` must
/// be set.
void locate_files(LibraryParts& parts, const LibraryOptions& options);

/// Behind Library: a table of loaded kernels that is read without a lock, and one mutex around
/// everything that fills it except the tuner, which takes most of a minute.
class LibraryState {
 public:
  explicit LibraryState(LibraryParts parts);
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;

  [[nodiscard]] static Library make_library(LibraryParts parts);

  [[nodiscard]] Kernel get(const Gemm& gemm) {
    if (process_ != this_process()) [[unlikely]]
      refuse_parents_object();
    const GemmRequest request = make_request(gemm);
    if (request.valid) [[likely]] {
      const KernelEntry* entry = table_.find(request.key);
      if (entry != nullptr) [[likely]] {
        return {entry, request.ld.a, request.ld.b, request.ld.c, request.ld.d};
      }
    }
    const KernelEntry* entry = load(gemm, request);
    return {entry, request.ld.a, request.ld.b, request.ld.c, request.ld.d};
  }

  [[nodiscard]] const Device& device() const { return *parts_.device; }
  [[nodiscard]] const std::shared_ptr<Device>& shared_device() const { return parts_.device; }
  [[nodiscard]] LibraryCounters counters() const noexcept;
  /// False in a child of the process that created it, which must neither use nor destroy it.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_ == this_process(); }

 private:
  using Lock = std::unique_lock<std::mutex>;
  [[nodiscard]] const KernelEntry* load(const Gemm& gemm, const GemmRequest& request);
  /// Candidates for one problem that turned out not to work, and why the latest did not.
  struct Refusals {
    Refused candidates;
    std::string latest;
  };
  /// May release the lock for as long as the tuner runs.
  [[nodiscard]] std::optional<Choice> choose(const Gemm& gemm, const Problem& problem,
                                             const Refusals& refusals, Lock& lock);
  /// Releases the lock for as long as it compiles.
  [[nodiscard]] BuiltKernel build(const Choice& choice, const Problem& problem, Lock& lock);
  /// Throws Error(not_found): the mode requires a tuned kernel.
  [[noreturn]] void refuse_untuned(const Gemm& gemm, const Problem& problem,
                                   const Refusals& refusals) const;
  [[nodiscard]] TunerSettings tuner_settings() const;
  /// Runs the tuner, or waits for another thread that runs it for the same problem; once for each.
  /// Releases the lock, so that problems that need no tuner go on meanwhile. Returns whether there
  /// may be results that were not there before.
  [[nodiscard]] bool tune(const Gemm& gemm, const Problem& problem, Lock& lock);
  /// Without the lock. One tuner at a time: another problem's waits.
  void run_tuner(const Gemm& gemm, const Problem& problem);
  /// What does not depend on a kernel: the whole entry where D has no elements.
  [[nodiscard]] std::unique_ptr<KernelEntry> make_idle_entry(const Gemm& gemm,
                                                             const GemmKey& key) const;
  [[nodiscard]] std::unique_ptr<const KernelEntry> make_entry(const Gemm& gemm, const GemmKey& key,
                                                              const Choice& choice,
                                                              BuiltKernel built);

  std::uint32_t process_ = this_process();
  LibraryParts parts_;
  CachingCompiler compiler_;
  Workspaces workspaces_;
  PublishedTable<KernelEntry> table_;

  std::mutex tuner_mutex_;  ///< held while the tuner runs, and never taken under mutex_
  std::mutex mutex_;        ///< guards all below, and writing to table_
  KernelChooser chooser_;
  KernelBuilder builder_;
  std::map<std::string, bool> tunings_;  ///< by problem: whether the tuner has ended
  std::condition_variable tuning_ended_;
  std::set<std::string> compiling_;  ///< names of code being compiled by some thread
  std::condition_variable compiled_;
  std::atomic<std::uint64_t> database_reads_{0};
};

}  // namespace kiln::detail
