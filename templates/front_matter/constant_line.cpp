// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/constant_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "templates/nearest_name.hpp"
#include "templates/render/code_scanner.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether a declaration that begins with `__constant__` has the word, as far as that can be told
/// without a compiler.
bool declares_constant(std::string_view source, std::string_view array) {
  constexpr std::string_view kConstant = "__constant__";
  for (auto at = source.find(kConstant); at != std::string_view::npos;
       at = source.find(kConstant, at + 1)) {
    const auto declaration = source.substr(at, source.find(';', at) - at);
    for (auto word = declaration.find(array); word != std::string_view::npos;
         word = declaration.find(array, word + 1)) {
      const auto end = word + array.size();
      if (!is_of_word(declaration[word - 1]) &&
          (end == declaration.size() || !is_of_word(declaration[end]))) {
        return true;
      }
    }
  }
  return false;
}

/// "coeff", or "phys::coeff".
bool is_qualified_name(std::string_view text) {
  for (;;) {
    const auto end = text.find("::");
    if (!is_identifier(text.substr(0, end))) return false;
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 2);
  }
}

std::string_view last_part(std::string_view name) {
  const auto at = name.rfind("::");
  return at == std::string_view::npos ? name : name.substr(at + 2);
}

/// An array that the line cannot mean: another namespace than it says, or none that it could say.
void check_scope(const FrontMatterLine& line, std::string_view array, std::string_view source) {
  std::optional<ScannedConstant> other;
  for (ScannedConstant& each : find_constants(source)) {
    if (each.name == array && !each.is_hidden) return;
    if (last_part(each.name) == last_part(array)) other = std::move(each);
  }
  if (!other) return;
  if (other->is_hidden) {
    line.fail(0, fmt::format("{} (line {}) is static or in an unnamed namespace, so Kiln cannot "
                             "address this array; remove \"static\" or the unnamed namespace",
                             last_part(array), other->line));
  }
  line.fail(0,
            fmt::format(
                "the full name of the array in line {} is {}, not {}; write \"constant {} = ...\"",
                other->line, other->name, array, other->name));
}

}  // namespace

void add_constant(const FrontMatterLine& line, const Operation& operation, std::string_view source,
                  std::vector<ConstantSpec>& constants) {
  const std::string_view text = line.text;
  const auto equals = text.find('=');
  const auto array = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_qualified_name(array)) {
    line.fail(0,
              "expected here: \"ARRAY = OPERAND\", as in \"d_filter = filter\"; Kiln copies the "
              "operand into this file's __constant__ array");
  }
  if (!declares_constant(source, last_part(array))) {
    line.fail(0, fmt::format("the source declares no __constant__ array \"{}\"", array));
  }
  check_scope(line, array, source);
  const auto name = trimmed(text.substr(equals + 1));
  const auto at_name = name.empty() ? text.size() : offset_in(text, name);
  std::vector<std::string> known;
  for (const OperandSpec& operand : operation.operands) known.push_back(operand.name);
  const auto found = std::ranges::find(known, name);
  if (found == known.end()) {
    line.fail(at_name, fmt::format("{} has no operand \"{}\"{}", operation.name, name,
                                   did_you_mean(name, known)));
  }
  const auto index = static_cast<std::size_t>(found - known.begin());
  if (operation.operands[index].role != OperandRole::in) {
    line.fail(
        at_name,
        fmt::format(
            "\"{}\" is an output, but kernels cannot write to constant memory; choose an input",
            name));
  }
  if (operation.operands[index].pointers) {
    line.fail(at_name,
              fmt::format("constant memory cannot hold the operand \"{}\", because the operand is "
                          "declared with \"pointers\"; choose another operand",
                          name));
  }
  if (std::ranges::find(constants, array, &ConstantSpec::array) != constants.end()) {
    line.fail(0,
              fmt::format("another \"constant\" line already fills {}; remove one of the two lines",
                          array));
  }
  constants.push_back(
      {std::string(array), static_cast<std::uint16_t>(index), line.text_place.line});
}

std::string variable_symbol(std::string_view name) {
  if (name.find("::") == std::string_view::npos) return std::string(name);
  std::string symbol = "_ZN";
  for (;;) {
    const auto end = name.find("::");
    const auto part = name.substr(0, end);
    symbol += fmt::format("{}{}", part.size(), part);
    if (end == std::string_view::npos) return symbol + "E";
    name.remove_prefix(end + 2);
  }
}

std::string constant_text(const ConstantSpec& constant, const Operation& operation) {
  return fmt::format("{} = {}", constant.array, operation.operands[constant.operand].name);
}

std::vector<ConstantFill> constant_fills(const std::vector<ConstantSpec>& constants,
                                         const std::string& file, const Operation& operation,
                                         const Problem& problem) {
  if (constants.empty()) return {};
  const std::vector<std::int64_t> values = operation.whole_values(problem);
  std::vector<ConstantFill> fills;
  for (const ConstantSpec& constant : constants) {
    const OperandSpec& operand = operation.operands[constant.operand];
    if (operand.when && operand.when->evaluate(values).value_or(0) == 0) continue;
    const std::int64_t bytes =
        layout_of(operand, values).elements() * size_bytes(*problem.type(operand.name));
    if (bytes > 0) {
      fills.push_back(
          {constant.array, constant.operand, bytes, fmt::format("{}:{}", file, constant.line)});
    }
  }
  return fills;
}

}  // namespace kiln
