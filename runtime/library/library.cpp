// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/library.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cache/files/locations.hpp"
#include "runtime/compile/cuda_paths.hpp"
#include "runtime/library/library_state.hpp"
#include "runtime/library/printable_errors.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kCubinStoreLimitBytes = std::int64_t{1} << 30;

std::string or_environment(const std::string& value, const char* name) {
  return value.empty() ? environment_setting(name) : value;
}

Mode mode_of(std::optional<Mode> wanted) {
  if (wanted) return *wanted;
  const std::string text = environment_setting("KILN_MODE");
  if (text.empty()) return Mode::use;
  if (const auto mode = parse_mode(text)) return *mode;
  throw Error(ErrorKind::usage,
              fmt::format("KILN_MODE is '{}', which is not a mode; the modes are {}", text,
                          fmt::join(kModeNames, ", ")));
}

Objective objective_of(const std::string& wanted) {
  const std::string text = or_environment(wanted, "KILN_OBJECTIVE");
  if (text.empty()) return {};
  return Objective::parse(text, wanted.empty() ? "KILN_OBJECTIVE" : "LibraryOptions::objective");
}

std::vector<std::string> split_path(const std::string& text) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) folders.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

/// A machine on which nothing was tuned has no database, unless somebody says that it has. Where
/// nothing is asked of it, or the tuner makes it, that is as well.
void warn_if_missing(const Located& database, const detail::LibraryParts& parts) {
  std::error_code error;
  const bool is_asked = parts.mode == Mode::use || parts.mode == Mode::require;
  if (!is_asked || database.value.empty() || database.origin == "default" ||
      std::filesystem::exists(database.value, error)) {
    return;
  }
  parts.warnings->warn(
      detail::WarningKind::database, "database " + database.value,
      fmt::format(
          "Kiln does not use tuned kernels: the database {} (from {}) does not exist. Next: "
          "correct the name, or create the database with `kiln tune --db {}`",
          database.value, database.origin == "flag" ? "LibraryOptions::database" : database.origin,
          shell_word(database.value)));
}

/// What options and environment ask for.
detail::LibraryParts parts_of(const LibraryOptions& options) {
  detail::LibraryParts parts;
  parts.mode = mode_of(options.mode);
  parts.objective = objective_of(options.objective);
  parts.warnings = std::make_shared<detail::WarningSink>(options.on_warning,
                                                         or_environment(options.log, "KILN_LOG"));
  parts.template_path = options.template_path.empty()
                            ? split_path(environment_setting("KILN_TEMPLATE_PATH"))
                            : options.template_path;
  if (!parts.template_path.empty()) {
    parts.catalog = Catalog::with_sound_files(
        parts.template_path, {options.include, chosen_include_folder(options.cuda_include)});
    for (const std::string& text : parts.catalog.left_out()) {
      parts.warnings->warn(detail::WarningKind::setting, text, text);
    }
    for (const BrokenFile& each : parts.catalog.broken()) {
      parts.warnings->warn(detail::WarningKind::setting, each.file,
                           fmt::format("left out: {}", each.error.what()));
    }
  }
  parts.device = open_device(or_environment(options.device, "KILN_DEVICE"));
  parts.compiler =
      nvrtc_source(options.cuda_include, [warnings = parts.warnings](const std::string& text) {
        warnings->warn(detail::WarningKind::compiler, "NVRTC", text);
      });
  parts.include = options.include;
  parts.cuda_include = options.cuda_include;
  parts.site_databases = site_databases();
  detail::locate_files(parts, options);
  parts.tuner_program = options.tuner_program;
  return parts;
}

}  // namespace

void detail::locate_files(LibraryParts& parts, const LibraryOptions& options) {
  const auto located = [&](Located (*find)(const std::string&), const std::string& wanted) {
    try {
      return find(wanted);
    } catch (const Error& error) {
      parts.warnings->warn(
          WarningKind::database, "home folder",
          fmt::format("Kiln cannot keep results and compiled kernels: {}", error.what()));
      return Located();
    }
  };
  const Located database = located(database_path, options.database);
  warn_if_missing(database, parts);
  parts.database = database.value;
  parts.cubin_store = options.cubin_store;
  parts.cubins = std::make_shared<CubinStore>(
      located(cubin_store_path, options.cubin_store).value, kCubinStoreLimitBytes,
      [warnings = parts.warnings](const std::string& text) {
        warnings->warn(WarningKind::cubin_store, "cubin store", text);
      });
}

Library::Library(std::unique_ptr<detail::LibraryState> state) : state_(std::move(state)) {}
Library::Library(Library&&) noexcept = default;

Library& Library::operator=(Library&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Library::~Library() {
  if (!state_) return;
  const detail::LibraryWork work;
  if (!state_->is_of_this_process()) detail::abandon(std::move(state_));
  state_.reset();
}

Library Library::open(const LibraryOptions& options) {
  detail::require_whole_process();
  const detail::LibraryWork work;
  return detail::with_printable_errors(
      [&] { return detail::LibraryState::make_library(parts_of(options)); });
}

detail::LibraryState& Library::state() const {
  if (state_) return *state_;
  throw Error(ErrorKind::usage,
              "this Library object is empty, because a move gave its contents to another Library. "
              "Next: use the other Library");
}

std::string Library::device_description() const {
  const DeviceInfo& info = state().device().info();
  const std::string part =
      info.device_class.mig_profile.empty() ? "" : " MIG " + info.device_class.mig_profile;
  return fmt::format("{}{}{}, {}, {} SMs", is_emulated() ? "emulated " : "", info.device_class.name,
                     part, info.limits.arch, info.limits.sm_count);
}

LibraryCounters Library::counters() const noexcept {
  return state_ ? state_->counters() : LibraryCounters();
}

}  // namespace kiln
