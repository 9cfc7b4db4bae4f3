// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/macro_redefinition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "templates/nearest_name.hpp"
#include "templates/source_error.hpp"

namespace kiln {
namespace {

/// Whether the lines of a group of a conditional are compiled.
enum class Taken : std::uint8_t { no, yes, unknown };

Taken operator!(Taken taken) {
  if (taken == Taken::unknown) return taken;
  return taken == Taken::yes ? Taken::no : Taken::yes;
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0)
    text.remove_prefix(1);
  return text;
}

/// The word that the text begins with, behind spaces; the text is then what follows.
std::string_view take_word(std::string_view& text) {
  text = without_spaces(text);
  const auto end = std::ranges::find_if_not(text, is_word) - text.begin();
  const auto word = text.substr(0, static_cast<std::size_t>(end));
  text.remove_prefix(word.size());
  return word;
}

/// A line without its comments; `open` is whether one of /* */ reaches into it, and then out of it.
std::string without_comments(std::string_view line, bool& open) {
  std::string text;
  char quote = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const auto two = line.substr(at, 2);
    if (open || quote == 0) {
      if (open && two == "*/") {
        open = false;
        ++at;
        text += "  ";
        continue;
      }
      if (!open && two == "//") break;
      if (!open && two == "/*") open = true;
    }
    if (!open) {
      if (quote != 0 && line[at] == '\\') {
        text += "  ";
        ++at;
        continue;
      }
      if (quote != 0 ? line[at] == quote : line[at] == '"' || line[at] == '\'') {
        quote = quote != 0 ? '\0' : line[at];
      }
    }
    text += open ? ' ' : line[at];
  }
  return text;
}

class RedefinitionScanner {
 public:
  explicit RedefinitionScanner(std::span<const std::string> macros) : macros_(macros) {}

  void line(std::string_view text, int number) {
    const std::string code = without_comments(text, in_comment_);
    std::string_view rest = without_spaces(code);
    if (!rest.starts_with('#')) return;
    rest.remove_prefix(1);
    const auto directive = take_word(rest);
    if (directive == "ifdef") return open(defined(take_word(rest)));
    if (directive == "ifndef") {
      const auto name = take_word(rest);
      return open(!defined(name), name);
    }
    if (directive == "if") return open(value_of(rest));
    if (directive == "elif" || directive == "else") {
      return turn(directive == "else" ? Taken::yes : value_of(rest));
    }
    if (directive == "endif" && !open_.empty()) open_.pop_back();
    if (directive != "define" && directive != "undef") return;
    const auto name = take_word(rest);
    std::string guard;
    const Taken here = taken_here(name, guard);
    if (!is_macro(name) || here == Taken::no) return;
    const auto column = static_cast<int>(name.data() - code.data()) + 1;
    found.push_back(
        {std::string(name), std::string(text), number, column, here == Taken::yes, guard});
  }

  std::vector<MacroRedefinition> found;

 private:
  /// One conditional: the group that the scan is in, and whether an earlier one was compiled.
  struct Conditional {
    Taken group = Taken::unknown;
    Taken before = Taken::no;
    std::string guard = {};  ///< compiled if this is not defined, which the file leaves open
  };

  [[nodiscard]] bool is_macro(std::string_view name) const {
    return std::ranges::find(macros_, name) != macros_.end();
  }
  [[nodiscard]] Taken defined(std::string_view name) const {
    const bool known = is_macro(name) || name == kTunerMacro || name == kRenderedMacro;
    return known ? Taken::yes : Taken::unknown;
  }
  /// Of `0`, `1`, `defined(X)`, `!defined X`.
  [[nodiscard]] Taken value_of(std::string_view condition) const {
    condition = without_spaces(condition);
    if (condition.starts_with('!')) return !value_of(condition.substr(1));
    const auto word = take_word(condition);
    if (word == "defined") {
      condition = without_spaces(condition);
      const bool is_open = condition.starts_with('(');
      if (is_open) condition.remove_prefix(1);
      const auto name = take_word(condition);
      condition = without_spaces(condition);
      if (is_open && condition.starts_with(')')) condition.remove_prefix(1);
      return without_spaces(condition).empty() ? defined(name) : Taken::unknown;
    }
    if (!without_spaces(condition).empty()) return Taken::unknown;
    return word == "0" ? Taken::no : word == "1" ? Taken::yes : Taken::unknown;
  }
  void open(Taken group, std::string_view guard = "") {
    open_.push_back({group, Taken::no, std::string(group == Taken::unknown ? guard : "")});
  }
  void turn(Taken condition) {
    if (open_.empty()) return;
    Conditional& one = open_.back();
    one.guard.clear();
    if (one.before == Taken::yes || one.group == Taken::yes) {
      one = {Taken::no, Taken::yes};
      return;
    }
    const bool unsure = one.before == Taken::unknown || one.group == Taken::unknown;
    one.before = unsure ? Taken::unknown : Taken::no;
    one.group = unsure && condition != Taken::no ? Taken::unknown : condition;
  }
  /// Whether a definition of `name` here is compiled. Nobody defines a guard that only a typo made
  /// a name of its own: it is then given back.
  [[nodiscard]] Taken taken_here(std::string_view name, std::string& guard) const {
    Taken all = Taken::yes;
    for (const Conditional& one : open_) {
      if (one.group == Taken::no) return Taken::no;
      if (one.group == Taken::yes) continue;
      if (is_typo_of(one.guard, name)) {
        guard = one.guard;
      } else {
        all = Taken::unknown;
      }
    }
    return all;
  }

  std::span<const std::string> macros_;
  std::vector<Conditional> open_;
  bool in_comment_ = false;
};

}  // namespace

std::vector<MacroRedefinition> find_redefinitions(std::string_view source,
                                                  std::span<const std::string> macros) {
  RedefinitionScanner scanner(macros);
  int number = 0;
  for (std::size_t begin = 0; begin < source.size();) {
    const auto end = std::min(source.find('\n', begin), source.size());
    scanner.line(source.substr(begin, end - begin), ++number);
    begin = end + 1;
  }
  return std::move(scanner.found);
}

void refuse_redefinitions(const std::string& file, std::string_view source,
                          std::span<const std::string> macros) {
  for (const MacroRedefinition& each : find_redefinitions(source, macros)) {
    if (!each.certain) continue;
    const SourcePlace place{file, each.line, each.column, each.line_text};
    if (!each.guard.empty()) {
      throw_at(place, each.name, 0,
               fmt::format("\"{0}\" is tuned, and here it gets another value, because the #ifndef "
                           "above asks for \"{1}\". Next: write #ifndef {0}",
                           each.name, each.guard));
    }
    throw_at(place, each.name, 0,
             fmt::format("\"{}\" is tuned, so Kiln defines it, and here it gets another value: "
                         "kernels would be launched for one and compiled with the other. Next: "
                         "delete this line, or put it between #ifndef {} and #endif, which skips "
                         "it here",
                         each.name, kTunerMacro));
  }
}

}  // namespace kiln
