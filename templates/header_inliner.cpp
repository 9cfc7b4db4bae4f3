// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/header_inliner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// The limit of compilers.
constexpr std::size_t kMostNested = 200;

/// A preprocessor line: "#  include <x>" is {"include", "<x>"}.
struct Directive {
  std::string_view name;  // empty: not a directive
  std::string_view rest;
};

Directive directive_of(std::string_view line) {
  if (line.find('#') == std::string_view::npos) return {};  // most lines, and quickly
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  const auto end = std::min(line.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), line.size());
  return {line.substr(0, end), trimmed(line.substr(end))};
}

bool is_listed(const std::vector<std::string>& list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

/// Reads one file line by line.
class HeaderInliner::FileScanner {
 public:
  FileScanner(HeaderInliner& inliner, std::string_view path) : inliner_(inliner), path_(path) {}

  void run(std::string_view source) {
    while (!source.empty()) {
      const auto end = std::min(source.find('\n'), source.size());
      ++number_;
      read(source.substr(0, end));
      source.remove_prefix(std::min(end + 1, source.size()));
    }
  }

 private:
  /// An open #if. `rendered_test` marks those on KILN_RENDERED, which are decided here.
  struct Condition {
    bool rendered_test = false;
    bool drops = false;
  };

  void read(std::string_view line) {
    const bool in_comment = in_comment_;
    follow_comments(line);
    // A line that begins inside a comment is not a directive, whatever follows.
    const Directive directive = in_comment ? Directive{} : directive_of(line);
    if (!(is_conditional(directive) ? read_conditional(directive) : read_other(directive, line))) {
      line = {};
    }
    inliner_.text_ += line;
    inliner_.text_ += '\n';
  }

  static bool is_conditional(const Directive& directive) {
    return directive.name.starts_with("if") || directive.name.starts_with("el") ||
           directive.name == "endif";
  }

  /// Whether the line stays.
  bool read_conditional(const Directive& directive) {
    const bool decided = inliner_.mode_ == Mode::rendered;
    if (directive.name.starts_with("if")) {
      const bool tests_rendered =
          decided && ((directive.name == "if" && directive.rest == "!defined(KILN_RENDERED)") ||
                      (directive.name == "ifndef" && directive.rest == "KILN_RENDERED"));
      const bool kept = !dropping() && !tests_rendered;
      conditions_.push_back({tests_rendered, tests_rendered});
      count(conditions_.back(), 1);
      return kept;
    }
    if (conditions_.empty()) return true;  // the compiler will report it
    Condition& innermost = conditions_.back();
    const bool own = innermost.rendered_test;
    count(innermost, -1);
    if (directive.name == "endif") {
      conditions_.pop_back();
    } else {
      if (own) innermost.drops = !innermost.drops;
      count(innermost, 1);
    }
    return !own && !dropping();
  }

  /// Maintains the two sums, so that no line has to go through all open conditions.
  void count(const Condition& condition, int change) {
    if (condition.drops) dropping_ += change;
    if (!condition.rendered_test) undecided_ += change;
  }

  /// Whether the line stays.
  bool read_other(const Directive& directive, std::string_view line) {
    if (dropping()) return false;
    if (directive.name == "pragma" && directive.rest == "once") return false;
    if (directive.name != "include") return true;
    const std::string_view rest = directive.rest;
    const bool conditional = undecided_ > 0;
    if (rest.starts_with('<')) {
      const auto name = rest.substr(0, rest.find('>') + 1);
      if (conditional || name.empty()) return true;
      if (inliner_.known_.emplace(name).second) inliner_.system_includes_.emplace_back(name);
      return false;
    }
    if (!rest.starts_with('"')) return true;
    const auto name = rest.substr(1, rest.find('"', 1) - 1);
    if (conditional) {
      throw_at({std::string(path_), number_, 1, std::string(line)}, line, 0,
               "a project header cannot be included under a condition: it is inlined once for all");
    }
    inliner_.include(path_, name, number_, line);
    return false;
  }

  [[nodiscard]] bool dropping() const { return dropping_ > 0; }

  /// Keeps track of /* */, so that a directive inside one is ignored.
  void follow_comments(std::string_view line) {
    std::size_t at = 0;
    while (at < line.size()) {
      if (in_comment_) {
        at = line.find("*/", at);
        if (at == std::string_view::npos) return;
        in_comment_ = false;
        at += 2;
      } else if (line[at] == '"') {
        at = end_of_string(line, at + 1);
      } else if (line[at] != '/') {
        ++at;
      } else if (line.substr(at + 1, 1) == "/") {
        return;
      } else {
        in_comment_ = line.substr(at + 1, 1) == "*";
        at += in_comment_ ? 2 : 1;
      }
    }
  }

  /// Behind the quotation mark that ends the string, or the line.
  static std::size_t end_of_string(std::string_view line, std::size_t at) {
    while (at < line.size() && line[at] != '"') at += line[at] == '\\' ? 2 : 1;
    return at + 1;
  }

  HeaderInliner& inliner_;
  std::string_view path_;
  int number_ = 0;
  bool in_comment_ = false;
  std::vector<Condition> conditions_;
  int dropping_ = 0;   // how many of them drop their content
  int undecided_ = 0;  // how many the compiler will decide
};

void HeaderInliner::add(std::string_view path, std::string_view source) {
  refuse_nul(path, source);
  open_.emplace_back(path);
  text_ += fmt::format("#line 1 \"{}\"\n", path);
  FileScanner(*this, path).run(source);
  open_.pop_back();
}

// The top of the directory first, as with -I; an empty result means that there is no such header.
std::string HeaderInliner::resolve(std::string_view from, std::string_view name) const {
  const auto beside = std::filesystem::path(from).parent_path() / name;
  for (const auto& candidate :
       {std::filesystem::path(name).lexically_normal(), beside.lexically_normal()}) {
    if (headers_.contains(candidate.generic_string())) return candidate.generic_string();
  }
  return {};
}

void HeaderInliner::include(std::string_view from, std::string_view name, int line,
                            std::string_view line_text) {
  const auto fail = [&](std::string_view message) {
    throw_at({std::string(from), line, 1, std::string(line_text)}, line_text,
             std::min(line_text.find('"'), line_text.size()), message);
  };
  const std::string path = resolve(from, name);
  if (path.empty()) {
    fail(
        fmt::format("there is no project header \"{}\"; includes of CUDA's own headers are "
                    "written <...>",
                    name));
  }
  if (is_listed(open_, path)) fail(fmt::format("\"{}\" includes itself", path));
  if (open_.size() == kMostNested) {
    fail(fmt::format("includes nest more than {} deep here", kMostNested));
  }
  if (known_.insert(path).second) {
    inlined_.push_back(path);
    add(path, headers_.find(path)->second);
  }
  // The line of the #include itself ends up empty and keeps its number.
  text_ += fmt::format("#line {} \"{}\"\n", line, from);
}

}  // namespace kiln
