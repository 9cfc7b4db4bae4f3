// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/choice/kernel_chooser.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/constant_arrays.hpp"
#include "runtime/device.hpp"
#include "templates/catalog.hpp"
#include "templates/render/renderer.hpp"

namespace kiln::detail {

/// A candidate on the device, ready to be launched for one problem.
struct BuiltKernel {
  std::shared_ptr<const LoadedModule> module;
  std::vector<LaunchRequest> launches;  ///< without arguments
  /// What each launch gives its kernel, whose offsets the launches have; none where the operation's
  /// argument is one struct.
  std::vector<ArgumentPlan> arguments;
  std::vector<ConstantArray> constants;
  std::int64_t workspace_bytes = 0;
  std::string toolkit;  ///< identity of the compiler that produced the code
  std::string failure;  ///< why there is none; "" on success
  /// Whether it failed with code from the store, so that compile_again() may help.
  bool is_stale = false;
  /// Why it is not worth running although it would (why_not_competitive()); "" if it is.
  std::string drawback;

  [[nodiscard]] bool does_not_compile() const;
};

/// The code of a candidate, from the store or compiled.
struct KernelCode {
  CompileRequest request;
  CompileResult result;
  std::string toolkit;  ///< identity of the compiler that produced it
  std::string failure;  ///< why it cannot even be compiled; "" if `result` says why
};

/// Renders, compiles (or finds compiled), loads and prepares. Problems that differ only in sizes
/// share one loaded module. One thread at a time, except for compile() and compile_again().
class KernelBuilder {
 public:
  KernelBuilder(const Catalog& catalog, Device& device, CachingCompiler& compiler);

  /// What identifies a candidate's code: its template, configuration and kind of problem.
  [[nodiscard]] static std::string code_name(const Choice& choice, const Problem& problem);
  /// Whether code of that name is loaded: then build() needs none.
  [[nodiscard]] bool holds(const std::string& code_name) const;
  /// Thread-safe. Throws Error(compiler) if it has to compile and there is no compiler.
  [[nodiscard]] KernelCode compile(const Choice& choice, const Problem& problem) const;
  /// Thread-safe. For code from the store that the device refused: what the present compiler has
  /// in the store if `refused` is another's, else compiled afresh.
  [[nodiscard]] KernelCode compile_again(KernelCode refused) const;
  /// `code` is what compile() returned for the choice; it is not used if holds() is true. Compiles
  /// nothing.
  [[nodiscard]] BuiltKernel build(const Choice& choice, const Problem& problem,
                                  const KernelCode& code);

 private:
  struct Loaded {
    std::shared_ptr<const LoadedModule> module;
    std::string toolkit;
    std::vector<std::uint32_t> prepared_bytes;  ///< per function, of dynamic shared memory
    std::string drawback;                       ///< as of BuiltKernel
  };
  /// This and load() return null and set `failure` if the candidate cannot be compiled or loaded.
  [[nodiscard]] std::shared_ptr<const LoadedModule> load_module(
      const KernelTemplate& kernel_template, const CompileResult& compiled, std::string& failure);
  [[nodiscard]] Loaded* load(const KernelTemplate& kernel_template, const std::string& name,
                             const KernelCode& code, std::string& failure);

  const Catalog& catalog_;
  Device& device_;
  CachingCompiler& compiler_;
  std::map<std::string, Loaded> modules_;  ///< by code_name()
};

}  // namespace kiln::detail
