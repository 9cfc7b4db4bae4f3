// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/nvrtc_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cache/files/file_size_signal.hpp"
#include "cache/files/locations.hpp"
#include "kiln/error.hpp"
#include "runtime/compile/compiler_log.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/compile/nvrtc_surroundings.hpp"
#include "runtime/compile/ptx_limit.hpp"
#include "runtime/compile/register_note.hpp"
#include "runtime/compile/source_nesting.hpp"
#include "runtime/process/large_stack.hpp"
#include "templates/compile_options.hpp"
#include "templates/render/header_names.hpp"

namespace kiln {
namespace {

class ScopedProgram {
 public:
  explicit ScopedProgram(const NvrtcApi& api) : api_(api) {}
  ~ScopedProgram() {
    if (program_ != nullptr) static_cast<void>(api_.destroy_program(&program_));
  }
  ScopedProgram(const ScopedProgram&) = delete;
  ScopedProgram& operator=(const ScopedProgram&) = delete;
  [[nodiscard]] NvrtcApi::Program* address() { return &program_; }
  [[nodiscard]] NvrtcApi::Program get() const { return program_; }

 private:
  const NvrtcApi& api_;
  NvrtcApi::Program program_ = nullptr;
};

/// What every program is given beside its source, as NVRTC takes it.
struct SuppliedTexts {
  std::vector<const char*> names;
  std::vector<const char*> texts;
};

const SuppliedTexts& supplied_texts() {
  static const SuppliedTexts supplied = [] {
    SuppliedTexts made;
    for (const SuppliedHeader& header : supplied_headers()) {
      made.names.push_back(header.name.c_str());
      made.texts.push_back(header.text.c_str());
    }
    return made;
  }();
  return supplied;
}

/// From NVRTC's front end, for failures that have nothing to do with the source: it prints
/// "Catastrophic error" or "1 catastrophic error detected".
constexpr const char* kCatastrophe = "atastrophic error";

/// The emulated GPU names source lines in what it reports.
bool wants_lines(const CompileRequest& request) {
  return request.line_info || request.code == CodeKind::ptx;
}

std::vector<std::string> key_options(const CompileRequest& request) {
  std::vector<std::string> options{fmt::format("--gpu-architecture={}", request.arch),
                                   "--std=c++20"};
  if (wants_lines(request)) options.emplace_back("--generate-line-info");
  options.insert(options.end(), request.options.begin(), request.options.end());
  return options;
}

void limit_registers(std::vector<std::byte>& ptx, int registers) {
  const std::string limited =
      with_register_limit({reinterpret_cast<const char*>(ptx.data()), ptx.size()}, registers);
  const auto* const bytes = reinterpret_cast<const std::byte*>(limited.data());
  ptx.assign(bytes, bytes + limited.size());
}

std::string why_too_nested(const CompileRequest& request, const NestingLimits& limits) {
  std::string why = why_too_nested(request.source, request.source_name, limits);
  for (const std::string& expression : request.name_expressions) {
    if (why.empty()) why = why_too_nested(expression, "the kernel's name", limits);
  }
  return why;
}

}  // namespace

std::string nvrtc_options_text(const CompileRequest& request) {
  std::string text;
  for (const std::string& option : key_options(request)) {
    text += (text.empty() ? "" : " ") + option;
  }
  // Not an option of NVRTC, which always makes both: which one was kept, with a register_note().
  if (request.code == CodeKind::ptx) text += " ptx noted by kernel";
  if (request.code == CodeKind::driver_ptx) text += " ptx for the driver";
  return text;
}

NvrtcCompiler::NvrtcCompiler(NvrtcApi api, std::vector<std::string> include_folders,
                             std::unique_ptr<PrivateFolder> headers, Warn warn, std::uintmax_t room)
    : api_(std::move(api)),
      include_folders_(std::move(include_folders)),
      headers_(std::move(headers)),
      warn_(std::move(warn)),
      room_(room),
      precompiles_(headers_ != nullptr) {
  if (api_.unshielded.empty() || !warn_) return;
  warn_(fmt::format(
      "NVRTC's first compilation replaces signal handlers of this process. Kiln cannot prevent "
      "this ({}). During this compilation, SIGINT and SIGTERM end the process. Your own signal "
      "handlers may stop working. Next: install your signal handlers after the first call of "
      "get(), or compile the kernels beforehand with `kiln run`",
      api_.unshielded));
}

std::string NvrtcCompiler::identity() const {
  return fmt::format("nvrtc {}.{}", api_.major, api_.minor);
}

std::string NvrtcCompiler::options_text(const CompileRequest& request) const {
  return nvrtc_options_text(request);
}

bool NvrtcCompiler::at_least(int major, int minor) const {
  return std::pair(api_.major, api_.minor) >= std::pair(major, minor);
}

std::vector<std::string> NvrtcCompiler::supported_archs() const {
  int count = 0;
  if (api_.get_num_supported_archs(&count) != 0 || count <= 0) return {};
  std::vector<int> numbers(static_cast<std::size_t>(count));
  if (api_.get_supported_archs(numbers.data()) != 0) return {};
  std::vector<std::string> archs;
  for (const int number : numbers) {
    archs.push_back(fmt::format("sm_{}", number));
    // NVRTC lists generations. From 9.0 on each also has the set of features that is its own, and
    // from 10.0 on, for NVRTC 12.9 and newer, the set that its family shares.
    if (number >= 90) archs.push_back(fmt::format("sm_{}a", number));
    if (number >= 100 && at_least(12, 9)) archs.push_back(fmt::format("sm_{}f", number));
  }
  return archs;
}

std::vector<std::string> NvrtcCompiler::options(const CompileRequest& request,
                                                bool precompile) const {
  std::vector<std::string> options = key_options(request);
  for (const std::string& folder : include_folders_) options.push_back("-I" + folder);
  // Verbose for registers and spills, which only the log tells.
  options.emplace_back("--ptxas-options=-v");
  // From 12.9 on NVRTC has a cache of its own: compile times must be those of real compilations.
  if (at_least(12, 9)) options.emplace_back("--no-cache");
  if (precompile) {
    // Without its messages, so that a kernel's log does not depend on which one came first.
    options.insert(options.end(), {"--pch", "--pch-messages=false", "--pch-verbose=false",
                                   "--pch-dir=" + headers_->path()});
  }
  return options;
}

CompileResult NvrtcCompiler::compile(const CompileRequest& request) {
  CompileResult result;
  const auto begin = std::chrono::steady_clock::now();
  // A stack that overflows would take the process with it.
  call_on_large_stack([&](std::size_t bytes) {
    result.log = why_too_nested(request, nesting_limits(bytes));
    if (result.log.empty()) result = compile_here(request);
  });
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  result.seconds = elapsed.count();
  return result;
}

CompileResult NvrtcCompiler::compile_here(const CompileRequest& request) {
  CompileResult result;
  const FileSizeSignalHeld held;  // precompiled headers may not fit under the limit
  const NvrtcTemporaries temporaries(headers_ ? headers_->path().c_str() : nullptr);
  const bool precompile = may_precompile();
  compile_watched(result, request, precompile);
  // A full disk, or a folder that was removed, is not the kernel's fault.
  if (precompile && !result.ok && result.log.find(kCatastrophe) != std::string::npos) {
    CompileResult again;
    compile_into(again, request, false);
    if (again.ok && precompiles_.exchange(false) && warn_) {
      warn_(
          fmt::format("system headers are no longer precompiled, so kernels compile more slowly. "
                      "NVRTC reported: {}",
                      result.log.substr(0, result.log.find('\n'))));
    }
    result = std::move(again);
  }
  return result;
}

/// Others have the files of a process as well, and take what is free at the same time.
bool NvrtcCompiler::may_precompile() {
  namespace fs = std::filesystem;
  if (!precompiles_) return false;
  const fs::path folder = headers_->path();
  std::error_code error;
  const std::uintmax_t free = fs::space(folder, error).available;
  if (error) return true;  // NVRTC will say what is wrong with it
  std::uintmax_t processes = 0;
  for (fs::directory_iterator entry(folder.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) ++processes;
  }
  if (free / std::max<std::uintmax_t>(processes, 1) >= room_) return true;
  if (precompiles_.exchange(false) && warn_) {
    warn_(fmt::format(
        "system headers are not precompiled, so kernels compile more slowly. Folder {} has only {} "
        "MiB of free space, but {} processes compile there and may need {} MiB each. Next: free "
        "some space there, or set XDG_CACHE_HOME to another folder for temporary files.",
        folder.parent_path().string(), free >> 20, processes, room_ >> 20));
  }
  return false;
}

/// NVRTC changes actions of signals while a process compiles for the first time.
void NvrtcCompiler::compile_watched(CompileResult& result, const CompileRequest& request,
                                    bool precompile) {
  if (!warn_ || !api_.unshielded.empty() || !is_first_.exchange(false)) {
    return compile_into(result, request, precompile);
  }
  SignalWatch watch(!api_.is_shielded);
  compile_into(result, request, precompile);
  if (const std::string changed = watch.changed(); !changed.empty()) {
    warn_(
        fmt::format("NVRTC {}.{} changed the signal action of {} during its first compilation. "
                    "Kiln could not prevent this change. Next: install your signal handlers after "
                    "the first call of get(), or compile the kernels beforehand with `kiln run`",
                    api_.major, api_.minor, changed));
  }
}

void NvrtcCompiler::compile_into(CompileResult& result, const CompileRequest& request,
                                 bool precompile) const {
  ScopedProgram program(api_);
  const SuppliedTexts& supplied = supplied_texts();
  int status = api_.create_program(
      program.address(), request.source.c_str(), request.source_name.c_str(),
      static_cast<int>(supplied.names.size()), supplied.texts.data(), supplied.names.data());
  for (const std::string& expression : request.name_expressions) {
    if (status == 0) status = api_.add_name_expression(program.get(), expression.c_str());
  }
  if (status == 0) {
    const std::vector<std::string> texts = options(request, precompile);
    std::vector<const char*> pointers;
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    status =
        api_.compile_program(program.get(), static_cast<int>(pointers.size()), pointers.data());
  }
  if (program.get() != nullptr) result.log = log_of(program.get());
  if (status != 0) {
    const std::string_view gap = result.log.empty() || result.log.ends_with('\n') ? "" : "\n";
    result.log += fmt::format("{}{}: {}\n", gap, identity(), api_.get_error_string(status));
    return;
  }
  collect(program.get(), request, result);
}

void NvrtcCompiler::collect(NvrtcApi::Program program, const CompileRequest& request,
                            CompileResult& result) const {
  for (const std::string& expression : request.name_expressions) {
    const char* lowered = nullptr;
    if (api_.get_lowered_name(program, expression.c_str(), &lowered) != 0 || lowered == nullptr) {
      result.log += fmt::format("{}: the source has no kernel '{}'\n", identity(), expression);
      return;
    }
    result.lowered_names.emplace_back(lowered);
  }
  result.lowered_names.insert(result.lowered_names.end(), request.plain_names.begin(),
                              request.plain_names.end());
  const bool ptx = request.code != CodeKind::cubin;
  const auto get_size = ptx ? api_.get_ptx_size : api_.get_cubin_size;
  const auto get_code = ptx ? api_.get_ptx : api_.get_cubin;
  std::size_t bytes = 0;
  int status = get_size(program, &bytes);
  result.cubin.resize(bytes);
  if (status == 0) status = get_code(program, reinterpret_cast<char*>(result.cubin.data()));
  if (status != 0) {
    result.log += fmt::format("{}: cannot get the {}: {}\n", identity(),
                              ptx ? "PTX" : "machine code", api_.get_error_string(status));
    return;
  }
  CompilerLog log = parse_compiler_log(result.log);
  result.resources = log.resources;
  if (request.code == CodeKind::driver_ptx) {
    // The zero at the end stays: the driver finds the end by it.
    if (const auto limit = register_limit(request.options)) limit_registers(result.cubin, *limit);
  } else if (ptx) {
    if (!result.cubin.empty()) result.cubin.pop_back();  // the size includes the terminating zero
    const std::string note = register_note(log.registers);
    const auto* const added = reinterpret_cast<const std::byte*>(note.data());
    result.cubin.insert(result.cubin.end(), added, added + note.size());
  }
  result.warnings = std::move(log.warnings);
  result.ok = true;
}

std::string NvrtcCompiler::log_of(NvrtcApi::Program program) const {
  std::size_t bytes = 0;
  if (api_.get_program_log_size(program, &bytes) != 0 || bytes <= 1) return {};
  std::string log(bytes, '\0');
  if (api_.get_program_log(program, log.data()) != 0) return {};
  log.resize(log.find('\0'));  // the size includes the terminator, sometimes twice
  return log;
}

std::unique_ptr<Compiler> make_nvrtc_compiler(const std::string& cuda_include,
                                              SystemHeaders headers,
                                              const std::function<void(const std::string&)>& warn) {
  NvrtcApi api = NvrtcApi::load();
  std::vector<std::string> folders = cuda_include_folders(cuda_include, api.folder);
  std::unique_ptr<PrivateFolder> folder;
  if (headers == SystemHeaders::precompile) {
    std::string why;
    try {
      folder = PrivateFolder::make(temporary_files_path(), why);
    } catch (const Error& error) {
      why = error.what();
    }
    if (!folder && warn)
      warn(fmt::format(
          "system headers are not precompiled, so kernels compile more slowly. The reason: {}",
          why));
  }
  return std::make_unique<NvrtcCompiler>(std::move(api), std::move(folders), std::move(folder),
                                         warn);
}

}  // namespace kiln
