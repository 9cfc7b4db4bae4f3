// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "kiln/gemm.hpp"
#include "templates/kernel_template.hpp"

namespace kiln::testing {

/// A problem of a template's row of element types, the sizes left open. As `turn` grows the types
/// rotate through what the row allows, so that all of them occur.
[[nodiscard]] inline Gemm gemm_of_row(const TypeRow& row, std::size_t turn, Storage a, Storage b,
                                      int alignment, bool reads_c) {
  std::map<std::string, DType> types;
  std::size_t step = turn;
  for (const auto& slot : row.slots) {
    if (slot.allowed.empty()) continue;
    types[slot.name] = slot.allowed[step % slot.allowed.size()];
    step = step / 2 + 1;  // so that two slots with the same choices don't always agree
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

}  // namespace kiln::testing
