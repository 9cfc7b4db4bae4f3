// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "templates/nearest_name.hpp"
#include "templates/render/header_names.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

/// "main" (line 3), "check" (line 9)
std::string with_lines(const std::vector<SourceName>& names) {
  std::string text;
  for (const SourceName& each : names) {
    text += fmt::format("{}{} (line {})", text.empty() ? "" : ", ", each.name, each.line);
  }
  return text;
}

class NoteWriter {
 public:
  NoteWriter(const AdoptionGuess& guess, const std::string& file)
      : guess_(guess), model_(*guess.model), file_(file) {}

  std::vector<std::string> run() {
    note_headers();
    note_own_headers();
    note_host_code();
    for (const SourceConstant& constant : model_.constants) note_constant(constant);
    note_fixed_macros();
    note_typos();
    return std::move(notes_);
  }

 private:
  void add(std::string note) { notes_.push_back(std::move(note)); }

  void note_headers() {
    if (const auto& headers = model_.host_headers; !headers.empty()) {
      std::vector<std::string> names;
      for (const SourceName& each : headers) names.push_back(each.name);
      const bool one = headers.size() == 1;
      add(
          fmt::format("<{}> {}, and NVRTC cannot include {}: put {} under "
                      "\"#if !defined(KILN_RENDERED)\"",
                      fmt::join(names, ">, <"), one ? "is a host header" : "are host headers",
                      one ? "it" : "them", one ? "it" : "them"));
    }
    for (const SourceName& header : model_.angled_headers) {
      const std::string meant = nearest_header(header.name);
      if (is_known(header.name) || meant.empty()) continue;
      add(fmt::format("line {}: neither CUDA nor Kiln has a header <{}>; did you mean <{}>?",
                      header.line, header.name, meant));
    }
  }

  static bool is_known(std::string_view header) {
    return is_standard_header(header) || is_cuda_header(header);
  }

  void note_own_headers() {
    std::vector<std::string> names;
    std::error_code error;
    const bool is_there = fs::exists(file_, error);
    for (const SourceName& header : model_.own_headers) {
      const bool is_missing = is_there && !is_known(header.name) &&
                              !fs::exists(fs::path(file_).parent_path() / header.name, error);
      if (!is_missing) {
        names.push_back(header.name);
        continue;
      }
      const std::string meant = nearest_header(header.name);
      add(fmt::format(
          "line {}: the header \"{}\" is not in the folder of this file: {}name the folder of the "
          "header with --include DIR or with a line \"//@ include DIR\"",
          header.line, header.name,
          meant.empty() ? ""
                        : fmt::format("if you mean <{}>, write that name; otherwise ", meant)));
    }
    if (names.empty()) return;
    const bool one = names.size() == 1;
    add(fmt::format(
        "adopt did not read \"{}\", so names that {} can appear as tunables by "
        "mistake: delete such tunables from the template",
        fmt::join(names, "\", \""), one ? "this header declares" : "these headers declare"));
  }

  void note_host_code() {
    if (const auto& functions = model_.host_definitions; !functions.empty()) {
      const bool one = functions.size() == 1;
      add(
          fmt::format("{} {}, and NVRTC rejects {}: put {} under \"#if !defined(KILN_RENDERED)\". "
                      "If a kernel calls such a function, write __device__ before this function "
                      "instead",
                      with_lines(functions), one ? "is a host function" : "are host functions",
                      one ? "it" : "them", one ? "it" : "them"));
    }
    if (model_.host_launch_line) {
      add(
          fmt::format("line {} launches a kernel from host code: put this code under \"#if "
                      "!defined(KILN_RENDERED)\" or into another file",
                      *model_.host_launch_line));
    }
  }

  void note_constant(const SourceConstant& constant) {
    if (constant.is_template) {
      add(fmt::format(
          "line {}: {} is a variable template, which Kiln cannot fill: declare an array without "
          "template parameters, and run adopt again",
          constant.line, constant.name));
    } else if (constant.is_pointer) {
      add(
          fmt::format("line {}: {} is a pointer in constant memory, which Kiln cannot fill: make "
                      "the pointer a parameter of the kernel, and run adopt again",
                      constant.line, constant.name));
    } else if (constant.is_hidden) {
      add(fmt::format(
          "line {}: {} has internal linkage, so Kiln cannot copy data to this variable: remove "
          "\"static\", or move the variable out of the unnamed namespace",
          constant.line, constant.name));
    } else if (const std::string name = deciding_tunable(constant.line); !name.empty()) {
      add(fmt::format(
          "line {}: only some values of {} compile the array {}, but Kiln copies data to "
          "it in all configurations: move the array out of the #if, or remove the other "
          "values of {}",
          constant.line, name, constant.name, name));
    } else if (!element_type(constant.type, model_.type_aliases)) {
      add(fmt::format(
          "line {0}: {1} has the type {2}, but an operand holds numbers of a single type. If the "
          "members of {2} have different types, declare one array per type, and run adopt again",
          constant.line, constant.name, constant.type));
    }
  }

  /// A tunable of which an `#if` around the line asks the value, or "".
  [[nodiscard]] std::string deciding_tunable(int line) const {
    std::vector<std::string> open;
    for (const auto& directive : model_.code.directives) {
      if (directive.line > line) break;
      if (directive.name == "endif" && !open.empty()) open.pop_back();
      if (directive.name.starts_with("if")) open.emplace_back();
      if (open.empty() || (directive.name != "if" && directive.name != "elif")) continue;
      for (const TunableGuess& each : guess_.macros) {
        const bool is_asked =
            std::any_of(directive.tokens.begin(), directive.tokens.end(),
                        [&](const CodeToken& token) { return token.is(each.name); });
        if (is_asked) open.back() = each.name;
      }
    }
    const auto found = std::find_if(open.begin(), open.end(),
                                    [](const std::string& name) { return !name.empty(); });
    return found == open.end() ? "" : *found;
  }

  void note_fixed_macros() {
    for (const auto& [name, macro] : model_.macros) {
      if (macro.is_default || !constant_number(macro.body, model_)) continue;
      const auto kind = guess_tunable(name, std::nullopt, 1).kind;
      const bool is_tunable = kind == TunableGuess::Kind::block || kind == TunableGuess::Kind::tile;
      const bool is_misspelt =
          !macro.misspelt_guard.empty() && !model_.macros.contains(macro.misspelt_guard);
      if (is_misspelt) {
        add(
            fmt::format("line {}: the #ifndef above tests {}, but the #define sets {}: write the "
                        "same name in both lines, and run adopt again",
                        macro.line, macro.misspelt_guard, name));
      } else if (is_tunable) {
        add(fmt::format(
            "line {} always defines {}, so Kiln cannot tune this macro: write \"#ifndef "
            "{}\" above this line and \"#endif\" below this line, and run adopt again",
            macro.line, name, name));
      }
    }
  }

  /// Two names of which one is likely meant to be the other: the one that is used less.
  void note_typos() {
    for (const TunableGuess& each : guess_.macros) {
      for (const TunableGuess& other : guess_.macros) {
        if (!is_typo_of(each.name, other.name)) continue;
        const auto uses = uses_of(each.name);
        const auto more = uses_of(other.name).size();
        const bool is_rarer = uses.size() != more ? uses.size() < more : each.name < other.name;
        if (uses.empty() || !is_rarer) continue;
        add(fmt::format(
            "line {}: the tunables {} and {} have similar names: if one name is a typo, "
            "correct the typo, and run adopt again",
            uses.front(), each.name, other.name));
      }
    }
  }

  /// Lines.
  [[nodiscard]] std::vector<int> uses_of(std::string_view name) const {
    std::vector<int> lines;
    for (const CodeToken& token : model_.code.tokens) {
      if (token.is(name)) lines.push_back(token.line);
    }
    return lines;
  }

  const AdoptionGuess& guess_;
  const SourceModel& model_;
  const std::string& file_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> adoption_notes(const AdoptionGuess& guess, const std::string& file) {
  return NoteWriter(guess, file).run();
}

}  // namespace kiln::tools
