// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/private_folder.hpp"
#include "runtime/compiler.hpp"
#include "runtime/nvrtc_api.hpp"

namespace kiln {

/// The options that decide the bytes of a cubin, in canonical order: part of the key of the cubin
/// store, known without loading NVRTC. Include folders are not among them: they only locate
/// headers. Which headers those are follows from the compiler's version, or is chosen_headers().
[[nodiscard]] std::string nvrtc_options_text(const CompileRequest& request);

/// Turns source into machine code with NVRTC. Threads compile in parallel: each has a program of
/// its own, which NVRTC allows. A source that NVRTC's recursion might not survive is refused.
class NvrtcCompiler : public Compiler {
 public:
  using Warn = std::function<void(const std::string&)>;
  /// Headers are precompiled if there is a folder for them. `warn` may be empty; it is called
  /// once, from any thread that compiles, if that turns out not to work, and at once if `api`
  /// is unshielded.
  NvrtcCompiler(NvrtcApi api, std::vector<std::string> include_folders,
                std::unique_ptr<PrivateFolder> headers, Warn warn);

  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  [[nodiscard]] std::vector<std::string> supported_archs() const override;
  [[nodiscard]] const std::string& library_folder() const { return api_.folder; }
  [[nodiscard]] const std::vector<std::string>& include_folders() const { return include_folders_; }

 private:
  [[nodiscard]] bool at_least(int major, int minor) const;
  [[nodiscard]] std::vector<std::string> options(const CompileRequest& request,
                                                 bool precompile) const;
  [[nodiscard]] CompileResult compile_here(const CompileRequest& request);
  void compile_into(CompileResult& result, const CompileRequest& request, bool precompile) const;
  void collect(NvrtcApi::Program program, const CompileRequest& request,
               CompileResult& result) const;
  [[nodiscard]] std::string log_of(NvrtcApi::Program program) const;

  NvrtcApi api_;
  std::vector<std::string> include_folders_;
  std::unique_ptr<PrivateFolder> headers_;  ///< null: they are parsed each time
  Warn warn_;
  std::atomic<bool> precompiles_;
};

}  // namespace kiln
