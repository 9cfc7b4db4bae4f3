// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/how_to_use.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/device.hpp"
#include "tools/gemm_flags.hpp"
#include "tools/quantity.hpp"
#include "tools/workbench.hpp"

namespace kiln::tools {
namespace {

/// The shortest leading dimension of at least `row` elements whose rows all start on `alignment`
/// bytes and no more: another alignment would be another problem.
std::int64_t leading_dimension(std::int64_t row, std::int64_t alignment, DType type) {
  const std::int64_t bytes = size_bytes(type);
  const std::int64_t step = std::max<std::int64_t>(1, alignment / bytes) * packed_values(type);
  return (row + step - 1) / step * step;
}

/// A C++ string literal.
std::string quoted(const std::string& text) {
  std::string literal = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal + "\"";
}

/// "{.database = "t.db", .device = "emulated:h200"}", in the order of LibraryOptions; "" when
/// everything is as it is by default.
std::string library_options(const GlobalFlags& flags) {
  std::vector<std::string> fields;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) fields.push_back(fmt::format(".{} = {}", name, quoted(value)));
  };
  add("database", flags.database);
  add("cubin_store", flags.cubin_store);
  std::vector<std::string> folders;
  for (const auto& folder : split_list(flags.template_path, ':')) folders.push_back(quoted(folder));
  if (!folders.empty()) {
    fields.push_back(fmt::format(".template_path = {{{}}}", fmt::join(folders, ", ")));
  }
  add("cuda_include", flags.cuda_include);
  add("device", flags.device);
  return fields.empty() ? "" : fmt::format("{{{}}}", fmt::join(fields, ", "));
}

/// A gemm of that problem.
GemmCase gemm_case_of_problem(const Problem& problem) {
  Gemm gemm;
  gemm.m = problem.size("m").value_or(0);
  gemm.n = problem.size("n").value_or(0);
  gemm.k = problem.size("k").value_or(0);
  gemm.a = problem.type("a").value_or(gemm.a);
  gemm.b = problem.type("b").value_or(gemm.b);
  gemm.c = problem.type("c").value_or(gemm.c);
  gemm.d = problem.type("d").value_or(gemm.d);
  gemm.acc = problem.type("acc").value_or(gemm.acc);
  const auto trait = [&](const char* name, std::int64_t missing) {
    return problem.trait(name).value_or(missing);
  };
  gemm.storage_a = trait("trans_a", 0) != 0 ? Storage::t : Storage::n;
  gemm.storage_b = trait("trans_b", 0) != 0 ? Storage::t : Storage::n;
  gemm.reads_c = trait("reads_c", 0) != 0;

  const auto settle = [&](const char* name, std::int64_t row, DType type, std::int64_t& ld,
                          int& address) {
    const auto alignment = trait(name, 16);
    ld = leading_dimension(row, alignment, type);
    // A row pitch that is aligned better than the problem says: the address is what limits it.
    const std::int64_t pitch =
        std::gcd(ld / packed_values(type) * size_bytes(type), std::int64_t{16});
    address = pitch > alignment ? static_cast<int>(alignment) : 16;
  };
  settle("align_a", gemm.storage_a == Storage::n ? gemm.k : gemm.m, gemm.a, gemm.lda,
         gemm.alignment_a);
  settle("align_b", gemm.storage_b == Storage::n ? gemm.n : gemm.k, gemm.b, gemm.ldb,
         gemm.alignment_b);
  settle("align_c", gemm.n, gemm.c, gemm.ldc, gemm.alignment_c);
  settle("align_d", gemm.n, gemm.d, gemm.ldd, gemm.alignment_d);
  if (problem.epilogue.empty()) return {normalised(gemm), 1.0, gemm.reads_c ? 1.0 : 0.0};
  gemm.epilogue = Epilogue(problem.epilogue);
  return {normalised(gemm), 1.0, 0.0};
}

std::string gemm_snippet(const Gemm& gemm, const GlobalFlags& flags) {
  const auto storage = [](Storage s) { return s == Storage::n ? "n" : "t"; };
  const auto type = [](DType t) { return fmt::format("kiln::DType::{}", to_string(t)); };
  std::string text =
      fmt::format("auto library = kiln::Library::open({});\n", library_options(flags));
  const auto name = short_dtype(gemm);
  const DType form = name.empty() ? gemm.a : *parse_dtype(name);
  text += fmt::format(
      "auto problem = kiln::Gemm::of({}, {}, {}, {}, kiln::Storage::{}, kiln::Storage::{});\n",
      type(form), gemm.m, gemm.n, gemm.k, storage(gemm.storage_a), storage(gemm.storage_b));
  if (name.empty()) {
    text += fmt::format("problem.b = {};\nproblem.c = {};\nproblem.d = {};\nproblem.acc = {};\n",
                        type(gemm.b), type(gemm.c), type(gemm.d), type(gemm.acc));
  }
  for (const auto& [flag, field, value] : unusual_placement(gemm)) {
    text += fmt::format("problem.{} = {};\n", field, value);
  }
  const bool expression = !gemm.epilogue.is_default();
  if (expression) {
    text += fmt::format("problem.epilogue = kiln::Epilogue({});\n", quoted(gemm.epilogue.text()));
  } else if (gemm.reads_c) {
    text += "problem.reads_c = true;\n";
  }
  std::string operands = gemm.reads_c ? ".a = a, .b = b, .c = c, .d = d" : ".a = a, .b = b, .d = d";
  if (gemm.reads_c && !expression) operands += ", .beta = 1";
  std::vector<std::string> named;
  for (int i = 0; i < gemm.epilogue.operand_count(); ++i) {
    named.push_back(fmt::format("{{{}}}", gemm.epilogue.operand_name(i)));
  }
  if (!named.empty()) operands += fmt::format(", .epilogue = {{{{{}}}}}", fmt::join(named, ", "));
  return text + fmt::format("library.get(problem).launch(stream, {{{}}});\n", operands);
}

std::string declared_snippet(const Operation& operation, const ProblemCase& one,
                             const GlobalFlags& flags) {
  const Problem& problem = one.problem;
  const auto pairs = [](const std::vector<NamedValue>& values) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : values) {
      texts.push_back(fmt::format("{{{}, {}}}", quoted(name), value));
    }
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
  };
  std::vector<std::string> types;
  for (const auto& [slot, type] : problem.types) {
    types.push_back(fmt::format("{{{}, kiln::DType::{}}}", quoted(slot), to_string(type)));
  }
  std::string text =
      fmt::format("auto library = kiln::Library::open({});\n", library_options(flags));
  text += fmt::format(
      "auto kernel = library.get(kiln::OperationProblem{{\n"
      "    .operation = {},\n    .sizes = {},\n    .types = {{{}}}",
      quoted(operation.name), pairs(problem.sizes), fmt::join(types, ", "));
  if (!problem.traits.empty()) text += fmt::format(",\n    .traits = {}", pairs(problem.traits));
  text += "});\n";
  std::vector<std::string> operands;
  for (const OperandPlan& operand : one.operands) {
    operands.push_back(operand.present ? operand.name : "nullptr");
  }
  std::string arguments = fmt::format(".operands = {{{}}}", fmt::join(operands, ", "));
  std::vector<std::string> scalars;
  bool usual = true;
  for (std::size_t i = 0; i < one.scalars.size(); ++i) {
    scalars.push_back(fmt::format("{}", one.scalars[i]));
    usual = usual && one.scalars[i] == operation.scalars[i].value;
  }
  if (!usual) arguments += fmt::format(", .scalars = {{{}}}", fmt::join(scalars, ", "));
  return text + fmt::format("kernel.launch(stream, {{{}}});\n", arguments);
}

}  // namespace

ProblemCase case_of(const Problem& problem) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) {
    throw Error(ErrorKind::usage,
                fmt::format("no file declares the operation {}; name its folder with "
                            "--template-path",
                            problem.operation));
  }
  return operation->is_declared() ? declared_case(*operation, problem, {})
                                  : problem_case(gemm_case_of_problem(problem));
}

std::string cpp_snippet(const ProblemCase& one, const GlobalFlags& flags) {
  const Operation& operation = *find_operation(one.problem.operation);
  return operation.is_declared() ? declared_snippet(operation, one, flags)
                                 : gemm_snippet(gemm_of(one), flags);
}

std::string next_steps(const ProblemCase& request, const Context& context) {
  const auto problem = problem_words(request);
  const auto device = context.device();
  const bool emulated = names_emulated_device(device.value);
  std::string text = "\nuse it\n";
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
