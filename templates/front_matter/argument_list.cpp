// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/argument_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "templates/check/argument_check.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"
#include "templates/source_error.hpp"
#include "templates/template_parts.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostArgumentNesting = 8;  ///< of structs; bounds the recursion
constexpr std::string_view kWorkspace = "workspace";
constexpr std::string_view kWrong = "wrong";
constexpr std::string_view kFirstWrong = "first_wrong";
constexpr std::string_view kSeed = "seed";

/// As messages call them.
std::string_view owner_text(ArgumentsOf owner) {
  switch (owner) {
    case ArgumentsOf::kernel:
      return "a kernel";
    case ArgumentsOf::reference:
      return "a reference";
    case ArgumentsOf::checker:
      return "a checker";
    case ArgumentsOf::fill:
      return "a fill kernel";
  }
  return "";
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

/// Condition and both sides of `E ? a : b`; nothing if it has another form.
std::optional<std::array<std::string_view, 3>> choice_parts(std::string_view text) {
  std::size_t question = std::string_view::npos;
  int depth = 0;
  int open = 0;  // choices within the first side
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    depth += (c == '(' || c == '{') - (c == ')' || c == '}');
    if (depth > 0) continue;
    if (c == '?') {
      if (question == std::string_view::npos) {
        question = i;
      } else {
        ++open;
      }
    } else if (c == ':' && question != std::string_view::npos && open-- == 0) {
      return std::array{text.substr(0, question), text.substr(question + 1, i - question - 1),
                        text.substr(i + 1)};
    }
  }
  return std::nullopt;
}

class ArgumentListParser {
 public:
  ArgumentListParser(const FrontMatterLine& line, const Operation& operation,
                     const NameTable& names, ArgumentsOf owner,
                     std::span<const ScratchSpec> scratch)
      : line_(line), operation_(operation), names_(names), owner_(owner), scratch_(scratch) {}

  std::vector<ArgumentSpec> run() {
    check_brackets();
    return list({line_.text, 0}, 0);
  }

 private:
  using Kind = ArgumentSpec::Kind;

  /// So that commas can be told apart, and that a message is about the bracket and not about what
  /// it leaves behind.
  void check_brackets() const {
    std::vector<std::size_t> open;
    const std::string_view text = line_.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(' || text[i] == '{') open.push_back(i);
      if (text[i] != ')' && text[i] != '}') continue;
      const char opening = text[i] == ')' ? '(' : '{';
      if (open.empty() || text[open.back()] != opening) {
        line_.fail(i, fmt::format("this '{}' closes nothing", text[i]));
      }
      open.pop_back();
    }
    if (!open.empty()) {
      line_.fail(open.back(), fmt::format("this '{}' is not closed", text[open.back()]));
    }
  }

  [[nodiscard]] std::vector<ArgumentSpec> list(TextPart part, std::size_t nesting) const {
    std::vector<ArgumentSpec> result;
    for (const auto& [text, offset] : split_arguments(part.text)) {
      result.push_back(item({text, part.offset + offset}, nesting));
    }
    return result;
  }

  [[nodiscard]] ArgumentSpec item(TextPart part, std::size_t nesting) const {
    if (part.text.empty()) {
      line_.fail(part.offset,
                 "an argument is missing here; write an operand, a scalar, an integer expression, "
                 "\"workspace\" or a struct {a, b}");
    }
    if (part.text.front() == '{') return structure(part, nesting);
    if (auto chosen = choice(part, nesting)) return std::move(*chosen);
    if (part.text.front() == '(') {
      if (auto number = typed_number(part)) return std::move(*number);
    }
    const auto name = part.text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(part.text, is_name_char) -
                                    part.text.begin()));
    if (name == kWorkspace) return workspace(part);
    if (name == part.text) {
      if (auto named = whole_name(part)) return std::move(*named);
    }
    return number(part, NumberType::s32);
  }

  [[nodiscard]] ArgumentSpec structure(TextPart part, std::size_t nesting) const {
    if (part.text.back() != '}') {
      const auto close = part.text.rfind('}');
      line_.fail(part.offset + close + 1,
                 "after a struct, only a comma or the end of the list can follow");
    }
    if (nesting == kMostArgumentNesting) {
      line_.fail(part.offset, fmt::format("structs are nested too deeply; the limit is {} levels",
                                          kMostArgumentNesting));
    }
    const auto inner = part.text.substr(1, part.text.size() - 2);
    if (trimmed(inner).empty()) {
      line_.fail(part.offset, "a struct needs members, as in {x, rows}");
    }
    ArgumentSpec spec;
    spec.kind = Kind::structure;
    spec.members = list({inner, part.offset + 1}, nesting + 1);
    return spec;
  }

  /// `E ? a : b` of addresses; nothing if it is a number or has no such form.
  [[nodiscard]] std::optional<ArgumentSpec> choice(TextPart part, std::size_t nesting) const {
    const auto sides = choice_parts(part.text);
    if (!sides) return std::nullopt;
    std::vector<TextPart> parts;
    for (const std::string_view side : *sides) {
      const auto text = trimmed(side);
      parts.push_back({text, part.offset + offset_in(part.text, text.empty() ? side : text)});
    }
    if (!is_address(parts[1].text) && !is_address(parts[2].text)) return std::nullopt;
    if (owner_ != ArgumentsOf::kernel) {
      line_.fail(part.offset, fmt::format("{} cannot choose between addresses; pass both of them",
                                          owner_text(owner_)));
    }
    if (nesting == kMostArgumentNesting) {
      line_.fail(part.offset, fmt::format("choices are nested too deeply; the limit is {} levels",
                                          kMostArgumentNesting));
    }
    ArgumentSpec spec;
    spec.kind = Kind::choice;
    spec.value = expression(parts[0]);
    for (const TextPart& side : {parts[1], parts[2]}) {
      if (!is_address(side.text)) {
        line_.fail(side.offset,
                   fmt::format("\"{}\" is no address, but the other side of this choice is one; "
                               "write an operand, a scratch array or the workspace on both sides "
                               "of ':'",
                               side.text));
      }
      spec.members.push_back(item(side, nesting + 1));
    }
    return spec;
  }

  [[nodiscard]] bool is_address(std::string_view text) const {
    if (const auto sides = choice_parts(text)) {
      return is_address(trimmed((*sides)[1])) || is_address(trimmed((*sides)[2]));
    }
    const auto name = text.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(text, is_name_char) - text.begin()));
    return name == kWorkspace || (name == text && (operand_index(text) || scratch_index(text)));
  }

  /// `(float) cols`; nothing if the parenthesis is part of an expression.
  [[nodiscard]] std::optional<ArgumentSpec> typed_number(TextPart part) const {
    const auto close = part.text.find(')');
    const auto inside = part.text.substr(1, close - 1);
    std::string spelling;
    for (const auto& word : split_words(inside)) {
      if (!is_identifier(word.text)) return std::nullopt;
      if (!spelling.empty()) spelling += ' ';
      spelling += word.text;
    }
    const auto rest = trimmed(part.text.substr(close + 1));
    const TextPart value{
        rest, part.offset + (rest.empty() ? part.text.size() : offset_in(part.text, rest))};
    if (const auto type = parse_cpp_number_type(spelling)) {
      const auto index = scalar_index(value.text);
      if (index) check_holds(*type, operation_.scalars[*index], part.offset + 1);
      return index ? scalar(*index, *type) : number(value, *type);
    }
    // A name in parentheses is followed by an operator, a type by a value.
    const bool is_cast = !rest.empty() && (is_name_char(rest.front()) || rest.front() == '(');
    if (!is_cast) return std::nullopt;
    const auto known = cpp_number_types();
    line_.fail(part.offset + 1,
               fmt::format("\"{}\" is not an argument type{}; the types are: {}", spelling,
                           did_you_mean(spelling, known), fmt::join(known, ", ")));
  }

  /// An operand, what a reference has of one, or a scalar.
  [[nodiscard]] std::optional<ArgumentSpec> whole_name(TextPart part) const {
    ArgumentSpec spec;
    if (const auto index = operand_index(part.text)) {
      spec.index = *index;
      return spec;
    }
    if (const auto index = scalar_index(part.text)) {
      return scalar(*index, operation_.scalars[*index].type);
    }
    if (const auto index = scratch_index(part.text)) {
      spec.kind = Kind::workspace;
      spec.index = *index;
      spec.scratch_name = scratch_[*index].name;
      spec.scratch_type = scratch_[*index].type;
      return spec;
    }
    if (owner_ == ArgumentsOf::checker && (part.text == kWrong || part.text == kFirstWrong)) {
      spec.kind = Kind::verdict;
      spec.index = part.text == kWrong ? 0 : 1;
      return spec;
    }
    if (owner_ == ArgumentsOf::fill && part.text == kSeed && names_.find(kSeed) < 0) {
      spec.kind = Kind::seed;
      return spec;
    }
    const auto dot = part.text.find('.');
    const auto index = operand_index(part.text.substr(0, dot));
    if (dot == std::string_view::npos || !index) return std::nullopt;
    spec.index = *index;
    spec.kind = view_kind(part, dot);
    const OperandSpec& operand = operation_.operands[*index];
    if (spec.kind == Kind::magnitude && operand.role == OperandRole::in) {
      line_.fail(part.offset,
                 fmt::format("\".magnitude\" needs an output (out or inout), but {} is an input",
                             operand.name));
    }
    if (spec.kind == Kind::before && operand.role != OperandRole::inout) {
      line_.fail(part.offset,
                 fmt::format("\".before\" needs an \"inout\" operand, but {} is not \"inout\"",
                             operand.name));
    }
    return spec;
  }

  /// What follows the dot after an operand.
  [[nodiscard]] Kind view_kind(TextPart part, std::size_t dot) const {
    static const std::vector<std::string> views{"f64", "magnitude", "before"};
    const auto view = part.text.substr(dot + 1);
    if (std::ranges::find(views, view) == views.end()) {
      const std::string meant = did_you_mean(view, views);
      line_.fail(part.offset + dot + 1,
                 fmt::format("operands have no suffix \".{}\"{} Suffixes: .f64 and .magnitude for "
                             "a reference; .f64 and .before for a checker; .f64 for a fill kernel; "
                             "none for a kernel",
                             view, meant.empty() ? "." : meant));
    }
    const bool is_for_reference = view != views[2];
    const bool is_for_checker = view != views[1];
    const bool is_known = (owner_ == ArgumentsOf::reference && is_for_reference) ||
                          (owner_ == ArgumentsOf::checker && is_for_checker) ||
                          (owner_ == ArgumentsOf::fill && view == views[0]);
    if (!is_known) {
      line_.fail(part.offset + dot,
                 fmt::format("only {} can use the suffix \".{}\"; {} \"{}\"",
                             view == views[0]   ? "a reference, a checker or a fill kernel"
                             : is_for_reference ? "a reference"
                                                : "a checker",
                             view, owner_ == ArgumentsOf::kernel ? "for a kernel, write" : "write",
                             part.text.substr(0, dot)));
    }
    if (view == views[0]) return Kind::float64;
    return view == views[1] ? Kind::magnitude : Kind::before;
  }

  [[nodiscard]] ArgumentSpec workspace(TextPart part) const {
    if (owner_ != ArgumentsOf::kernel) {
      line_.fail(part.offset, fmt::format("{} cannot use a workspace; remove this argument",
                                          owner_text(owner_)));
    }
    ArgumentSpec spec;
    spec.kind = Kind::workspace;
    const auto rest = trimmed(part.text.substr(kWorkspace.size()));
    if (rest.empty()) return spec;
    const auto at = part.offset + offset_in(part.text, rest);
    if (rest.front() != '+') {
      line_.fail(at, "write the workspace as \"workspace\" or \"workspace + bytes\"");
    }
    const auto bytes = trimmed(rest.substr(1));
    spec.value = expression({bytes, at + (bytes.empty() ? 1 : offset_in(rest, bytes))});
    return spec;
  }

  /// In its own type, or converted from that to another one.
  [[nodiscard]] ArgumentSpec scalar(std::uint16_t index, NumberType type) const {
    ArgumentSpec spec;
    spec.kind = Kind::scalar;
    spec.index = index;
    spec.type = type;
    const NumberType declared = operation_.scalars[index].type;
    if (declared != type) spec.declared = declared;
    return spec;
  }

  /// An integer that its parameter has not would silently arrive as another one.
  void check_holds(NumberType type, const ScalarSpec& scalar, std::size_t offset) const {
    if (takes_every_value(type, scalar.type)) return;
    line_.fail(
        offset,
        fmt::format(
            "this line passes the scalar {0} as {1}, which cannot hold every value of the declared "
            "type {2}; in the operation, write \"scalar {0} {3} = ...\"",
            scalar.name, cpp_spelling(type), to_string(scalar.type), to_string(type)));
  }

  [[nodiscard]] ArgumentSpec number(TextPart part, NumberType type) const {
    ArgumentSpec spec;
    spec.kind = Kind::number;
    spec.type = type;
    spec.value = expression(part);
    return spec;
  }

  [[nodiscard]] Expression expression(TextPart part) const {
    check_names(part);
    return Expression::parse(part.text, names_, line_.text_place.at(part.offset));
  }

  /// Names that an expression can't have, but an argument could.
  void check_names(TextPart part) const {
    const std::string_view text = part.text;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = begin;
      while (end < text.size() && is_name_char(text[end])) ++end;
      const auto name = text.substr(begin, end - begin);
      const bool is_name = !name.empty() && !(name[0] >= '0' && name[0] <= '9') && name[0] != '.';
      const auto next = std::min(text.find_first_not_of(kLineSpace, end), text.size());
      if (is_name && next < text.size() && is_name_char(text[next])) {
        line_.fail(part.offset + next, why_missing("a comma or an operator", text, next));
      }
      if (is_name && !trimmed(text.substr(end)).starts_with('(')) {
        check_name({name, part.offset + begin});
      }
      begin = std::max(end, begin + 1);
    }
  }

  void check_name(TextPart name) const {
    if (names_.find(name.text) >= 0 || name.text == "true" || name.text == "false") return;
    if (operand_index(name.text.substr(0, name.text.find('.'))) || scratch_index(name.text)) {
      line_.fail(name.offset, fmt::format("\"{}\" is an address, and expressions cannot use "
                                          "addresses; pass the address as an argument of its own",
                                          name.text));
    }
    if (scalar_index(name.text)) {
      line_.fail(
          name.offset,
          fmt::format("\"{0}\" is a scalar, and expressions cannot use scalars; pass the scalar as "
                      "an argument of its own. A cast is possible, as in (float){0}",
                      name.text));
    }
    if (name.text == kWorkspace) {
      line_.fail(name.offset,
                 "this expression cannot use the workspace; pass \"workspace\" or \"workspace + "
                 "bytes\" as an argument of its own");
    }
    std::vector<std::string> known{std::string(kWorkspace)};
    for (const auto& each : operation_.operands) known.push_back(each.name);
    for (const auto& each : operation_.scalars) known.push_back(each.name);
    for (const auto& each : scratch_) known.push_back(each.name);
    for (int slot = 0; slot < names_.size(); ++slot) known.push_back(names_.name(slot));
    line_.fail(name.offset,
               fmt::format("unknown name \"{}\"{}", name.text, did_you_mean(name.text, known)));
  }

  [[nodiscard]] std::optional<std::uint16_t> operand_index(std::string_view name) const {
    const auto found = std::ranges::find(operation_.operands, name, &OperandSpec::name);
    if (found == operation_.operands.end()) return std::nullopt;
    return static_cast<std::uint16_t>(found - operation_.operands.begin());
  }

  [[nodiscard]] std::optional<std::uint16_t> scalar_index(std::string_view name) const {
    const auto found = std::ranges::find(operation_.scalars, name, &ScalarSpec::name);
    if (found == operation_.scalars.end()) return std::nullopt;
    return static_cast<std::uint16_t>(found - operation_.scalars.begin());
  }

  [[nodiscard]] std::optional<std::uint16_t> scratch_index(std::string_view name) const {
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      if (scratch_[i].name == name) return static_cast<std::uint16_t>(i);
    }
    return std::nullopt;
  }

  const FrontMatterLine& line_;
  const Operation& operation_;
  const NameTable& names_;
  ArgumentsOf owner_;
  std::span<const ScratchSpec> scratch_;
};

std::string one_argument_text(const ArgumentSpec& spec, const Operation& operation) {
  switch (spec.kind) {
    case ArgumentSpec::Kind::operand:
      return operation.operands[spec.index].name;
    case ArgumentSpec::Kind::float64:
      return operation.operands[spec.index].name + ".f64";
    case ArgumentSpec::Kind::magnitude:
      return operation.operands[spec.index].name + ".magnitude";
    case ArgumentSpec::Kind::before:
      return operation.operands[spec.index].name + ".before";
    case ArgumentSpec::Kind::verdict:
      return std::string(spec.index == 0 ? kWrong : kFirstWrong);
    case ArgumentSpec::Kind::seed:
      return std::string(kSeed);
    case ArgumentSpec::Kind::choice:
      return fmt::format("{} ? {} : {}", spec.value->text(),
                         one_argument_text(spec.members[0], operation),
                         one_argument_text(spec.members[1], operation));
    case ArgumentSpec::Kind::workspace:
      if (!spec.scratch_name.empty()) return spec.scratch_name;
      return spec.value ? fmt::format("{} + {}", kWorkspace, spec.value->text())
                        : std::string(kWorkspace);
    case ArgumentSpec::Kind::scalar: {
      const ScalarSpec& scalar = operation.scalars[spec.index];
      return scalar.type == spec.type
                 ? scalar.name
                 : fmt::format("({}) {}", cpp_spelling(spec.type), scalar.name);
    }
    case ArgumentSpec::Kind::structure:
      return fmt::format("{{{}}}", argument_text(spec.members, operation));
    case ArgumentSpec::Kind::number:
      break;
  }
  if (spec.type == NumberType::s32) return spec.value->text();
  return fmt::format("({}) {}", cpp_spelling(spec.type), spec.value->text());
}

}  // namespace

std::vector<ArgumentSpec> parse_argument_list(const FrontMatterLine& line,
                                              const Operation& operation, const NameTable& names,
                                              ArgumentsOf owner,
                                              std::span<const ScratchSpec> scratch) {
  return ArgumentListParser(line, operation, names, owner, scratch).run();
}

std::vector<ArgumentSpec> default_argument_list(const Operation& operation,
                                                const NameTable& names) {
  std::vector<ArgumentSpec> list;
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    list.emplace_back().index = static_cast<std::uint16_t>(i);
  }
  for (const std::string& size : operation.size_names()) {
    ArgumentSpec& spec = list.emplace_back();
    spec.kind = ArgumentSpec::Kind::number;
    spec.value = Expression::parse(size, names, {operation.origin.file, 1, 1});
  }
  for (std::size_t i = 0; i < operation.scalars.size(); ++i) {
    ArgumentSpec& spec = list.emplace_back();
    spec.kind = ArgumentSpec::Kind::scalar;
    spec.index = static_cast<std::uint16_t>(i);
    spec.type = operation.scalars[i].type;
  }
  return list;
}

std::string argument_text(const std::vector<ArgumentSpec>& list, const Operation& operation) {
  std::string text;
  for (const ArgumentSpec& spec : list) {
    if (!text.empty()) text += ", ";
    text += one_argument_text(spec, operation);
  }
  return text;
}

}  // namespace kiln
