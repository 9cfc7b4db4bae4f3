// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/header_inliner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "templates/printable.hpp"
#include "templates/render/header_names.hpp"
#include "templates/render/source_lines.hpp"
#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// The limit of compilers.
constexpr std::size_t kMostNested = 200;
/// Headers that include each other twice, with nothing to stop them, double with each level.
constexpr std::size_t kMostIncludes = 100'000;
constexpr std::string_view kHasInclude = "__has_include";
constexpr std::size_t kMostText = std::size_t{64} << 20;

/// What CUDA's headers for element types and matrices include is known: none that Kiln supplies.
constexpr std::array<std::string_view, 6> kPlain{"cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h",
                                                 "mma.h",       "cuda_fp6.h",  "cuda_fp4.h"};

/// What `#include <x>` or `#include "x"` names.
struct IncludedName {
  std::string_view name;
  bool is_quoted = false;
  bool is_there = false;  ///< else the line has a macro, or nothing
};

IncludedName included_name(std::string_view rest) {
  if (rest.empty() || (rest.front() != '<' && rest.front() != '"')) return {};
  const bool is_quoted = rest.front() == '"';
  const auto end = rest.find(is_quoted ? '"' : '>', 1);
  if (end == std::string_view::npos) return {rest.substr(1), is_quoted, true};
  return {rest.substr(1, end - 1), is_quoted, true};
}

bool is_include(std::string_view name) {
  return name == "include" || name == "include_next" || name == "import" || name == "embed";
}

bool is_conditional(std::string_view name) {
  return name.starts_with("if") || name.starts_with("el") || name == "endif";
}

/// The macro of `#ifndef X` or `#if !defined(X)`.
std::string guard_of(const SourceLine& line) {
  std::string_view rest = line.rest;
  if (line.name == "if") {
    if (!rest.starts_with('!')) return {};
    rest = trimmed(rest.substr(1));
    if (!rest.starts_with("defined")) return {};
    rest = trimmed(rest.substr(7));
    if (rest.starts_with('(') && rest.ends_with(')')) {
      rest = trimmed(rest.substr(1, rest.size() - 2));
    }
  } else if (line.name != "ifndef") {
    return {};
  }
  const bool is_word = std::ranges::all_of(rest, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return is_word ? std::string(rest) : std::string();
}

/// Whether a header has `#pragma once`, and the macro of a guard around all of it.
std::pair<bool, std::string> once_and_guard(std::string_view text) {
  SourceLines lines(text);
  SourceLine line;
  std::string guard;
  bool is_once = false;
  int seen = 0;   // lines that are not blank, `#pragma once` not counted
  int depth = 0;  // of conditionals
  bool is_closed = false;
  const bool may_be_once = text.find("once") != std::string_view::npos;
  while (lines.next(line)) {
    if (seen > 0 && guard.empty() && (is_once || !may_be_once)) break;
    if (line.is_blank) continue;
    if (line.name == "pragma" && line.rest == "once") {
      is_once = true;
      continue;
    }
    if (is_closed) guard.clear();  // there is something behind it
    ++seen;
    if (line.name.starts_with("if")) ++depth;
    if (seen == 1) guard = guard_of(line);
    if (guard.empty()) continue;
    const std::string_view rest = line.rest;
    if (seen == 2 &&
        (line.name != "define" || rest.substr(0, rest.find_first_of(" \t(")) != guard)) {
      guard.clear();
    }
    if (depth == 1 && line.name.starts_with("el")) guard.clear();
    if (line.name == "endif" && --depth == 0) is_closed = true;
  }
  if (!is_closed) guard.clear();
  return {is_once, guard};
}

}  // namespace

/// Reads one file line by line.
class HeaderInliner::FileScanner {
 public:
  FileScanner(HeaderInliner& inliner, const SourceFolder* folder, std::string_view path,
              std::string_view shown, std::string_view guard, bool is_certain)
      : inliner_(inliner), guard_(guard), is_certain_(is_certain) {
    place_.folder = folder;
    place_.path = path;
    place_.shown = shown;
  }

  void run(std::string_view source) {
    SourceLines lines(source);
    SourceLine line;
    while (lines.next(line)) read(line);
    if (!line.ends_in_comment) leave_comment();
  }

 private:
  /// An open #if. `rendered_test` marks those on KILN_RENDERED, which are decided here, as is the
  /// guard of a header that is read for the first time.
  struct Condition {
    bool rendered_test = false;
    bool is_guard = false;
    bool drops = false;
  };

  void read(const SourceLine& line) {
    if (!is_conditional(line.name)) {
      if (read_other(line)) return keep(line, line.text, 1);
    } else if (read_conditional(line)) {
      if (line.rest.find(kHasInclude) == std::string::npos) return keep(line, line.text, 1);
      return keep(line, fmt::format("#{} {}", line.name, with_known_headers(line.rest)),
                  line.count);
    }
    inliner_.text_.append(static_cast<std::size_t>(line.count), '\n');
  }

  /// Comments that began or ended in a line that was left out do so here.
  void keep(const SourceLine& line, std::string_view text, int breaks) {
    if (in_comment_ != line.begins_in_comment) inliner_.text_ += in_comment_ ? "*/" : "/*";
    inliner_.text_ += text;
    inliner_.text_.append(static_cast<std::size_t>(breaks), '\n');
    in_comment_ = line.ends_in_comment;
  }

  void leave_comment() {
    if (in_comment_) inliner_.text_ += "*/\n";
    in_comment_ = false;
  }

  /// The numbers of lines go on with this one.
  void resume_at(const SourceLine& line) {
    inliner_.text_ += fmt::format("#line {} \"{}\"\n", line.number, place_.shown);
  }

  /// A condition with an answer in place of each question for a header that Kiln would inline.
  [[nodiscard]] std::string with_known_headers(std::string_view condition) const {
    std::string text;
    for (;;) {
      const auto at = condition.find(kHasInclude);
      const auto open = condition.find_first_of("<\"", at);
      if (at == std::string_view::npos || open == std::string_view::npos) break;
      const IncludedName named = included_name(condition.substr(open));
      const auto close = condition.find(')', open + 1 + named.name.size());
      if (close == std::string_view::npos) break;
      text += condition.substr(0, at);
      if (find(named)) {
        text += '1';
      } else if (!named.is_quoted || is_system(named.name)) {
        text += fmt::format("{}(<{}>)", kHasInclude, named.name);
      } else {
        text += '0';
      }
      condition.remove_prefix(close + 1);
    }
    return text + std::string(condition);
  }

  [[nodiscard]] std::optional<HeaderSearch::Header> find(const IncludedName& named) const {
    return named.is_quoted ? inliner_.search_.quoted(place_.folder, place_.path, named.name)
                           : inliner_.search_.angled(named.name);
  }

  static bool is_system(std::string_view name) {
    return is_standard_header(name) || is_cuda_header(name);
  }

  /// Whether the line stays.
  bool read_conditional(const SourceLine& line) {
    if (line.name.starts_with("if")) {
      const bool tests_rendered = inliner_.mode_ == Mode::rendered &&
                                  ((line.name == "if" && line.rest == "!defined(KILN_RENDERED)") ||
                                   (line.name == "ifndef" && line.rest == "KILN_RENDERED"));
      const bool is_guard = conditions_.empty() && !guard_.empty() && guard_of(line) == guard_;
      const bool kept = !dropping() && !tests_rendered;
      conditions_.push_back({tests_rendered, is_guard, tests_rendered});
      count(conditions_.back(), 1);
      return kept;
    }
    if (conditions_.empty()) return true;  // the compiler will report it
    Condition& innermost = conditions_.back();
    const bool own = innermost.rendered_test;
    count(innermost, -1);
    if (line.name == "endif") {
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
    if (!condition.rendered_test && !condition.is_guard) undecided_ += change;
  }

  /// Whether the line stays.
  bool read_other(const SourceLine& line) {
    if (dropping()) return false;
    if (line.name == "pragma" && line.rest == "once") return false;
    if (!is_include(line.name)) return true;
    place_.line = line.number;
    place_.text = line.text.substr(0, line.text.find('\n'));
    place_.is_certain = is_certain_ && undecided_ == 0;
    const IncludedName named = included_name(line.rest);
    if (line.name != "include") {
      unresolved(line,
                 fmt::format("kernels cannot use #{}. Next: replace it with #include", line.name));
    } else if (!named.is_there) {
      unresolved(line,
                 "this #include names the header with a macro, which Kiln does not expand. "
                 "Next: write the name of the header here");
    } else if (const auto header = find(named)) {
      leave_comment();
      inliner_.include(place_, *header);
      resume_at(line);  // it ends up empty
    } else if (is_system(named.name)) {
      return read_system(line, named);
    } else {
      // Where it was looked for depends on the machine, and the text must not.
      unresolved(line,
                 fmt::format("there is no header {}{}{}{}. Next: {}", named.is_quoted ? '"' : '<',
                             named.name, named.is_quoted ? '"' : '>',
                             place_.is_certain ? inliner_.search_.places() : "",
                             advice_on_missing_header(named.name)));
    }
    return false;
  }

  /// Whether the line stays.
  bool read_system(const SourceLine& line, const IncludedName& named) {
    inliner_.note_system(named.name);
    if (place_.is_certain) {
      std::string name = fmt::format("<{}>", named.name);
      if (inliner_.noted_.insert(name).second) {
        inliner_.system_includes_.push_back(std::move(name));
      }
      return false;
    }
    if (!named.is_quoted) return true;
    // NVRTC would look for it beside the source, which for it is in the working folder.
    leave_comment();
    inliner_.text_ += fmt::format("#include <{}>\n", named.name);
    resume_at(line);
    return false;
  }

  /// For NVRTC an error where the condition holds; other compilers get the line as it is.
  void unresolved(const SourceLine& line, std::string_view why) {
    if (place_.is_certain) {
      const auto at = place_.text.find_first_of("<\"");
      throw_at({std::string(place_.shown), line.number, 1, std::string(place_.text)}, place_.text,
               at == std::string_view::npos ? 0 : at, why);
    }
    std::string quiet = printable(why);
    std::erase_if(quiet, [](char c) { return c == '"' || c == '\'' || c == '\\' || c == '\n'; });
    leave_comment();
    inliner_.text_ += "#if defined(__CUDACC_RTC__)\n";
    resume_at(line);
    inliner_.text_ +=
        fmt::format("#error {}\n#else\n#{} {}\n#endif\n", quiet, line.name, line.rest);
    resume_at(line);
  }

  [[nodiscard]] bool dropping() const { return dropping_ > 0; }

  HeaderInliner& inliner_;
  Place place_;
  std::string_view guard_;
  bool is_certain_;
  bool in_comment_ = false;  ///< as far as it was written
  std::vector<Condition> conditions_;
  int dropping_ = 0;   // how many of them drop their content
  int undecided_ = 0;  // how many the compiler will decide
};

void HeaderInliner::add(std::string_view path, std::string_view source, std::string_view shown) {
  if (shown.empty()) shown = path;
  refuse_nul(shown, source);
  text_ += fmt::format("#line 1 \"{}\"\n", shown);
  ++depth_;
  FileScanner(*this, nullptr, path, shown, "", true).run(source);
  --depth_;
}

void HeaderInliner::note_system(std::string_view name) {
  if (std::ranges::find(kPlain, name) == kPlain.end()) uses_supplied_ = true;
}

HeaderInliner::Known& HeaderInliner::known(const HeaderSearch::Header& header) {
  const auto [found, is_new] = known_.try_emplace({header.folder, header.path});
  Known& known = found->second;
  if (is_new) {
    known.number = known_.size();
    std::tie(known.is_once, known.guard) = once_and_guard(*header.text);
    inlined_.push_back(header.shown());
    inlined_texts_.push_back(header.text);
  }
  return known;
}

void HeaderInliner::include(const Place& place, const HeaderSearch::Header& header) {
  const auto fail = [&](std::string_view message) {
    throw_at({std::string(place.shown), place.line, 1, std::string(place.text)}, place.text,
             std::min(place.text.find_first_of("\"<"), place.text.size()), message);
  };
  const std::string shown = header.shown();
  if (depth_ == kMostNested)
    fail(
        fmt::format("this #include is nested more than {} levels deep. Next: shorten the chain of "
                    "headers that leads here",
                    kMostNested));
  Known& header_known = known(header);
  const bool is_stopped = header_known.is_once || !header_known.guard.empty();
  if (is_stopped && (header_known.was_certain || header_known.is_open)) return;
  if (header_known.is_open) {
    fail(fmt::format("\"{}\" includes itself; write \"#pragma once\" at the top of that header",
                     shown));
  }
  if (++includes_ > kMostIncludes || text_.size() > kMostText) {
    fail(
        fmt::format("with this #include, the source is too large: the limits are {} inclusions and "
                    "{} MiB of text. Next: "
                    "write \"#pragma once\" at the top of each header",
                    kMostIncludes, kMostText >> 20));
  }
  // Where a condition may leave it out, the compiler finds out whether it was there before.
  const bool is_wrapped = header_known.is_once && (!place.is_certain || header_known.was_wrapped);
  header_known.was_wrapped = is_wrapped;
  if (is_wrapped) {
    text_ +=
        fmt::format("#if !defined(KILN_ONCE_{0})\n#define KILN_ONCE_{0}\n", header_known.number);
  }
  header_known.is_open = true;
  refuse_nul(shown, *header.text);
  ++depth_;
  text_ += fmt::format("#line 1 \"{}\"\n", shown);
  FileScanner(*this, header.folder, header.path, shown, header_known.guard, place.is_certain)
      .run(*header.text);
  --depth_;
  header_known.is_open = false;
  header_known.was_certain = header_known.was_certain || place.is_certain;
  if (is_wrapped) text_ += "#endif\n";
}

void HeaderInliner::add_headers_to(DigestBuilder& digest) const {
  for (std::size_t i = 0; i < inlined_.size(); ++i) digest.add(inlined_[i]).add(*inlined_texts_[i]);
  if (uses_supplied_) digest.add(supplied_headers_digest());
}

std::string digest_of_headers(const HeaderSearch& search, std::string_view path,
                              std::string_view source) {
  HeaderInliner inliner(search, HeaderInliner::Mode::rendered);
  inliner.add(path, source);
  if (inliner.inlined().empty() && !inliner.uses_supplied()) return {};
  DigestBuilder digest;
  inliner.add_headers_to(digest);
  return digest.hex();
}

}  // namespace kiln
