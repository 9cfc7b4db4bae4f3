// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/declaration_check.hpp"

#include <fmt/format.h>

#include <string>

#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

bool is_line_of_its_own(const Declaration& declaration) {
  return declaration.type == kMacro || declaration.type == kHostValue;
}

std::string how_to_mark(const FrontMatterLine& line) {
  if (line.key == "at")
    return "write \"at launch\" in the first line of a struct: struct Name {  //@ at launch";
  return fmt::format(
      "mark the config struct where it is declared: write \"struct {} {{  //@ config\" there, and "
      "remove this line",
      line.text.empty() ? "Name" : line.text);
}

std::string how_to_declare(const FrontMatterLine& line) {
  const std::string_view text = line.text;
  const auto equals = text.find('=');
  const auto name = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_identifier(name)) {
    return fmt::format("write \"{0}\" after the declaration of one field: int name;  //@ {0} {1}",
                       line.key, line.text);
  }
  return fmt::format(
      "\"{0}\" belongs in the line that declares the field of the config struct; write \"int {1};  "
      "//@ {0} {2}\" there, and remove this line",
      line.key, name, trimmed(text.substr(equals + 1)));
}

}  // namespace

void check_declaration(const FrontMatterLine& line) {
  const bool is_of_struct = line.key == "config" || line.key == "at";
  const bool is_of_field = line.key == "tune" || line.key == "let";
  if (!line.is_declaration() && (is_of_struct || is_of_field)) {
    line.fail_at_key(is_of_struct ? how_to_mark(line) : how_to_declare(line));
  }
  if (!line.is_declaration() || is_line_of_its_own(line.declaration)) return;
  const bool is_struct = line.declaration.type == "struct";
  if (is_of_struct && !is_struct) {
    line.fail_at_key(fmt::format("\"{}\" belongs to a struct, not to a field", line.key));
  }
  if (is_of_field && is_struct) {
    line.fail_at_key(fmt::format("\"{}\" belongs to a field, not to a struct", line.key));
  }
  if (line.key == "let" && line.declaration.type != "int" && line.declaration.type != "bool") {
    throw_at(line.declaration.place, line.declaration.name, 0,
             fmt::format("\"{}\" is a {}, but \"let\" can compute only an int or a bool",
                         line.declaration.name, line.declaration.type));
  }
  if (is_of_field && line.declaration.owner.empty()) {
    throw_at(line.declaration.place, line.declaration.name, 0,
             fmt::format("the struct of \"{}\" is not marked as the config struct; write \"struct "
                         "Name {{  //@ config\" where the struct begins",
                         line.declaration.name));
  }
}

}  // namespace kiln
