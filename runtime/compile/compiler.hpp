// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache/files/cubin_store.hpp"
#include "cache/records.hpp"
#include "runtime/compile/code_kind.hpp"

namespace kiln {

struct CompileRequest {
  std::string source;
  std::string source_name = "kernel.cu";
  std::string source_digest;                  ///< RenderedKernel::digest; key of the cubin store
  std::vector<std::string> name_expressions;  ///< empty: extern "C" kernels, see `plain_names`
  std::vector<std::string> plain_names;       ///< extern "C" functions wanted
  std::string arch;                           ///< "sm_90a"
  std::vector<std::string> options = {};      ///< CompileOptions::flags, beside those that all get
  bool line_info = false;
  CodeKind code = CodeKind::cubin;
  /// Whether nobody waits for the result any more; empty: somebody always does. Polled, from the
  /// thread that compiles, several times a second by compilers that can end what they have begun.
  std::function<bool()> give_up = {};
};

/// The result of compiling one candidate. Never thrown, never printed.
struct CompileResult {
  bool ok = false;
  std::vector<std::byte> cubin;            ///< or PTX text, as the request's `code` says
  std::vector<std::string> lowered_names;  ///< name_expressions, then plain_names
  /// Maximum over the kernels; occupancy not filled. Of the machine code that the compiler makes,
  /// also where the driver compiles the PTX again.
  KernelResources resources;
  std::vector<std::string> warnings;  ///< ptxas warning codes with text, "C7508 ..."
  std::string log;
  double seconds = 0.0;
  bool from_store = false;
  bool given_up = false;  ///< ended by the request's give_up: says nothing about the source
};

/// That of a compilation that was given up.
[[nodiscard]] CompileResult given_up_result();

/// Turns source into machine code. Thread-safe.
class Compiler {
 public:
  virtual ~Compiler() = default;
  [[nodiscard]] virtual CompileResult compile(const CompileRequest& request) = 0;
  [[nodiscard]] virtual std::string identity() const = 0;  ///< "nvrtc 13.0"
  [[nodiscard]] virtual std::string options_text(const CompileRequest& request) const = 0;
  [[nodiscard]] virtual std::vector<std::string> supported_archs() const = 0;
};

/// How a compiler treats the system headers above a rendered kernel. Precompiling them pays
/// from the second kernel of a problem on, and takes a folder below temporary_files_path(), without
/// which they are parsed each time; the machine code is the same.
enum class SystemHeaders { parse, precompile };

/// NVRTC, loaded at run time (from the toolkit Kiln was configured with, KILN's library folder, the
/// loader's path, /usr/local/cuda, or a Python wheel's folder). `cuda_include` empty: found beside
/// NVRTC or the toolkit. `warn` receives, once each, why headers cannot be precompiled, from any
/// thread that compiles, and why NVRTC may change signals' actions. Throws Error(compiler) that
/// lists where it looked and what to install.
[[nodiscard]] std::unique_ptr<Compiler> make_nvrtc_compiler(
    const std::string& cuda_include = "", SystemHeaders headers = SystemHeaders::parse,
    const std::function<void(const std::string&)>& warn = {});

/// Queries the cubin store first and fills it afterwards. Counts both. Thread-safe.
class CachingCompiler : public Compiler {
 public:
  /// `headers` is chosen_headers(): with other headers the same source can be a different kernel.
  CachingCompiler(std::shared_ptr<Compiler> compiler, std::shared_ptr<CubinStore> store,
                  std::string headers = "");
  [[nodiscard]] CompileResult compile(const CompileRequest& request) override;
  /// Compiles whatever the store has, and replaces its entry: for a stored kernel that
  /// the device refuses, which its digest cannot tell.
  [[nodiscard]] CompileResult compile_afresh(const CompileRequest& request);
  /// What the store has for this request from a compiler of that identity, which need not be the
  /// one at hand; nothing is compiled. Counts as a hit.
  [[nodiscard]] std::optional<CompileResult> stored(const CompileRequest& request,
                                                    const std::string& identity);
  [[nodiscard]] std::string identity() const override;
  [[nodiscard]] std::string options_text(const CompileRequest& request) const override;
  [[nodiscard]] std::vector<std::string> supported_archs() const override;
  [[nodiscard]] std::uint64_t compiles() const;
  [[nodiscard]] std::uint64_t hits() const;

 private:
  struct Counters;
  class Flight;
  [[nodiscard]] CubinKey key_of(const CompileRequest& request, const std::string& identity) const;

  std::shared_ptr<Compiler> compiler_;
  std::shared_ptr<CubinStore> store_;
  std::string headers_;
  std::shared_ptr<Counters> counters_;
};

/// The identity of the compiler that last filled the store, so that a process that finds all its
/// kernels there need not load a compiler to know what to ask for; "" if the store knows none.
[[nodiscard]] std::string remembered_compiler(CubinStore& store);

}  // namespace kiln
