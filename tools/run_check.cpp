// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/run_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

#include "common/verify_math.cuh"
#include "templates/epilogue_value.hpp"
#include "templates/problem.hpp"
#include "tuner/error_bound.hpp"

namespace kiln::tools {
namespace {

/// One element of D in float64, with the sum of absolute terms that its error bound scales with.
struct Expected {
  double value = 0.0;
  double magnitude = 0.0;
};

/// What the expression makes of an element, and how far a kernel may be from that.
template <class Compute>
Expected finished(const GemmRequest& request, const HostOperands& operands, std::int64_t row,
                  std::int64_t column, const Expected& sum) {
  using Number = epilogue::Bounded<Compute>;
  const EpilogueExpression& expression = request.gemm.epilogue.entry()->expression;
  const auto of_operand = [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    const HostMatrix& matrix = operands.epilogue[at];
    switch (expression.operands()[at].extent) {
      case OperandExtent::one:
        return Number(matrix.at(0, 0));
      case OperandExtent::row:
        return Number(matrix.at(0, row));
      case OperandExtent::column:
        return Number(matrix.at(0, column));
      case OperandExtent::both:
        return Number(matrix.at(row, column));
    }
    return Number();
  };
  const auto of_name = [&](std::string_view name) {
    if (name == "alpha") return Number(request.alpha);
    if (name == "beta") return Number(request.beta);
    if (name == "c") return Number(operands.c.at(row, column));
    const double error =
        error_bound(request.gemm).c_product * sum.magnitude + Number::unit() * std::fabs(sum.value);
    return Number(sum.value, error);
  };
  const Number result = evaluate<Compute>(expression, of_name, of_operand);
  return {result.value, result.error};
}

Expected expected_element(const GemmRequest& request, const HostOperands& operands,
                          std::int64_t row, std::int64_t column) {
  Expected expected;
  for (std::int64_t depth = 0; depth < request.gemm.k; ++depth) {
    const double x = operands.a.at(row, depth);
    const double y = operands.b.at(depth, column);
    const double term = request.gemm.a == DType::b1_xor ? std::fabs(x - y) : x * y;
    expected.value += term;
    expected.magnitude += std::fabs(term);
  }
  if (!request.gemm.epilogue.is_default()) {
    return epilogue_type(request.gemm) == DType::f64
               ? finished<double>(request, operands, row, column, expected)
               : finished<float>(request, operands, row, column, expected);
  }
  expected.value *= request.alpha;
  expected.magnitude *= std::fabs(request.alpha);
  if (request.beta != 0.0) {
    const double term = request.beta * operands.c.at(row, column);
    expected.value += term;
    expected.magnitude += std::fabs(term);
  }
  return expected;
}

}  // namespace

HostOperands::HostOperands(const GemmRequest& request)
    : a(request.gemm.a, request.gemm.m, request.gemm.k, request.gemm.storage_a, request.gemm.lda),
      b(request.gemm.b, request.gemm.k, request.gemm.n, request.gemm.storage_b, request.gemm.ldb),
      c(request.gemm.c, request.gemm.m, request.gemm.n, Storage::n, request.gemm.ldc),
      d(request.gemm.d, request.gemm.m, request.gemm.n, Storage::n, request.gemm.ldd) {
  const Gemm& gemm = request.gemm;
  const auto* const entry = gemm.epilogue.entry();
  if (entry == nullptr) return;
  for (const EpilogueSlot& slot : entry->expression.operands()) {
    const bool has_rows = slot.extent == OperandExtent::both;
    const std::int64_t cols = slot.extent == OperandExtent::one   ? 1
                              : slot.extent == OperandExtent::row ? gemm.m
                                                                  : gemm.n;
    epilogue.emplace_back(element_type(slot, gemm.d), has_rows ? gemm.m : 1, cols, Storage::n,
                          cols);
  }
}

RunCheck check_result(const GemmRequest& request, const HostOperands& operands, std::int64_t limit,
                      std::uint64_t seed) {
  const auto& gemm = request.gemm;
  const ErrorBound bound = error_bound(gemm);
  const auto kind = static_cast<ElementKind>(gemm.d);
  RunCheck check;
  const auto compare = [&](std::int64_t row, std::int64_t column) {
    const Expected expected = expected_element(request, operands, row, column);
    const auto bits = operands.d.bits_at(row, column);
    // What the verifier asks of a candidate; integer arithmetic is exact whatever the data.
    const ElementCheck found = has_whole_factors(gemm)
                                   ? check_exact(bits, expected.value, kind)
                                   : check_bounded(bits, expected.value, expected.magnitude,
                                                   bound.u_out, bound.c_factor, kind);
    ++check.checked;
    check.worst_ratio = std::fmax(check.worst_ratio, found.ratio);
    if (found.ok) return;
    if (check.wrong++ == 0) {
      check.evidence = fmt::format("row {} column {}: {}, expected {}, bound {}", row, column,
                                   found.value, found.expected, found.bound);
    }
  };
  if (gemm.m == 0 || gemm.n == 0) return check;
  if (gemm.m <= limit / gemm.n) {
    for (std::int64_t row = 0; row < gemm.m; ++row) {
      for (std::int64_t column = 0; column < gemm.n; ++column) compare(row, column);
    }
    return check;
  }
  for (const auto row : {std::int64_t{0}, gemm.m - 1}) {
    for (const auto column : {std::int64_t{0}, gemm.n - 1}) compare(row, column);
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int64_t> rows(0, gemm.m - 1);
  std::uniform_int_distribution<std::int64_t> columns(0, gemm.n - 1);
  while (check.checked < limit) {
    const auto row = rows(random);
    compare(row, columns(random));
  }
  return check;
}

}  // namespace kiln::tools
