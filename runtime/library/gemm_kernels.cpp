// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/gemm_kernels.hpp"

#include <memory>
#include <utility>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"

namespace kiln::detail {
namespace {

/// The bits of an address that must be zero for rows to start on multiples of `alignment` bytes.
std::uintptr_t alignment_mask(const Problem& problem, const char* trait) {
  return static_cast<std::uintptr_t>(problem.trait(trait).value_or(1) - 1);
}

std::unique_ptr<const GemmEntry> make_gemm_entry(const Gemm& gemm, const Problem& problem,
                                                 const GemmKey& key, KernelEntry common) {
  auto entry = std::make_unique<GemmEntry>(std::move(common));
  entry->key = key;
  entry->mask_a = alignment_mask(problem, "align_a");
  entry->mask_b = alignment_mask(problem, "align_b");
  entry->mask_c = alignment_mask(problem, "align_c");
  entry->mask_d = alignment_mask(problem, "align_d");
  entry->m = static_cast<int>(gemm.m);
  entry->n = static_cast<int>(gemm.n);
  entry->k = static_cast<int>(gemm.k);
  entry->reads_c = gemm.reads_c;
  entry->whole_scalars = has_whole_factors(gemm);
  entry->largest_scalar = largest_factor(gemm);
  if (const EpilogueEntry* const epilogue = gemm.epilogue.entry()) {
    const EpilogueExpression& expression = epilogue->expression;
    entry->epilogue = gemm.epilogue;
    entry->names_alpha = expression.names("alpha");
    entry->names_beta = expression.names("beta");
    for (const EpilogueSlot& slot : expression.operands()) {
      const auto at = static_cast<std::size_t>(entry->epilogue_operands++);
      entry->epilogue_masks[at] =
          static_cast<std::uintptr_t>(size_bytes(element_type(slot, gemm.d)) - 1);
      entry->epilogue_matrices[at] = slot.extent == OperandExtent::both;
    }
  }
  return entry;
}

}  // namespace

std::vector<std::string> gemm_tuner_words(const Gemm& gemm) {
  std::vector<std::string> words{"gemm"};
  const auto add = [&words](const char* flag, std::string value) {
    words.emplace_back(flag);
    words.push_back(std::move(value));
  };
  add("--m", std::to_string(gemm.m));
  add("--n", std::to_string(gemm.n));
  add("--k", std::to_string(gemm.k));
  add("--a", std::string(to_string(gemm.a)));
  add("--b", std::string(to_string(gemm.b)));
  add("--c", std::string(to_string(gemm.c)));
  add("--d", std::string(to_string(gemm.d)));
  add("--acc", std::string(to_string(gemm.acc)));
  add("--layout", layout_text(gemm.storage_a, gemm.storage_b));
  add("--lda", std::to_string(gemm.lda));
  add("--ldb", std::to_string(gemm.ldb));
  add("--ldd", std::to_string(gemm.ldd));
  add("--align-a", std::to_string(gemm.alignment_a));
  add("--align-b", std::to_string(gemm.alignment_b));
  add("--align-d", std::to_string(gemm.alignment_d));
  if (!gemm.epilogue.is_default()) add("--epilogue", gemm.epilogue.text());
  if (gemm.reads_c) {
    add("--ldc", std::to_string(gemm.ldc));
    add("--align-c", std::to_string(gemm.alignment_c));
    // Any beta but zero requests kernels that read C; an expression says so itself.
    if (gemm.epilogue.is_default()) add("--beta", "1");
  }
  return words;
}

const GemmEntry* GemmKernels::load(const Gemm& gemm, const GemmRequest& request) {
  const OperationScope scope(loader_.parts().catalog.operations());
  // Throws for whatever makes a request invalid; the two checks differ only for matrices
  // that are larger than any memory.
  const Gemm normal = normalised(gemm);
  if (!request.valid)
    throw Error(ErrorKind::usage, "gemm: an operand has too many bytes for a 64-bit address");
  const Problem problem = problem_of_normal(normal);
  const GemmEntry* entry = nullptr;
  loader_.load({problem, [&] { return gemm_tuner_words(normal); },
                [&] { return (entry = table_.find(request.key)) != nullptr; },
                [&](KernelEntry common) {
                  entry = table_.publish(
                      make_gemm_entry(normal, problem, request.key, std::move(common)));
                }});
  return entry;
}

}  // namespace kiln::detail
