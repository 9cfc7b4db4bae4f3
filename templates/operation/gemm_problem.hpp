// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kiln/gemm.hpp"
#include "templates/operation/problem.hpp"

namespace kiln {

/// Checks sizes (0 to 2^31-1), leading dimensions (0 or at least the row length, product with the
/// rows below 2^63 bytes), alignments (powers of two, 1 to 4096; raised to the element's size, to
/// which elements are aligned anyway) and fills tight leading dimensions. If C is not read, its
/// description is replaced by D's; an epilogue decides whether it is. Throws Error(usage) that
/// names the field.
[[nodiscard]] Gemm normalised(const Gemm& gemm);

/// The problem of a (normalised or not) Gemm:
///   sizes  m n k
///   types  a b c d acc
///   traits trans_a trans_b (0 stored as written, 1 transposed), align_a align_b align_c align_d
///          (bytes, a power of two from 1 to 16 that every row of the operand starts on, address
///          and leading dimension together), reads_c (0 or 1)
/// Leading dimensions enter it only through the alignment traits: they don't change which kernel is
/// right.
[[nodiscard]] Problem to_problem(const Gemm& gemm);
/// The same for what normalised() returned, which is not checked again.
[[nodiscard]] Problem problem_of_normal(const Gemm& normal);

/// Whether D is computed in whole numbers, alpha and beta too: an s32 accumulator with a D of s32.
[[nodiscard]] bool has_whole_factors(const Gemm& gemm);
/// The largest alpha or beta that its kernels compute with.
[[nodiscard]] double largest_factor(const Gemm& gemm);
/// The type that D is computed in from the sum of products: f64, s32 (see has_whole_factors) or
/// f32.
[[nodiscard]] DType epilogue_type(const Gemm& gemm);

/// Throws Error(usage) unless there is a Gemm whose problem this is. It has all names of the
/// operation.
void check_gemm_problem(const Problem& problem);

}  // namespace kiln
