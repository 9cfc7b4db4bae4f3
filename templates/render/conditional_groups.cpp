// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/conditional_groups.hpp"

#include <algorithm>
#include <cctype>

#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

Taken operator!(Taken taken) {
  if (taken == Taken::unknown) return taken;
  return taken == Taken::yes ? Taken::no : Taken::yes;
}

}  // namespace

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const auto end = std::ranges::find_if_not(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
  const auto word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(word.size());
  return word;
}

void ConditionalGroups::pass(const SourceLine& line) {
  std::string_view rest = line.rest;
  if (line.name == "ifdef") {
    open(defined(take_word(rest)));
  } else if (line.name == "ifndef") {
    const auto name = take_word(rest);
    open(!defined(name), name);
  } else if (line.name == "if") {
    open(value_of(rest));
  } else if (line.name == "elif") {
    turn(value_of(rest));
  } else if (line.name == "elifdef") {
    turn(defined(take_word(rest)));
  } else if (line.name == "elifndef") {
    turn(!defined(take_word(rest)));
  } else if (line.name == "else") {
    turn(Taken::yes);
  } else if (line.name == "endif" && !open_.empty()) {
    open_.pop_back();
  }
}

Taken ConditionalGroups::taken(std::string_view name, std::string& guard) const {
  Taken all = Taken::yes;
  for (const Conditional& one : open_) {
    if (one.group == Taken::no) return Taken::no;
    if (one.group == Taken::yes) continue;
    if (!name.empty() && is_typo_of(one.guard, name)) {
      guard = one.guard;
    } else {
      all = Taken::unknown;
    }
  }
  return all;
}

Taken ConditionalGroups::taken() const {
  std::string guard;
  return taken("", guard);
}

Taken ConditionalGroups::defined(std::string_view name) const {
  const bool known = std::ranges::find(macros_, name) != macros_.end() || name == kTunerMacro ||
                     name == kRenderedMacro;
  return known ? Taken::yes : Taken::unknown;
}

/// Of `0`, `1`, `defined(X)`, `!defined X`.
Taken ConditionalGroups::value_of(std::string_view condition) const {
  condition = trimmed(condition);
  if (condition.starts_with('!')) return !value_of(condition.substr(1));
  const auto word = take_word(condition);
  if (word == "defined") {
    condition = trimmed(condition);
    const bool is_open = condition.starts_with('(');
    if (is_open) condition.remove_prefix(1);
    const auto name = take_word(condition);
    condition = trimmed(condition);
    if (is_open && condition.starts_with(')')) condition.remove_prefix(1);
    return trimmed(condition).empty() ? defined(name) : Taken::unknown;
  }
  if (!trimmed(condition).empty()) return Taken::unknown;
  return word == "0" ? Taken::no : word == "1" ? Taken::yes : Taken::unknown;
}

void ConditionalGroups::open(Taken group, std::string_view guard) {
  open_.push_back({group, Taken::no, std::string(group == Taken::unknown ? guard : "")});
}

void ConditionalGroups::turn(Taken condition) {
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

}  // namespace kiln
