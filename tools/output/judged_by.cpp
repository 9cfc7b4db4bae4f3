// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/judged_by.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "templates/text_pieces.hpp"

namespace kiln::tools {
namespace {

std::string_view line_of(std::string_view source, int number) {
  for (int line = 1; line < number && !source.empty(); ++line) {
    source.remove_prefix(std::min(source.find('\n'), source.size() - 1) + 1);
  }
  return source.substr(0, source.find('\n'));
}

/// Without the mark and the comment.
std::string rule_text(std::string_view line) {
  constexpr std::string_view kMark = "//@";
  if (line.starts_with(kMark)) line.remove_prefix(kMark.size());
  std::string text;
  for (const char c : trimmed(line.substr(0, line.find("//")))) {
    if (c != ' ' || text.back() != ' ') text += c;
  }
  return text;
}

}  // namespace

std::string judged_by(const Operation& operation, std::string_view message, bool all_disagree) {
  const auto& rights = operation.judge.rights;
  if (!operation.is_declared() || rights.empty()) return {};
  // The message names the output if there are several.
  const auto named = std::ranges::find_if(rights, [&](const RightSpec& right) {
    return message.find(fmt::format(": {}, ", operation.operands[right.operand].name)) !=
           std::string_view::npos;
  });
  const RightSpec& right = named == rights.end() ? rights.front() : *named;
  const bool by_checker = right.kind == RightSpec::Kind::checker;
  const auto& judge = by_checker ? operation.judge.checker : operation.judge.reference;
  std::string text = fmt::format("{}:{}: {}", operation.origin.file, right.line,
                                 rule_text(line_of(operation.origin.source, right.line)));
  if (judge) {
    text += fmt::format("; {} in line {}", by_checker ? "checker" : "reference", judge->line);
  }
  if (all_disagree) {
    text += fmt::format("; all configurations fail this rule, so the rule or the {} may be wrong",
                        by_checker ? "checker" : "reference");
  }
  return text;
}

}  // namespace kiln::tools
