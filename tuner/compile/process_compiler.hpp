// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/compile/compiler.hpp"
#include "tuner/worker/process.hpp"

namespace kiln {

/// Compiles in child processes, as many as there are threads that compile at the same time: a
/// compilation can be ended, a source that the compiler does not survive costs a compilation and
/// not the program, and threads of one process would spend most of their time waiting for each
/// other in NVRTC. Thread-safe.
class ProcessCompiler : public Compiler {
 public:
  using Warn = std::function<void(const std::string&)>;
  using Make = std::function<std::unique_ptr<Compiler>()>;
  /// `command` (argv) starts a child that serves compiler_main() on its standard input and output,
  /// with a compiler like the one that `make_here` makes. That one says what there is to know about
  /// it, and compiles where no child can be started, after a warning. `early` children are started
  /// now, so that they are ready when they are needed. `warn` receives each warning once, from any
  /// thread that compiles; it may be empty. Throws what `make_here` throws.
  ProcessCompiler(std::vector<std::string> command, const Make& make_here, Warn warn,
                  int early = 0);
  /// Ends the children. No thread may be compiling.
  ~ProcessCompiler() override;

  /// A kernel with which two children died by themselves has failed. Where the system has no room
  /// for more children, threads wait for those that there are. A request that is given up is
  /// noticed in less than a tenth of a second. Throws Error(compiler) if two children were killed
  /// from outside, which says nothing about the kernel.
  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  [[nodiscard]] std::vector<std::string> supported_archs() const override;

 private:
  struct Child;
  using ChildPtr = std::unique_ptr<Child>;
  [[nodiscard]] ChildPtr take_child(bool fresh, const WorkerProcess::Patience& patience);
  [[nodiscard]] ChildPtr idle_child(bool fresh);
  [[nodiscard]] ChildPtr start_child();
  void lower_if_many(pid_t child);
  [[nodiscard]] bool greets(ChildPtr& child, const WorkerProcess::Patience& patience);
  [[nodiscard]] std::string why_not();
  void put_back(ChildPtr child);
  [[nodiscard]] WorkerProcess::Ending end(ChildPtr child);
  void forget(std::string why_not);
  void warn_once(const std::string& warning);

  std::vector<std::string> command_;
  Warn warn_;
  std::unique_ptr<Compiler> here_;
  std::atomic<bool> ended_any_{false};  ///< by force
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<ChildPtr> idle_;    ///< guarded
  int living_ = 0;                ///< guarded; idle ones and those that compile
  std::set<pid_t> unlowered_;     ///< guarded; those of normal priority
  std::string why_not_;           ///< guarded; the last reason why there was no other
  bool unsuited_ = false;         ///< guarded; and there never will be one
  std::set<std::string> warned_;  ///< guarded
};

/// The child's side: compiles for the session until end of file. Returns an exit code. `make`
/// creates the compiler, which warns through its argument. The process becomes one for this purpose
/// only: without core files, and it ends a second after the session has, even
/// while it compiles.
int compiler_main(int in_fd, int out_fd,
                  const std::function<std::unique_ptr<Compiler>(ProcessCompiler::Warn)>& make);

}  // namespace kiln
