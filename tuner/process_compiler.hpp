// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "tuner/worker_process.hpp"

namespace kiln {

/// Compiles in child processes, as many as there are threads that compile at the same time: threads
/// of one process spend most of their time waiting for each other in NVRTC. A child that dies costs
/// a compilation, not the session. Thread-safe.
class ProcessCompiler : public Compiler {
 public:
  using Warn = std::function<void(const std::string&)>;
  /// `command` (argv) starts a child that serves compiler_main() on its standard input and output,
  /// with a compiler like `here`. That one says what there is to know about it, and compiles where
  /// no child can be started, after a warning. `warn` receives each warning once, from any thread
  /// that compiles; it may be empty.
  ProcessCompiler(std::vector<std::string> command, std::unique_ptr<Compiler> here, Warn warn);
  /// Ends the children. No thread may be compiling.
  ~ProcessCompiler() override;

  /// A kernel with which two children died by themselves has failed. Throws Error(compiler) if two
  /// were killed from outside, which says nothing about the kernel.
  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  [[nodiscard]] std::vector<std::string> supported_archs() const override;
  /// Takes less than a tenth of a second to be noticed.
  void give_up() override { ++given_up_; }

 private:
  using Child = std::unique_ptr<WorkerProcess>;
  [[nodiscard]] Child idle_child();
  [[nodiscard]] Child new_child(const WorkerProcess::Patience& patience);
  void put_back(Child child);
  [[nodiscard]] WorkerProcess::Ending end(Child child);
  void warn_once(const std::string& warning);

  std::vector<std::string> command_;
  std::unique_ptr<Compiler> here_;
  Warn warn_;
  std::atomic<int> given_up_{0};          ///< how often
  std::atomic<bool> ended_any_{false};    ///< by force
  std::atomic<bool> starts_none_{false};  ///< children cannot be started
  std::mutex mutex_;
  std::vector<Child> idle_;       ///< guarded
  std::set<std::string> warned_;  ///< guarded
};

/// The child's side: compiles for the session until end of file. Returns an exit code. `make`
/// creates the compiler, which warns through its argument. The process becomes one for this purpose
/// only: of lower priority, without core files, and it ends a second after the session has, even
/// while it compiles.
int compiler_main(int in_fd, int out_fd,
                  const std::function<std::unique_ptr<Compiler>(ProcessCompiler::Warn)>& make);

}  // namespace kiln
