// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/lazy_compiler.hpp"

#include "kiln/error.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"

namespace kiln {

CompilerSource nvrtc_source(const std::string& cuda_include,
                            const std::function<void(const std::string&)>& warn) {
  return {[=] { return make_nvrtc_compiler(cuda_include, SystemHeaders::parse, warn); },
          nvrtc_options_text};
}

LazyCompiler::LazyCompiler(CompilerSource source, std::string remembered)
    : source_(std::move(source)), remembered_(std::move(remembered)) {}

Compiler& LazyCompiler::get() const {
  const std::lock_guard lock(mutex_);
  if (!compiler_) compiler_ = source_.make();
  return *compiler_;
}

CompileResult LazyCompiler::compile(const CompileRequest& request) {
  return get().compile(request);
}

std::string LazyCompiler::identity() const {
  {
    const std::lock_guard lock(mutex_);
    if (compiler_) return compiler_->identity();
  }
  if (!remembered_.empty()) return remembered_;
  try {
    return get().identity();
  } catch (const Error&) {
    // Asking for a name must not fail while a stored kernel may still answer.
    return {};
  }
}

std::string LazyCompiler::options_text(const CompileRequest& request) const {
  return source_.options_text(request);
}

std::vector<std::string> LazyCompiler::supported_archs() const {
  return get().supported_archs();
}

}  // namespace kiln
