// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/files/cubin_store.hpp"
#include "cache/files/locations.hpp"
#include "cache/store/store.hpp"
#include "runtime/compile/compiler.hpp"
#include "templates/catalog.hpp"
#include "templates/device_limits.hpp"
#include "tools/output/terminal.hpp"

namespace kiln::tools {

/// The flags that every verb takes.
struct GlobalFlags {
  std::string database;
  std::string cubin_store;
  std::string device;
  std::string template_path;
  std::string include;
  std::string cuda_include;
  std::string objective;  ///< of the verbs that have it
  std::string colour = "auto";
  bool json = false;
  bool quiet = false;
  bool verbose = false;
};

/// What verbs share: settings with their origin, the pieces that are opened on first use, and the
/// two streams (data to stdout, diagnostics to stderr).
class Context {
 public:
  GlobalFlags flags;

  [[nodiscard]] Located database() const;
  [[nodiscard]] Located cubins() const;
  [[nodiscard]] Located device() const;         ///< "cuda:0" by default
  [[nodiscard]] Located template_path() const;  ///< directories separated by ':'
  [[nodiscard]] Located cuda_include() const;
  /// --objective or KILN_OBJECTIVE; the time by default. Throws Error(usage) for a malformed one.
  [[nodiscard]] Objective objective() const;

  /// Built-in templates and those of the template path, without its malformed files, of which it
  /// warns once. Throws `asked_error` where there is one.
  [[nodiscard]] const Catalog& catalog();
  /// Why what the command line names cannot be used: the mistake of its own file.
  std::optional<Error> asked_error;
  /// NVRTC, in processes of its own, behind the cubin store. `early` of them are started at once,
  /// because they will most likely be needed. Only the first call decides.
  [[nodiscard]] std::shared_ptr<CachingCompiler> compiler(int early = 0);
  /// What starts this program with a hidden verb, as a child.
  [[nodiscard]] static std::vector<std::string> child_command(std::vector<std::string> words);
  /// The user's database, made when there is none.
  [[nodiscard]] TuningStore open_for_writing() const;
  /// The user's database, or nothing (and a note, with what would be tuned) when there is none yet.
  [[nodiscard]] std::optional<TuningStore> open_for_reading(
      OpenMode mode = OpenMode::read_only, const std::string& problem_words = "") const;
  /// Limits of `arch`; when that is empty of the device, and without one of sm_90a with a note.
  [[nodiscard]] DeviceLimits limits(const std::string& arch) const;

  [[nodiscard]] Verbosity verbosity() const {
    return flags.quiet ? Verbosity::quiet : flags.verbose ? Verbosity::verbose : Verbosity::normal;
  }
  [[nodiscard]] Terminal terminal() const { return Terminal::of_stderr(flags.colour); }
  /// A result, to stdout.
  void print(std::string_view text) {
    printed_ = true;
    write_stdout(text);
  }
  [[nodiscard]] bool printed() const { return printed_; }
  /// A note, which `--quiet` silences.
  void note(std::string_view text) const;
  void warn(std::string_view text) const;

  /// "kiln show softmax ... --db results.db": what to type so that it finds what this run found. It
  /// has those flags of every verb that decide this and were given; variables last by themselves.
  [[nodiscard]] std::string command(std::string_view words) const;

 private:
  [[nodiscard]] std::unique_ptr<Compiler> new_compiler(int early) const;

  bool printed_ = false;
  std::optional<Catalog> catalog_;
  std::shared_ptr<CachingCompiler> compiler_;
};

/// Limits of a compile target. Throws Error(usage) that lists the known ones.
[[nodiscard]] DeviceLimits known_limits(const std::string& arch);

/// Writes `text` to `path`, complete or not at all; "" and "-" are standard output. Throws
/// Error(usage).
void write_file(const std::string& path, std::string_view text);

}  // namespace kiln::tools
