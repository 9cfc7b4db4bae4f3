// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cache/files/private_folder.hpp"
#include "runtime/compile/compiler.hpp"
#include "runtime/compile/nvrtc_api.hpp"

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
  /// Bytes that one process's precompiled headers may take: NVRTC's own limit for a file.
  static constexpr std::uintmax_t kRoomForHeaders = std::uintmax_t{256} << 20;

  /// Headers are precompiled if there is a folder for them, as long as each such folder beside it
  /// has `room` left: NVRTC maps the files, and where there is none a write to a mapping ends the
  /// process. `warn` may be empty; it is called once, from any thread that compiles, if that turns
  /// out not to work, at once if `api` is unshielded, and after the first compilation if that
  /// changed the action of a signal.
  NvrtcCompiler(NvrtcApi api, std::vector<std::string> include_folders,
                std::unique_ptr<PrivateFolder> headers, Warn warn,
                std::uintmax_t room = kRoomForHeaders);

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
  [[nodiscard]] bool may_precompile();
  void compile_watched(CompileResult& result, const CompileRequest& request, bool precompile);
  void compile_into(CompileResult& result, const CompileRequest& request, bool precompile) const;
  void collect(NvrtcApi::Program program, const CompileRequest& request,
               CompileResult& result) const;
  [[nodiscard]] std::string log_of(NvrtcApi::Program program) const;

  NvrtcApi api_;
  std::vector<std::string> include_folders_;
  std::unique_ptr<PrivateFolder> headers_;  ///< null: they are parsed each time
  Warn warn_;
  std::uintmax_t room_;
  std::atomic<bool> precompiles_;
  std::atomic<bool> is_first_{true};  ///< compilation of this compiler
};

}  // namespace kiln
