// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/how_to_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/device.hpp"
#include "templates/operation/scalar_text.hpp"
#include "tools/command_line/quantity.hpp"
#include "tools/typed_tools.hpp"
#include "tools/workbench.hpp"

namespace kiln::tools {
namespace {

/// "{.database = "t.db", .device = "emulated:h200"}", in the order of LibraryOptions; "" when
/// everything is as it is by default.
std::string library_options(const GlobalFlags& flags) {
  std::vector<std::string> fields;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) fields.push_back(fmt::format(".{} = {}", name, cpp_literal(value)));
  };
  add("database", flags.database);
  add("cubin_store", flags.cubin_store);
  const auto add_list = [&](const char* name, const std::string& value) {
    std::vector<std::string> folders;
    for (const auto& folder : split_list(value, ':')) folders.push_back(cpp_literal(folder));
    if (folders.empty()) return;
    fields.push_back(fmt::format(".{} = {{{}}}", name, fmt::join(folders, ", ")));
  };
  add_list("template_path", flags.template_path);
  add_list("include", flags.include);
  add("cuda_include", flags.cuda_include);
  add("device", flags.device);
  add("objective", flags.objective);
  return fields.empty() ? "" : fmt::format("{{{}}}", fmt::join(fields, ", "));
}

/// A literal of C++; `u`, since not every 64-bit integer is a literal without.
std::string cpp_number(Scalar value) {
  const bool is_unsigned =
      value.visit([](auto number) { return std::is_same_v<decltype(number), std::uint64_t>; });
  return scalar_text(value) + (is_unsigned ? "u" : "");
}

std::string declared_snippet(const Operation& operation, const ProblemCase& one) {
  const Problem& problem = one.problem;
  const auto pairs = [](const std::vector<NamedValue>& values) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : values) {
      texts.push_back(fmt::format("{{{}, {}}}", cpp_literal(name), value));
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
  };
  std::vector<std::string> types;
  for (const auto& [slot, type] : problem.types) {
    types.push_back(fmt::format("{{{}, kiln::DType::{}}}", cpp_literal(slot), to_string(type)));
  }
  std::string text = fmt::format(
      "auto kernel = library.get(kiln::OperationProblem{{\n"
      "    .operation = {},\n    .sizes = {},\n    .types = {{{}}}",
      cpp_literal(operation.name), pairs(problem.sizes), fmt::join(types, ", "));
  if (!problem.traits.empty()) text += fmt::format(",\n    .traits = {}", pairs(problem.traits));
  text += "});\n";
  std::vector<std::string> operands;
  for (const OperandPlan& operand : one.operands) {
    operands.push_back(operand.present ? operand.name : "nullptr");
  }
  for (const OperandPlan& operand : one.operands) {
    if (!operand.present || !operand.shape.pointers) continue;
    text += fmt::format("// {}: {} pointers in device memory, each to an array of {} elements\n",
                        operand.name, operand.shape.rows, operand.shape.cols);
  }
  std::string arguments = fmt::format(".operands = {{{}}}", fmt::join(operands, ", "));
  std::vector<std::string> scalars;
  bool usual = true;
  for (std::size_t i = 0; i < one.scalars.size(); ++i) {
    scalars.push_back(cpp_number(one.scalars[i]));
    usual = usual && one.scalars[i] == operation.scalars[i].value;
  }
  if (!usual) arguments += fmt::format(", .scalars = {{{}}}", fmt::join(scalars, ", "));
  return text + fmt::format("kernel.launch(stream, {{{}}});\n", arguments);
}

}  // namespace

std::string cpp_literal(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

ProblemCase case_of(const Problem& problem) {
  if (const TypedTools* const typed = find_typed_tools(problem.operation)) {
    return typed->case_of(problem);
  }
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) {
    throw Error(
        ErrorKind::usage,
        fmt::format("there is no operation {}; for an operation of your own, name its folder with "
                    "--template-path",
                    problem.operation));
  }
  return declared_case(*operation, problem, {});
}

std::string cpp_snippet(const ProblemCase& one, const GlobalFlags& flags) {
  const std::string& name = one.problem.operation;
  const TypedTools* const typed = find_typed_tools(name);
  return fmt::format(
      "auto library = kiln::Library::open({});\n{}", library_options(flags),
      typed == nullptr ? declared_snippet(*find_operation(name), one) : typed->snippet(one));
}

std::string next_steps(const ProblemCase& request, const Context& context, bool is_checked) {
  const auto problem = problem_words(request);
  const auto device = context.device();
  const bool emulated = names_emulated_device(device.value);
  std::string text = is_checked ? "\nuse this kernel\n"
                                : "\nuse this kernel only if the command above finds no fault\n";
  const auto add = [&](std::string_view verb, const std::string& more) {
    text += fmt::format("  {}\n", context.command(fmt::format("{} {}{}", verb, problem, more)));
  };
  add("show", "");
  if (emulated) {
    // A variable lasts no longer than its shell, and without it these would look for a GPU.
    const bool named = device.origin == "flag";
    for (const char* verb : {"verify", "inspect", "run"}) {
      add(verb, named ? "" : " --device " + device.value);
    }
  } else {
    add("bench", has_baseline(request.problem) ? " --against cublaslt" : "");
    add("run", "");
  }
  text += "or in C++ (#include <kiln/kiln.hpp>)\n";
  GlobalFlags flags = context.flags;
  if (emulated) flags.device = device.value;
  const std::string snippet = cpp_snippet(request, flags);
  for (std::size_t start = 0; start < snippet.size();) {
    const auto end = snippet.find('\n', start);
    text += fmt::format("  {}\n", snippet.substr(start, end - start));
    start = end + 1;
  }
  return text;
}

}  // namespace kiln::tools
