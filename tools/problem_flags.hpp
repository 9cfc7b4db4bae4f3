// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/gemm.hpp"

namespace CLI {
class App;
}

namespace kiln::tools {

/// One gemm problem with its scalars.
struct GemmRequest {
  Gemm gemm;
  double alpha = 1.0;
  double beta = 0.0;
};

/// Stands in for a size where sizes decide little: what templates can do, what they look like.
inline constexpr std::int64_t kDefaultSize = 4096;

/// The title of the flags of a problem.
inline constexpr std::string_view kProblemGroup = "Problem";

/// The operation and its flags, as every verb that takes a problem spells them.
class ProblemFlags {
 public:
  enum class Operation { required, optional, none };

  /// `operation`: whether the word `gemm` must stand before the flags.
  void add_to(CLI::App& verb, Operation operation);
  /// Whether any of them was given.
  [[nodiscard]] bool given() const;
  /// For verbs that take one problem or a list of them, which `list` names ("--suite"; "" where
  /// there is none): throws Error(usage) when there is neither, or a list and a flag of a problem,
  /// which it would ignore.
  void check_list(const std::string& list) const;
  /// Which of --m, --n and --k were not given.
  [[nodiscard]] std::vector<std::string> missing_sizes() const;
  /// The problem. Throws Error(usage) that names the flag. Sizes are required unless
  /// `default_size` is set.
  [[nodiscard]] GemmRequest request(std::int64_t default_size = 0) const;

 private:
  [[nodiscard]] std::vector<std::string> given_flags() const;

  CLI::App* verb_ = nullptr;
  std::string operation_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  std::string dtype_ = "f16";
  std::string a_, b_, c_, d_, acc_;
  std::string layout_ = "nn";
  std::int64_t lda_ = 0, ldb_ = 0, ldc_ = 0, ldd_ = 0;
  int align_a_ = 16, align_b_ = 16, align_c_ = 16, align_d_ = 16;
  double alpha_ = 1.0, beta_ = 0.0;
  std::string epilogue_;
};

/// The element type of that name. Throws Error(usage): "--dtype f61: ...".
[[nodiscard]] DType checked_dtype(std::string_view flag, std::string_view name);

/// The shortest flags that give the problem back: "--m 4096 --n 4096 --k 4096 --dtype f16".
[[nodiscard]] std::string flags_text(const GemmRequest& request);

/// A leading dimension or an alignment, as a flag and as a field of Gemm.
struct Placement {
  const char* flag;
  const char* field;
  std::int64_t value;
};
/// Those that tight matrices of the default alignment would not have; C's only when it is read.
[[nodiscard]] std::vector<Placement> unusual_placement(const Gemm& gemm);

/// "4096 x 4096 x 4096 f16 nt", for headings. Types are spelt out when no short form has them.
[[nodiscard]] std::string heading_text(const Gemm& gemm);

/// The name of the short form that gives the types of `gemm`, or "".
[[nodiscard]] std::string_view short_dtype(const Gemm& gemm);

}  // namespace kiln::tools
