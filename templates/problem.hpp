// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/gemm.hpp"
#include "kiln/operation.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// One instance of an operation, as seen by templates, database and tuner: what applications
/// describe by a Gemm or an OperationProblem, with every field in the operation's order, so that
/// equal problems have equal texts. `sizes` may differ in a nearest match, `types` and `traits`
/// never. For gemm:
///   sizes  m n k
///   types  a b c d acc
///   traits trans_a trans_b (0 stored as written, 1 transposed), align_a align_b align_c align_d
///          (bytes, a power of two from 1 to 16 that every row of the operand starts on, address
///          and leading dimension together), reads_c (0 or 1)
struct Problem {
  std::string operation;
  std::vector<NamedValue> sizes;
  std::vector<NamedType> types;
  std::vector<NamedValue> traits;
  /// The expression that D is computed by, in canonical text with every operand's type
  /// (templates/epilogue.hpp); "" for that of the operation. It distinguishes kinds as traits do.
  std::string epilogue;

  [[nodiscard]] std::optional<std::int64_t> size(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> trait(std::string_view name) const;
  [[nodiscard]] std::optional<DType> type(std::string_view slot) const;

  /// "m=4096 n=4096 k=4096": the part in which a nearest match may differ.
  [[nodiscard]] std::string sizes_text() const;
  /// "gemm a=f16 b=f16 c=f16 d=f16 acc=f32 trans_a=0 ... reads_c=0": the part that must be equal;
  /// with an epilogue, that follows as "epilogue=...".
  [[nodiscard]] std::string kind_text() const;
  /// kind_text, " | ", sizes_text: the canonical text of the problem.
  [[nodiscard]] std::string canonical() const;
  /// Reads canonical text. Throws Error(usage) naming the faulty field.
  [[nodiscard]] static Problem parse(std::string_view canonical);

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// Checks sizes (0 to 2^31-1), leading dimensions (0 or at least the row length, product with the
/// rows below 2^63 bytes), alignments (powers of two, 1 to 4096; raised to the element's size, to
/// which elements are aligned anyway) and fills tight leading dimensions. If C is not read, its
/// description is replaced by D's; an epilogue decides whether it is. Throws Error(usage) that
/// names the field.
[[nodiscard]] Gemm normalised(const Gemm& gemm);

/// The problem of a (normalised or not) Gemm. Leading dimensions enter it only through the
/// alignment traits: they don't change which kernel is right.
[[nodiscard]] Problem to_problem(const Gemm& gemm);

/// Whether D is computed in whole numbers, alpha and beta too: an s32 accumulator with a D of s32.
[[nodiscard]] bool has_whole_factors(const Gemm& gemm);
/// The largest alpha or beta that its kernels compute with.
[[nodiscard]] double largest_factor(const Gemm& gemm);
/// The type that D is computed in from the sum of products: f64, s32 (see has_whole_factors) or
/// f32.
[[nodiscard]] DType epilogue_type(const Gemm& gemm);

/// What is left to do of a problem, sizes of 0 considered.
enum class Work : std::uint8_t {
  all,
  scaling,  ///< of a gemm whose k is 0: D = beta * C, and A and B have no elements
  none,     ///< no result has elements
};
[[nodiscard]] Work work_of(const Problem& problem);

/// What is said of a problem with Work::none: "D has no elements".
[[nodiscard]] std::string_view no_results_text(const Problem& problem);

/// Why no kernel is sought for a problem with less to do, "nothing to tune: ..."; else "".
[[nodiscard]] std::string why_nothing_to_tune(const Problem& problem);

/// "nt" and the like to storage of A and B; nothing if malformed.
[[nodiscard]] std::optional<std::pair<Storage, Storage>> parse_layout(std::string_view letters);
[[nodiscard]] std::string layout_text(Storage a, Storage b);

}  // namespace kiln
