// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"

namespace kiln {
namespace {

MatrixShape matrix_shape(std::int64_t rows, std::int64_t cols, std::int64_t ld, DType type,
                         int promised) {
  return {rows, elements_of(cols, type), ld / packed_values(type), type,
          real_alignment(promised, type)};
}

/// Elements that an expression reads one by one may start anywhere, and do where D has an odd
/// number of columns, as in cases that are checked; libraries get what allocators give. Rows are
/// longer than D's, so that a kernel which takes one length for the other is caught.
MatrixShape shape_of_slot(const EpilogueSlot& slot, const Gemm& gemm) {
  constexpr std::int64_t kMore = 8;
  const DType type = element_type(slot, gemm.d);
  const int alignment = gemm.n % 2 == 1 ? size_bytes(type) : real_alignment(16, type);
  switch (slot.extent) {
    case OperandExtent::one:
      return {1, 1, 1, type, alignment, slot.recorded};
    case OperandExtent::row:
      return {1, gemm.m, gemm.m, type, alignment, slot.recorded};
    case OperandExtent::column:
      return {1, gemm.n, gemm.n, type, alignment, slot.recorded};
    case OperandExtent::both:
      return {gemm.m, gemm.n, gemm.n + kMore, type, alignment};
  }
  return {};
}

std::vector<OperandPlan> operand_plans(const Gemm& gemm) {
  const bool a_as_written = gemm.storage_a == Storage::n;
  const bool b_as_written = gemm.storage_b == Storage::n;
  std::vector<OperandPlan> plans(kFirstEpilogueOperand);
  plans[kOperandA] = {"A",
                      OperandRole::in,
                      true,
                      matrix_shape(a_as_written ? gemm.m : gemm.k, a_as_written ? gemm.k : gemm.m,
                                   gemm.lda, gemm.a, gemm.alignment_a),
                      {}};
  plans[kOperandB] = {"B",
                      OperandRole::in,
                      true,
                      matrix_shape(b_as_written ? gemm.k : gemm.n, b_as_written ? gemm.n : gemm.k,
                                   gemm.ldb, gemm.b, gemm.alignment_b),
                      {}};
  plans[kOperandC] = {"C",
                      OperandRole::in,
                      gemm.reads_c,
                      matrix_shape(gemm.m, gemm.n, gemm.ldc, gemm.c, gemm.alignment_c),
                      {}};
  plans[kOperandD] = {"D",
                      OperandRole::out,
                      true,
                      matrix_shape(gemm.m, gemm.n, gemm.ldd, gemm.d, gemm.alignment_d),
                      {}};
  const auto* const entry = gemm.epilogue.entry();
  if (entry == nullptr) return plans;
  for (const EpilogueSlot& slot : entry->expression.operands()) {
    plans.push_back({slot.name, OperandRole::in, true, shape_of_slot(slot, gemm), {}});
  }
  return plans;
}

/// The expression of a problem, whose operands all say their type, without those that they have
/// anyway.
Epilogue as_written(const std::string& canonical, DType d) {
  std::string text = canonical;
  const std::string usual = fmt::format(":{}[", to_string(d));
  for (auto at = text.find(usual); at != std::string::npos; at = text.find(usual, at)) {
    text.erase(at, usual.size() - 1);
  }
  // The colon of a choice can stand before an operand that has a type's name.
  try {
    const Epilogue shorter(text);
    if (shorter.entry()->expression.canonical(d) == canonical) return shorter;
  } catch (const Error&) {
  }
  return Epilogue(canonical);
}

}  // namespace

ProblemCase problem_case(const GemmCase& one) {
  const Gemm gemm = normalised(one.gemm);
  if (one.beta != 0.0 && !gemm.reads_c && gemm.epilogue.is_default()) {
    throw Error(ErrorKind::usage,
                "beta is not zero, but the problem does not read C. Next: set reads_c to true, or "
                "leave beta out");
  }
  return {to_problem(gemm),
          operand_plans(gemm),
          {one.alpha, one.beta},
          static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k)};
}

std::vector<ProblemCase> problem_cases(const std::vector<GemmCase>& cases) {
  std::vector<ProblemCase> result;
  result.reserve(cases.size());
  for (const GemmCase& one : cases) result.push_back(problem_case(one));
  return result;
}

Gemm gemm_of(const ProblemCase& one) {
  const Problem& problem = one.problem;
  Gemm gemm;
  gemm.m = *problem.size("m");
  gemm.n = *problem.size("n");
  gemm.k = *problem.size("k");
  gemm.a = *problem.type("a");
  gemm.b = *problem.type("b");
  gemm.c = *problem.type("c");
  gemm.d = *problem.type("d");
  gemm.acc = *problem.type("acc");
  gemm.storage_a = problem.trait("trans_a") == 1 ? Storage::t : Storage::n;
  gemm.storage_b = problem.trait("trans_b") == 1 ? Storage::t : Storage::n;
  const auto place = [&](std::size_t operand, std::int64_t& ld, int& alignment) {
    const MatrixShape& shape = one.operands[operand].shape;
    ld = shape.ld * packed_values(shape.type);
    alignment = shape.alignment == kAllocatorsAlignment ? kPromisedAlignment : shape.alignment;
  };
  place(kOperandA, gemm.lda, gemm.alignment_a);
  place(kOperandB, gemm.ldb, gemm.alignment_b);
  place(kOperandC, gemm.ldc, gemm.alignment_c);
  place(kOperandD, gemm.ldd, gemm.alignment_d);
  gemm.reads_c = problem.trait("reads_c") == 1;
  if (!problem.epilogue.empty()) gemm.epilogue = as_written(problem.epilogue, gemm.d);
  return gemm;
}

GemmCase gemm_case_of(const ProblemCase& one) {
  return {gemm_of(one), one.scalars.at(0).as_double(), one.scalars.at(1).as_double()};
}

ArgumentPlan plan_gemm_argument(const ProblemCase& one) {
  const auto ld = [&](std::size_t operand) {
    const MatrixShape& shape = one.operands[operand].shape;
    return shape.ld * packed_values(shape.type);
  };
  GemmArgs args{};
  args.lda = ld(kOperandA);
  args.ldb = ld(kOperandB);
  args.ldc = ld(kOperandC);
  args.ldd = ld(kOperandD);
  args.m = static_cast<int>(*one.problem.size("m"));
  args.n = static_cast<int>(*one.problem.size("n"));
  args.k = static_cast<int>(*one.problem.size("k"));

  using enum ArgumentPatch::Source;
  ArgumentPlan plan;
  const auto patch = [&](ArgumentPatch::Source source, std::size_t index, std::size_t at) {
    plan.patches.push_back({source, NumberType::f64, static_cast<std::uint16_t>(index),
                            static_cast<std::uint16_t>(at), 0});
  };
  patch(operand, kOperandA, offsetof(GemmArgs, a));
  patch(operand, kOperandB, offsetof(GemmArgs, b));
  patch(operand, kOperandC, offsetof(GemmArgs, c));
  patch(operand, kOperandD, offsetof(GemmArgs, d));
  patch(workspace, 0, offsetof(GemmArgs, workspace));
  patch(scalar, 0, offsetof(GemmArgs, alpha));
  patch(scalar, 1, offsetof(GemmArgs, beta));
  for (std::size_t i = kFirstEpilogueOperand; i < one.operands.size(); ++i) {
    const std::size_t index = i - kFirstEpilogueOperand;
    args.operand_ld[index] = one.operands[i].shape.ld;
    patch(operand, i, offsetof(GemmArgs, operand) + index * sizeof(void*));
  }
  plan.image.resize(sizeof(args));
  std::memcpy(plan.image.data(), &args, sizeof(args));
  return plan;
}

GemmArgs gemm_argument(const ProblemCase& one, const RunArguments& run) {
  GemmArgs args{};
  fill_argument(plan_gemm_argument(one), {run.operands, {}, {}, run.scalars, run.workspace}, &args);
  return args;
}

bool may_be_in_place(const Gemm& gemm) {
  return gemm.reads_c && gemm.c == gemm.d && gemm.ldc == gemm.ldd &&
         gemm.alignment_c <= gemm.alignment_d;
}

}  // namespace kiln
