// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kiln/gemm.hpp"
#include "templates/kernel_template.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "templates/operation/problem.hpp"

namespace kiln::testing {

/// A problem of a template's row of element types, the sizes left open. As `turn` grows the types
/// rotate through what the row allows: every second slot backwards, and one further in each round,
/// so that slots with the same choices occur in all combinations.
[[nodiscard]] inline Gemm gemm_of_row(const TypeRow& row, std::size_t turn, Storage a, Storage b,
                                      int alignment, bool reads_c) {
  std::map<std::string, DType> types;
  bool backwards = false;
  for (const auto& slot : row.slots) {
    if (slot.allowed.empty()) continue;
    const std::size_t count = slot.allowed.size();
    const std::size_t at = backwards ? turn / count + count - turn % count : turn;
    types[slot.name] = slot.allowed[at % count];
    backwards = !backwards;
  }
  for (const auto& slot : row.slots) {
    if (slot.allowed.empty()) types[slot.name] = types.at(slot.same_as.front());
  }
  Gemm gemm;
  gemm.a = types.at("a");
  gemm.b = types.at("b");
  gemm.c = types.at("c");
  gemm.d = types.at("d");
  gemm.acc = types.at("acc");
  gemm.storage_a = a;
  gemm.storage_b = b;
  gemm.alignment_a = gemm.alignment_b = gemm.alignment_c = gemm.alignment_d = alignment;
  gemm.reads_c = reads_c;
  return gemm;
}

/// A row, and a turn for gemm_of_row.
struct TypeChoice {
  const TypeRow* row;
  std::size_t turn;
};

/// The fewest for which every type of every slot of every row occurs.
[[nodiscard]] inline std::vector<TypeChoice> type_choices(const KernelTemplate& kernel) {
  std::vector<TypeChoice> choices;
  for (const TypeRow& row : kernel.type_rows()) {
    std::size_t most = 1;
    for (const auto& slot : row.slots) most = std::max(most, slot.allowed.size());
    for (std::size_t turn = 0; turn < most; ++turn) choices.push_back({&row, turn});
  }
  return choices;
}

/// Problem `turn` of a template, the sizes left open: all type choices in turn, in each round
/// with other layouts; every eight problems have all layouts with and without C, every third one
/// has operands without alignment. Of `problems` problems, if that is fewer than there are type
/// choices, each has another one, from the first to the last.
[[nodiscard]] inline Gemm gemm_of_turn(const KernelTemplate& kernel, std::size_t turn,
                                       std::size_t problems = SIZE_MAX) {
  const auto choices = type_choices(kernel);
  const std::size_t at = problems < choices.size()
                             ? turn * choices.size() / problems
                             : (turn + turn / choices.size()) % choices.size();
  const TypeChoice& choice = choices[at];
  const auto storage = [&](unsigned bit) {
    return (turn >> bit & 1U) != 0 ? Storage::t : Storage::n;
  };
  return gemm_of_row(*choice.row, choice.turn, storage(0), storage(1), turn % 3 == 2 ? 1 : 16,
                     (turn >> 2U & 1U) != 0);
}

/// The problem, or the same with both operands along k in aligned rows and few rows of D if the
/// template takes that and not what was asked for.
[[nodiscard]] inline Gemm supported_gemm(const KernelTemplate& kernel, Gemm gemm,
                                         const DeviceLimits& limits) {
  if (!kernel.why_unsupported(to_problem(gemm), limits)) return gemm;
  Gemm along = gemm;
  along.m = std::min<std::int64_t>(along.m, 40);
  along.storage_a = Storage::n;
  along.storage_b = Storage::t;
  along.alignment_a = along.alignment_b = along.alignment_c = along.alignment_d = 16;
  // Rows of packed values may need a longer leading dimension to start on 16 bytes.
  if (const std::int64_t line = 16 * packed_values(gemm.a); line > 16) {
    along.lda = along.ldb = (gemm.k + line - 1) / line * line;
  }
  return kernel.why_unsupported(to_problem(along), limits) ? gemm : along;
}

}  // namespace kiln::testing
