// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/macro_redefinition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "templates/render/code_scanner.hpp"
#include "templates/render/source_lines.hpp"
#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

bool contains(std::span<const std::string> macros, std::string_view name) {
  return std::ranges::find(macros, name) != macros.end();
}

/// Calls `visit(line, groups)` for each line of a source.
template <class Visit>
void for_each_line(std::string_view source, std::span<const std::string> macros, Visit visit) {
  ConditionalGroups groups(macros);
  SourceLines lines(source);
  for (SourceLine line; lines.next(line);) {
    groups.pass(line);
    visit(line, groups);
  }
}

/// Puts the place of the name that a directive defines into `found`.
void place_name(const SourceLine& line, MacroRedefinition& found) {
  const auto directive = line.text.find(line.name);
  const auto at = line.text.find(found.name, directive + line.name.size());
  if (at == std::string_view::npos) {  // a backslash is within it
    found.line_text = line.text.substr(0, line.text.find('\n'));
    found.column = 1;
    return;
  }
  const auto before = line.text.substr(0, at);
  const auto begin = before.rfind('\n') + 1;  // npos + 1 is the beginning
  found.line += static_cast<int>(std::ranges::count(before, '\n'));
  found.column = static_cast<int>(at - begin) + 1;
  found.line_text = line.text.substr(begin, line.text.find('\n', at) - begin);
}

/// The source without its directives and what the compiler may skip; lines keep their numbers.
std::string certain_code(std::string_view source, std::span<const std::string> macros) {
  std::string code;
  for_each_line(source, macros, [&](const SourceLine& line, const ConditionalGroups& groups) {
    if (groups.taken() == Taken::yes) {
      if (line.name.empty()) {
        code.append(line.text).append("\n");
        return;
      }
      if (line.ends_in_comment) code += "/*";
    }
    code.append(static_cast<std::size_t>(line.count), '\n');
  });
  return code;
}

std::string explain_declaration(const ScannedDeclaration& declaration) {
  if (declaration.is_template_parameter) {
    return fmt::format(
        "a \"tune\" or \"let\" line declares \"{0}\", so Kiln defines a macro of this name. The "
        "compiler would therefore read a number instead of this template parameter. Next: delete "
        "the template parameter, or rename the parameter and pass its value in the launch line: "
        "launch KERNEL<{0}>",
        declaration.name);
  }
  return fmt::format(
      "a \"tune\" or \"let\" line declares \"{}\", so Kiln defines a macro of this name. The "
      "compiler would therefore read a value in place of the name. Next: if this line declares the "
      "same value again, delete the declaration. If builds without Kiln need the declaration, put "
      "it between #ifndef {} and #endif instead. If the name has another meaning here, choose "
      "another name",
      declaration.name, kTunerMacro);
}

std::string explain_redefinition(const MacroRedefinition& each) {
  if (!each.guard.empty()) {
    return fmt::format(
        "this line redefines the tuned macro \"{0}\": the #ifndef above should test \"{0}\", but "
        "it tests \"{1}\". Next: replace that #ifndef with #ifndef {0}",
        each.name, each.guard);
  }
  if (each.is_mark) {
    return fmt::format(
        "Kiln defines \"{0}\" to skip the code under #ifndef {0}. This #undef would make Kiln "
        "compile that code. Next: delete this line",
        each.name);
  }
  return fmt::format(
      "this line redefines the tuned macro \"{}\". Kiln would compile kernels with this line's "
      "value, but compute grid and block from the tuned value. Next: delete this line or hide it "
      "from Kiln (put it between #ifndef {} and #endif)",
      each.name, kTunerMacro);
}

}  // namespace

std::vector<MacroRedefinition> find_redefinitions(std::string_view source,
                                                  std::span<const std::string> macros) {
  std::vector<MacroRedefinition> all;
  for_each_line(source, macros, [&](const SourceLine& line, const ConditionalGroups& groups) {
    if (line.name != "define" && line.name != "undef") return;
    std::string_view rest = line.rest;
    MacroRedefinition found;
    found.name = take_word(rest);
    found.line = line.number;
    if (!contains(macros, found.name)) {
      found.is_mark = found.name == kTunerMacro || found.name == kRenderedMacro;
      if (!found.is_mark || line.name != "undef") return;
    }
    const Taken taken = groups.taken(found.name, found.guard);
    if (taken == Taken::no) return;
    found.certain = taken == Taken::yes;
    place_name(line, found);
    all.push_back(std::move(found));
  });
  return all;
}

void refuse_redefinitions(const std::string& file, std::string_view source,
                          std::span<const std::string> macros) {
  for (const MacroRedefinition& each : find_redefinitions(source, macros)) {
    if (!each.certain) continue;
    throw_at({file, each.line, each.column, each.line_text}, each.name, 0,
             explain_redefinition(each));
  }
  const std::string code = certain_code(source, macros);
  for (const ScannedDeclaration& each : find_declarations(code, macros)) {
    const std::size_t at = offset_in(code, each.name);
    const std::size_t begin = code.rfind('\n', at) + 1;  // npos + 1 is the beginning
    throw_at({file, each.line, static_cast<int>(at - begin) + 1,
              code.substr(begin, code.find('\n', at) - begin)},
             each.name, 0, explain_declaration(each));
  }
}

}  // namespace kiln
