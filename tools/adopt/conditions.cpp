// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/conditions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "templates/check/macro_redefinition.hpp"
#include "templates/nearest_name.hpp"

namespace kiln::tools {
namespace {

/// Macros that are defined where kernels are compiled.
constexpr std::array<std::string_view, 3> kLeavingOut{kRenderedMacro, kTunerMacro,
                                                      "__CUDACC_RTC__"};

bool leaves_out_kernels(std::string_view macro) {
  return std::find(kLeavingOut.begin(), kLeavingOut.end(), macro) != kLeavingOut.end();
}

/// X of `!defined X || X < 1`, which nothing but X decides: what is below stands for an X that is
/// missing or no use. "" of other conditions.
std::string_view only_default(const std::vector<CodeToken>& words) {
  const bool begins = words.size() > 4 && words[0].is("!") && words[1].is("defined") &&
                      words[2].is_word() && words[3].is("||");
  const bool is_only =
      begins && std::all_of(words.begin() + 4, words.end(), [&](const CodeToken& word) {
        return !word.is_word() || word.text == words[2].text;
      });
  return is_only ? words[2].text : "";
}

}  // namespace

SourceConditions::SourceConditions(const std::vector<CodeDirective>& directives) {
  struct Open {
    std::size_t group = 0;
    Asked otherwise;  ///< what holds in groups below, as far as conditions of one macro tell
  };
  std::vector<Open> open;
  for (const CodeDirective& directive : directives) {
    if (!directive.tokens.empty()) {
      const CodeToken& first = directive.tokens.front();
      if (directive.name == "define") defined_.insert(first.text);
      const bool is_quoted = first.kind == CodeToken::Kind::text;
      has_own_headers_ = has_own_headers_ || (directive.name == "include" && is_quoted);
    }
    const bool opens = directive.name.starts_with("if");
    const bool turns = directive.name.starts_with("el");
    if ((!opens && !turns && directive.name != "endif") || (!opens && open.empty())) continue;
    if (!opens) groups_[open.back().group].end = directive.offset;
    if (opens) open.push_back({});
    if (opens || turns) {
      Open& one = open.back();
      const Asked own = asked_by(directive);
      Asked asked = one.otherwise;
      asked.absent.insert(asked.absent.end(), own.absent.begin(), own.absent.end());
      asked.present.insert(asked.present.end(), own.present.begin(), own.present.end());
      one.group = groups_.size();
      const auto parent = open.size() > 1 ? open[open.size() - 2].group : kNone;
      groups_.push_back({directive.offset, kNone, parent, std::move(asked)});
      constexpr std::size_t kMostBranches = 64;
      const bool is_known =
          one.otherwise.absent.size() + one.otherwise.present.size() < kMostBranches;
      if (is_known && own.absent.size() + own.present.size() == 1) {
        for (const auto name : own.absent) one.otherwise.present.push_back(name);
        for (const auto name : own.present) one.otherwise.absent.push_back(name);
      }
    } else {
      open.pop_back();
    }
  }
}

SourceConditions::Asked SourceConditions::asked_by(const CodeDirective& directive) {
  const auto& tokens = directive.tokens;
  Asked asked;
  if (tokens.empty()) return asked;
  const bool is_negative = directive.name == "ifndef" || directive.name == "elifndef";
  if (is_negative || directive.name == "ifdef" || directive.name == "elifdef") {
    (is_negative ? asked.absent : asked.present).push_back(tokens.front().text);
    return asked;
  }
  // Parentheses change nothing but what "!" is about.
  std::vector<CodeToken> words;
  bool negates_group = false;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    negates_group = negates_group || (tokens[i].is("(") && i > 0 && tokens[i - 1].is("!"));
    if (!tokens[i].is("(") && !tokens[i].is(")")) words.push_back(tokens[i]);
  }
  if (const auto name = negates_group ? "" : only_default(words); !name.empty()) {
    asked.absent.push_back(name);
    return asked;
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_absent = words[i].is("!");
    if (is_absent) ++i;
    // Of an expression that is more than a conjunction of these nothing is sure.
    if (i + 1 >= words.size() || !words[i].is("defined")) return {};
    const bool has_more = i + 2 < words.size();
    if (has_more && (negates_group || !words[i + 2].is("&&"))) return {};
    (is_absent ? asked.absent : asked.present).push_back(words[i + 1].text);
    i += 2;
  }
  return asked;
}

std::vector<std::string_view> SourceConditions::names_at(
    std::size_t offset, std::vector<std::string_view> Asked::*names) const {
  std::vector<std::string_view> found;
  const auto behind =
      std::upper_bound(groups_.begin(), groups_.end(), offset,
                       [](std::size_t at, const Group& group) { return at < group.begin; });
  auto at =
      behind == groups_.begin() ? kNone : static_cast<std::size_t>(behind - groups_.begin()) - 1;
  constexpr int kMostNesting = 64;  // the outer ones are left out
  for (int depth = 0; at != kNone && depth < kMostNesting; at = groups_[at].parent, ++depth) {
    const Group& group = groups_[at];
    if (offset >= group.end) continue;
    const auto& asked = group.asked.*names;
    found.insert(found.end(), asked.begin(), asked.end());
  }
  return found;
}

std::vector<std::string_view> SourceConditions::absent_at(std::size_t offset) const {
  return names_at(offset, &Asked::absent);
}

bool SourceConditions::is_never(std::size_t offset) const {
  if (is_left_out(offset)) return true;
  const auto present = names_at(offset, &Asked::present);
  return std::any_of(present.begin(), present.end(), [&](std::string_view each) {
    const bool may_be_defined = defined_.contains(each) || has_own_headers_ ||
                                leaves_out_kernels(each) || each.starts_with('_') ||
                                each.starts_with("CUDA") || each.starts_with("KILN");
    return !may_be_defined;
  });
}

bool SourceConditions::is_left_out(std::size_t offset) const {
  const auto absent = absent_at(offset);
  return std::any_of(absent.begin(), absent.end(), leaves_out_kernels);
}

bool SourceConditions::yields_to(std::string_view name, std::size_t offset) const {
  const auto absent = absent_at(offset);
  return std::any_of(absent.begin(), absent.end(), [&](std::string_view each) {
    return each == name || leaves_out_kernels(each);
  });
}

std::string_view SourceConditions::misspelt(std::string_view name, std::size_t offset) const {
  for (const auto absent : absent_at(offset)) {
    if (is_typo_of(absent, name)) return absent;
  }
  return "";
}

}  // namespace kiln::tools
