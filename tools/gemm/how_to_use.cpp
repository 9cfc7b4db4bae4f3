// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The gemm that a stored problem stands for, and C++ that uses its kernel.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tools/gemm/flags.hpp"
#include "tools/gemm/tools.hpp"
#include "tools/output/how_to_use.hpp"

namespace kiln::tools {
namespace {

/// The shortest leading dimension of at least `row` elements whose rows all start on `alignment`
/// bytes and no more: another alignment would be another problem.
std::int64_t leading_dimension(std::int64_t row, std::int64_t alignment, DType type) {
  const std::int64_t bytes = size_bytes(type);
  const std::int64_t step = std::max<std::int64_t>(1, alignment / bytes) * packed_values(type);
  return (row + step - 1) / step * step;
}

}  // namespace

ProblemCase gemm_case_of_problem(const Problem& problem) {
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
  if (problem.epilogue.empty()) {
    return problem_case({normalised(gemm), 1.0, gemm.reads_c ? 1.0 : 0.0});
  }
  gemm.epilogue = Epilogue(problem.epilogue);
  return problem_case({normalised(gemm), 1.0, 0.0});
}

std::string gemm_snippet(const ProblemCase& one) {
  const Gemm gemm = gemm_of(one);
  const auto storage = [](Storage s) { return s == Storage::n ? "n" : "t"; };
  const auto type = [](DType t) { return fmt::format("kiln::DType::{}", to_string(t)); };
  const auto name = short_dtype(gemm);
  const DType form = name.empty() ? gemm.a : *parse_dtype(name);
  std::string text = fmt::format(
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
    text +=
        fmt::format("problem.epilogue = kiln::Epilogue({});\n", cpp_literal(gemm.epilogue.text()));
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

}  // namespace kiln::tools
