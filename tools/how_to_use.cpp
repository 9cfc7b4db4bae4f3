// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/how_to_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/device.hpp"

namespace kiln::tools {
namespace {

/// The shortest leading dimension of at least `row` elements whose rows all start on `alignment`
/// bytes and no more: another alignment would be another problem.
std::int64_t leading_dimension(std::int64_t row, std::int64_t alignment, DType type) {
  const std::int64_t bytes = size_bytes(type);
  const std::int64_t step = std::max<std::int64_t>(1, alignment / bytes);
  return (row + step - 1) / step * step;
}

}  // namespace

GemmRequest request_of(const Problem& problem) {
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
    const std::int64_t pitch = std::gcd(ld * size_bytes(type), std::int64_t{16});
    address = pitch > alignment ? static_cast<int>(alignment) : 16;
  };
  settle("align_a", gemm.storage_a == Storage::n ? gemm.k : gemm.m, gemm.a, gemm.lda,
         gemm.alignment_a);
  settle("align_b", gemm.storage_b == Storage::n ? gemm.n : gemm.k, gemm.b, gemm.ldb,
         gemm.alignment_b);
  settle("align_c", gemm.n, gemm.c, gemm.ldc, gemm.alignment_c);
  settle("align_d", gemm.n, gemm.d, gemm.ldd, gemm.alignment_d);
  return {normalised(gemm), 1.0, gemm.reads_c ? 1.0 : 0.0};
}

std::string cpp_snippet(const Gemm& gemm, const std::string& device) {
  const auto storage = [](Storage s) { return s == Storage::n ? "n" : "t"; };
  const auto type = [](DType t) { return fmt::format("kiln::DType::{}", to_string(t)); };
  std::string text = fmt::format("auto library = kiln::Library::open({});\n",
                                 device.empty() ? "" : fmt::format("{{.device = \"{}\"}}", device));
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
  if (gemm.reads_c) text += "problem.reads_c = true;\n";
  text +=
      gemm.reads_c
          ? "library.get(problem).launch(stream, {.a = a, .b = b, .c = c, .d = d, .beta = 1});\n"
          : "library.get(problem).launch(stream, {.a = a, .b = b, .d = d});\n";
  return text;
}

std::string next_steps(const GemmRequest& request, const std::string& device) {
  const auto flags = flags_text(request);
  const bool emulated = names_emulated_device(device);
  std::string text = "\nuse it\n";
  const auto add = [&](std::string_view verb, const std::string& more) {
    text += fmt::format("  kiln {} gemm {}{}\n", verb, flags, more);
  };
  add("show", "");
  if (emulated) {
    for (const char* verb : {"verify", "inspect", "run"}) add(verb, " --device " + device);
  } else {
    add("bench", " --against cublaslt");
    add("run", "");
  }
  text += "or in C++ (#include <kiln/kiln.hpp>)\n";
  std::string snippet = cpp_snippet(request.gemm, emulated ? device : "");
  for (std::size_t start = 0; start < snippet.size();) {
    const auto end = snippet.find('\n', start);
    text += fmt::format("  {}\n", snippet.substr(start, end - start));
    start = end + 1;
  }
  return text;
}

}  // namespace kiln::tools
