// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation.hpp"

#include <algorithm>
#include <cstddef>

#include "templates/kernels/common/gemm_args.cuh"

namespace kiln {
namespace {

double size_of(const Problem& problem, std::string_view name) {
  return static_cast<double>(problem.size(name).value_or(0));
}

double bytes_of(const Problem& problem, std::string_view slot) {
  const auto type = problem.type(slot);
  return type ? static_cast<double>(size_bytes(*type)) / packed_values(*type) : 0.0;
}

double gemm_flops(const Problem& problem) {
  return 2.0 * size_of(problem, "m") * size_of(problem, "n") * size_of(problem, "k");
}

double gemm_bytes(const Problem& problem) {
  const double m = size_of(problem, "m");
  const double n = size_of(problem, "n");
  const double k = size_of(problem, "k");
  const double read_c = problem.trait("reads_c").value_or(0) != 0 ? bytes_of(problem, "c") : 0.0;
  return m * k * bytes_of(problem, "a") + k * n * bytes_of(problem, "b") +
         m * n * (bytes_of(problem, "d") + read_c);
}

}  // namespace

const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{
      {.name = "gemm",
       .purpose = "General matrix multiplication: D = alpha * op(A) * op(B) + beta * C",
       .size_names = {"m", "n", "k"},
       .type_slots = {"a", "b", "c", "d", "acc"},
       .trait_names = {"trans_a", "trans_b", "align_a", "align_b", "align_c", "align_d", "reads_c"},
       .operands = {{"a", offsetof(GemmArgs, a), offsetof(GemmArgs, lda)},
                    {"b", offsetof(GemmArgs, b), offsetof(GemmArgs, ldb)},
                    {"c", offsetof(GemmArgs, c), offsetof(GemmArgs, ldc)},
                    {"d", offsetof(GemmArgs, d), offsetof(GemmArgs, ldd)}},
       .workspace_at = offsetof(GemmArgs, workspace),
       .flops = gemm_flops,
       .bytes = gemm_bytes},
  };
  return all;
}

const OperandPlace* Operation::operand(std::string_view slot) const {
  const auto found = std::ranges::find(operands, slot, &OperandPlace::slot);
  return found == operands.end() ? nullptr : &*found;
}

const Operation* find_operation(std::string_view name) {
  const auto& all = operations();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Operation& o) { return o.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace kiln
