// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/compile/compiler.hpp"

namespace kiln {

/// How to create a compiler on demand, and what is known of it before that.
struct CompilerSource {
  /// May throw Error(compiler).
  std::function<std::unique_ptr<Compiler>()> make;
  std::function<std::string(const CompileRequest&)> options_text;
};

/// NVRTC, loaded by the first compile. `warn` is make_nvrtc_compiler()'s.
[[nodiscard]] CompilerSource nvrtc_source(const std::string& cuda_include,
                                          const std::function<void(const std::string&)>& warn);

/// A compiler that is created by its first compilation: loading NVRTC takes longer than everything
/// else between opening a library and the first launch, and most processes find all their kernels
/// in the cubin store.
class LazyCompiler : public Compiler {
 public:
  /// `remembered` serves as the identity until the compiler exists; it may be empty.
  LazyCompiler(CompilerSource source, std::string remembered);

  /// Throws Error(compiler) if the compiler cannot be created.
  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  /// The remembered one as long as it suffices; "" if there is neither that nor a compiler.
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  /// Creates the compiler. Throws Error(compiler).
  [[nodiscard]] std::vector<std::string> supported_archs() const override;

 private:
  [[nodiscard]] Compiler& get() const;

  CompilerSource source_;
  std::string remembered_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Compiler> compiler_;
};

}  // namespace kiln
