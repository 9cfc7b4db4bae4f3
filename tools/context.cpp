// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/context.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <system_error>

#include "kiln/error.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/device.hpp"
#include "templates/printable.hpp"
#include "tools/command_line/examples.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tuner/compile/process_compiler.hpp"

namespace kiln::tools {
namespace {

constexpr std::int64_t kCubinStoreBytes = std::int64_t{1} << 30;
/// What a person without a GPU most likely means; Hopper has every feature that templates ask for.
constexpr const char* kFallbackArch = "sm_90a";

Located setting(const std::string& flag, const char* variable, const char* fallback) {
  if (!flag.empty()) return {flag, "flag"};
  if (auto value = environment_setting(variable); !value.empty()) {
    return {std::move(value), variable};
  }
  return {fallback, "default"};
}

}  // namespace

Located Context::database() const {
  return database_path(flags.database);
}
Located Context::cubins() const {
  return cubin_store_path(flags.cubin_store);
}
Located Context::device() const {
  return setting(flags.device, "KILN_DEVICE", "cuda:0");
}
Located Context::template_path() const {
  return setting(flags.template_path, "KILN_TEMPLATE_PATH", "");
}
Located Context::cuda_include() const {
  return setting(flags.cuda_include, "KILN_CUDA_INCLUDE", "");
}

Objective Context::objective() const {
  const Located text = setting(flags.objective, "KILN_OBJECTIVE", "time");
  return Objective::parse(text.value, text.origin == "flag" ? "--objective" : text.origin);
}

const Catalog& Context::catalog() {
  if (asked_error) throw Error(*asked_error);
  if (!catalog_) {
    const auto directories = split_list(template_path().value, ':');
    if (directories.empty()) return Catalog::builtin();
    catalog_ = Catalog::with_sound_files(directories,
                                         {split_list(flags.include, ':'), cuda_include().value});
    // The path may have been read once before, for the flags of an operation.
    static std::set<std::string> told;
    const auto tell = [&](const std::string& text) {
      if (told.insert(text).second) warn(text);
    };
    for (const std::string& text : catalog_->left_out()) tell(text);
    for (const BrokenFile& each : catalog_->broken()) {
      tell(fmt::format("left out: {}", each.error.what()));
    }
  }
  return *catalog_;
}

std::vector<std::string> Context::child_command(std::vector<std::string> words) {
  words.insert(words.begin(), std::filesystem::read_symlink("/proc/self/exe").string());
  return words;
}

/// In processes of their own: a compilation there can be ended, and cannot end this program.
std::unique_ptr<Compiler> Context::new_compiler(int early) const {
  const auto warn_user = [this](const std::string& text) { warn(text); };
  const std::string include = cuda_include().value;
  std::vector<std::string> words{"compiler"};
  if (!include.empty()) words.insert(words.end(), {"--cuda-include", include});
  return std::make_unique<ProcessCompiler>(
      child_command(std::move(words)),
      [&] { return make_nvrtc_compiler(include, SystemHeaders::parse, warn_user); }, warn_user,
      early);
}

std::shared_ptr<CachingCompiler> Context::compiler(int early) {
  if (!compiler_) {
    std::string path;
    try {
      path = cubins().value;
    } catch (const Error& error) {
      warn(error.what());  // no home folder: compiled kernels are not kept
    }
    auto store = std::make_shared<CubinStore>(path, kCubinStoreBytes,
                                              [this](const std::string& text) { warn(text); });
    compiler_ = std::make_shared<CachingCompiler>(new_compiler(early), store,
                                                  chosen_headers(cuda_include().value));
  }
  return compiler_;
}

TuningStore Context::open_for_writing() const {
  return TuningStore::open(database().value, OpenMode::read_write);
}

std::optional<TuningStore> Context::open_for_reading(OpenMode mode,
                                                     const std::string& problem_words) const {
  const auto path = database().value;
  std::error_code ignored;
  // symlink_status: a dangling link is something to complain about, not an absent database.
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    note(fmt::format(
        "there is no database at {} yet; `{}` creates it", path,
        command("tune " + (problem_words.empty() ? example("problem") : problem_words))));
    return std::nullopt;
  }
  return TuningStore::open(path, mode);
}

DeviceLimits Context::limits(const std::string& arch) const {
  if (!arch.empty()) return known_limits(arch);
  try {
    return open_device(device().value)->info().limits;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    note(
        fmt::format("this machine has no device; Kiln uses the limits of {} (--arch chooses "
                    "another architecture)",
                    kFallbackArch));
    return known_limits(kFallbackArch);
  }
}

void Context::note(std::string_view text) const {
  if (!flags.quiet) write_stderr(fmt::format("kiln: {}\n", text));
}

void Context::warn(std::string_view text) const {
  write_controls(fmt::format(
      "kiln: {} {}\n", coloured("warning:", Colour::yellow, terminal().colour), printable(text)));
}

std::string Context::command(std::string_view words) const {
  // Verbs that look kernels up follow the variable; those that compare have the flag.
  const bool has_flag = words.starts_with("show") || words.starts_with("tune");
  std::string text;
  if (!flags.objective.empty() && !has_flag) {
    text = fmt::format("KILN_OBJECTIVE={} ", shell_word(flags.objective));
  }
  text += fmt::format("kiln {}", words);
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", flag, shell_word(value));
  };
  add("--db", flags.database);
  add("--cubin-store", flags.cubin_store);
  add("--device", flags.device);
  if (has_flag) add("--objective", flags.objective);
  add("--template-path", flags.template_path);
  add("--include", flags.include);
  add("--cuda-include", flags.cuda_include);
  return text;
}

DeviceLimits known_limits(const std::string& arch) {
  if (auto limits = limits_of_arch(arch)) return *limits;
  const std::vector<std::string> archs = known_archs();
  throw Error(ErrorKind::usage, fmt::format("--arch {}: unknown; choose from {}{}", arch,
                                            fmt::join(archs, ", "), suggestion(arch, archs)));
}

void write_file(const std::string& path, std::string_view text) {
  if (path.empty() || path == "-") {
    write_data(text);
    return;
  }
  // Only a plain file can be replaced; a device, a pipe or a link is written where it is.
  std::error_code unknown;
  const auto kind = std::filesystem::symlink_status(path, unknown).type();
  const bool replace =
      kind == std::filesystem::file_type::not_found || kind == std::filesystem::file_type::regular;
  const std::string unfinished = replace ? fmt::format("{}.{}.part", path, getpid()) : path;
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code status;
  if (file && replace) std::filesystem::rename(unfinished, path, status);
  if (!file || status) {
    const std::string why = status ? status.message() : std::strerror(errno);
    std::error_code ignored;
    if (replace) std::filesystem::remove(unfinished, ignored);
    throw Error(ErrorKind::usage,
                fmt::format("{} cannot be written: {}; choose another path", path, why));
  }
}

}  // namespace kiln::tools
