// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Lines of suites in the short form, which are gemms.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "kiln/error.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/suite.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::tools {
namespace {

std::int64_t size_of_word(const std::string& word) {
  std::int64_t value = 0;
  const auto* const last = word.data() + word.size();
  const auto [end, status] = std::from_chars(word.data(), last, value);
  if (status == std::errc{} && end == last) return value;
  throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a size; write a whole number", word));
}

}  // namespace

ProblemCase short_line_case(const std::vector<std::string>& words) {
  const auto type = parse_dtype(words[1]);
  if (!type) {
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is not an element type; choose from {}",
                                              words[1], fmt::join(kDTypeNames, ", ")));
  }
  const auto layout = parse_layout(words[5]);
  if (!layout) {
    throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a layout; choose from {}", words[5],
                                              fmt::join(find_value_kind("XY")->words(), ", ")));
  }
  Gemm gemm = Gemm::of(*type, size_of_word(words[2]), size_of_word(words[3]),
                       size_of_word(words[4]), layout->first, layout->second);
  std::string expression;
  for (std::size_t i = 6; i < words.size(); ++i) expression += " " + words[i];
  if (!expression.empty()) gemm.epilogue = Epilogue(expression.substr(1));
  gemm = normalised(gemm);
  // Any factor but 0 asks for kernels that read C.
  return problem_case({gemm, 1.0, gemm.reads_c ? 1.0 : 0.0});
}

}  // namespace kiln::tools
