// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/operation_flags.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::tools {

/// The flags of a gemm: the short form of its types, layouts, leading dimensions, an epilogue.
class GemmFlags : public OperationFlags {
 public:
  void add_to(CLI::App& verb) override;
  [[nodiscard]] std::vector<std::string> size_flags() const override;
  [[nodiscard]] ProblemCase request(std::int64_t default_size) const override;

 private:
  CLI::App* verb_ = nullptr;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  std::string dtype_ = "f16";
  std::string a_, b_, c_, d_, acc_;
  std::string layout_ = "nn";
  std::int64_t lda_ = 0, ldb_ = 0, ldc_ = 0, ldd_ = 0;
  int align_a_ = 16, align_b_ = 16, align_c_ = 16, align_d_ = 16;
  double alpha_ = 1.0, beta_ = 0.0;
  std::string epilogue_;
};

/// The shortest flags that give the problem back: "--m 4096 --n 4096 --k 4096 --dtype f16".
[[nodiscard]] std::string gemm_flags_text(const GemmCase& request);
/// "gemm 4096 x 4096 x 4096 f16 nt". Types are spelt out when no short form has them.
[[nodiscard]] std::string gemm_heading_text(const Gemm& gemm);

/// A leading dimension or an alignment, as a flag and as a field of Gemm.
struct Placement {
  const char* flag;
  const char* field;
  std::int64_t value;
};
/// Those that tight matrices of the default alignment would not have; C's only when it is read.
[[nodiscard]] std::vector<Placement> unusual_placement(const Gemm& gemm);

/// The name of the short form that gives the types of `gemm`, or "".
[[nodiscard]] std::string_view short_dtype(const Gemm& gemm);

}  // namespace kiln::tools
