// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/compiler.hpp"
#include "runtime/device.hpp"
#include "runtime/kernel_chooser.hpp"
#include "templates/catalog.hpp"
#include "templates/renderer.hpp"

namespace kiln::detail {

/// A candidate on the device, ready to be launched for one problem.
struct BuiltKernel {
  std::shared_ptr<const LoadedModule> module;
  std::vector<LaunchRequest> launches;  ///< without arguments
  std::int64_t workspace_bytes = 0;
  std::string toolkit;  ///< identity of the compiler that made the code
  std::string failure;  ///< why there is none of that; "" on success
};

/// Renders, compiles (or finds compiled), loads and prepares. Problems that differ in sizes alone
/// share one loaded module. One thread.
class KernelBuilder {
 public:
  KernelBuilder(const Catalog& catalog, Device& device, CachingCompiler& compiler);
  /// Throws Error(compiler) when it comes to compiling and there is no compiler.
  [[nodiscard]] BuiltKernel build(const Choice& choice, const Problem& problem);

 private:
  struct Loaded {
    std::shared_ptr<const LoadedModule> module;
    std::string toolkit;
    std::vector<std::uint32_t> prepared_bytes;  ///< per function, of dynamic shared memory
  };
  /// All three give null and a `failure` when the candidate cannot be compiled or loaded.
  [[nodiscard]] std::shared_ptr<const LoadedModule> load_module(
      const KernelTemplate& kernel_template, const CompileResult& compiled, std::string& failure);
  [[nodiscard]] Loaded find_module(const KernelTemplate& kernel_template,
                                   const RenderedKernel& rendered, const std::string& toolkit,
                                   std::string& failure);
  [[nodiscard]] Loaded* load(const Choice& choice, const Problem& problem, std::string& failure);

  const Catalog& catalog_;
  Device& device_;
  CachingCompiler& compiler_;
  std::map<std::string, Loaded> modules_;  ///< by template, configuration and kind
};

}  // namespace kiln::detail
