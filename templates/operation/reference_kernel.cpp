// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/reference_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

bool is_identifier_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// Names with `::` between them.
bool is_kernel_name(std::string_view text) {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find("::", at), text.size());
    if (!is_identifier(text.substr(at, end - at))) return false;
    at = end + 2;
  }
  return !text.ends_with("::");
}

/// Whether the name is followed by '(' somewhere, as where a function is defined.
bool has_function(std::string_view source, std::string_view name) {
  for (auto at = source.find(name); at != std::string_view::npos; at = source.find(name, at + 1)) {
    if (at > 0 && is_identifier_char(source[at - 1])) continue;
    const auto next = source.find_first_not_of(" \t\r\n", at + name.size());
    if (next != std::string_view::npos && source[next] == '(') return true;
  }
  return false;
}

/// How the arguments, members of structs too, give an operand.
struct ResultPlaces {
  int own_type = 0;
  int float64 = 0;
};

void count_places(const std::vector<ArgumentSpec>& args, std::size_t operand,
                  ResultPlaces& places) {
  for (const ArgumentSpec& arg : args) {
    count_places(arg.members, operand, places);
    if (arg.index != operand) continue;
    places.own_type += arg.kind == ArgumentSpec::Kind::operand ? 1 : 0;
    places.float64 += arg.kind == ArgumentSpec::Kind::float64 ? 1 : 0;
  }
}

/// Whether the arguments, members of structs too, have `wrong`.
bool has_count(const std::vector<ArgumentSpec>& args) {
  return std::ranges::any_of(args, [](const ArgumentSpec& arg) {
    return (arg.kind == ArgumentSpec::Kind::verdict && arg.index == 0) || has_count(arg.members);
  });
}

bool is_checked(const Operation& operation, std::size_t operand) {
  const auto right = std::ranges::find(operation.judge.rights, operand, &RightSpec::operand);
  return right != operation.judge.rights.end() && right->kind == RightSpec::Kind::checker;
}

bool mentions(const Expression& expression, const std::vector<int>& names) {
  return std::ranges::any_of(expression.names_used(), [&](int name) {
    return std::ranges::find(names, name) != names.end();
  });
}

/// The size and the derived sizes that change with it.
std::vector<int> names_that_follow(const Operation& operation, const std::string& size) {
  std::vector<int> names{operation.names().find(size)};
  for (const auto& [name, value] : operation.derived) {
    if (mentions(value, names)) names.push_back(operation.names().find(name));
  }
  return names;
}

/// What else of an operand than its first extent a part of the size would change; "" if nothing.
std::string part_that_follows(const OperandSpec& operand, const std::string& size,
                              const std::vector<int>& names) {
  for (const Expression& extent : operand.extents) {
    const bool is_sliced = &extent == &operand.extents.front() && extent.text() == size;
    if (!is_sliced && mentions(extent, names)) {
      return fmt::format("the extent \"{}\"", extent.text());
    }
  }
  if (operand.ld && mentions(*operand.ld, names)) {
    return fmt::format("\"ld {}\"", operand.ld->text());
  }
  for (const auto& bound : {operand.fill.low, operand.fill.high}) {
    if (bound && mentions(*bound, names)) return "the fill";
  }
  return "";
}

}  // namespace

void check_judge_kernel(const FrontMatterLine& line, std::string_view source) {
  const std::string_view text = line.text;
  const auto open = std::min(text.find('<'), text.size());
  const auto name = trimmed(text.substr(0, open));
  const auto close = text.rfind('>');
  // A line below that begins with no key of an operation was taken for the rest of this one.
  if (open < text.size() && close != std::string_view::npos && close + 1 < text.size()) {
    const auto rest = trimmed(text.substr(close + 1));
    const auto word = rest.substr(0, rest.find_first_of(kLineSpace));
    static const std::vector<std::string> parts{"grid", "block", "args"};
    line.fail(offset_in(text, rest), fmt::format("nothing may follow the kernel's template "
                                                 "arguments; remove this text{}",
                                                 did_you_mean(word, parts)));
  }
  if (!is_kernel_name(name)) {
    line.fail(0, fmt::format("expected here: the name of the {} kernel, e.g. softmax_{} or "
                             "softmax_{}<x>",
                             line.key, line.key, line.key));
  }
  if (open < text.size() && close == std::string_view::npos) {
    line.fail(open, "this '<' is not closed");
  }
  const auto last = name.substr(name.rfind(':') + 1);
  if (!has_function(source, last)) {
    line.fail(0, fmt::format("this file has no function \"{}\"; write the {} kernel below the "
                             "declaration, in this file",
                             last, line.key));
  }
}

void check_reference_results(const FrontMatterLine& line, const Operation& operation,
                             const std::vector<ArgumentSpec>& args) {
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const OperandSpec& operand = operation.operands[i];
    if (operand.role == OperandRole::in || is_checked(operation, i)) continue;
    ResultPlaces places;
    count_places(args, i, places);
    if (places.own_type + places.float64 == 0) {
      line.fail(0,
                fmt::format("the arguments of the reference do not include the output {0}. Next: "
                            "add \"{0}.f64\" if the kernel writes double, or \"{0}\" if the kernel "
                            "writes the element type of {0}",
                            operand.name));
    }
    if (places.own_type > 0 && places.float64 > 0) {
      line.fail(0, fmt::format("the arguments of the reference include both \"{0}\" and "
                               "\"{0}.f64\". Next: remove one of the two",
                               operand.name));
    }
  }
}

void check_checker_arguments(const FrontMatterLine& line, const Operation& operation,
                             const std::vector<ArgumentSpec>& args) {
  if (!has_count(args)) {
    line.fail(
        0,
        "the arguments of the checker do not include \"wrong\". Next: add \"wrong\", the counter "
        "(unsigned long long*) to which the checker adds 1 for each wrong element");
  }
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    if (!is_checked(operation, i)) continue;
    ResultPlaces places;
    count_places(args, i, places);
    if (places.own_type + places.float64 > 0) continue;
    line.fail(0, fmt::format("the arguments of the checker do not include the output {0}. Next: "
                             "add \"{0}\" or \"{0}.f64\"",
                             operation.operands[i].name));
  }
}

std::string parse_independent(const FrontMatterLine& line, const Operation& operation) {
  const std::string& size = line.text;
  if (std::ranges::find(operation.size_names(), size) == operation.size_names().end()) {
    line.fail(0, fmt::format("there is no size \"{}\"{}", size,
                             did_you_mean(size, operation.size_names())));
  }
  const auto names = names_that_follow(operation, size);
  for (const OperandSpec& operand : operation.operands) {
    if (const auto part = part_that_follows(operand, size, names); !part.empty()) {
      line.fail(0,
                fmt::format("{0} of the operand {1} depends on {2}. Because of the line "
                            "\"independent {2}\", operands can use {2} only as their first "
                            "extent. Next: change the operand, or remove the \"independent\" line",
                            part, operand.name, size));
    }
    if (operand.role != OperandRole::in && operand.extents.front().text() != size) {
      line.fail(0, fmt::format("the first extent of the output {0} is not {1}, but {1} is in the "
                               "\"independent\" line. Next: make {1} the first extent of every "
                               "output, or remove the \"independent\" line",
                               operand.name, size));
    }
  }
  return size;
}

}  // namespace kiln
