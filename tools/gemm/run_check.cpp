// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/gemm/run_check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "common/verify_check.cuh"
#include "templates/epilogue/epilogue_value.hpp"
#include "tuner/gemm/error_bound.hpp"
#include "tuner/gemm/peaks.hpp"

namespace kiln::tools {
namespace {

/// One element of D in float64, with the sum of absolute terms that its error bound scales with.
struct Expected {
  double value = 0.0;
  double magnitude = 0.0;
};

/// The element of a row or column operand that belongs to an element of D.
std::int64_t element_of(OperandExtent extent, std::int64_t row, std::int64_t column) {
  return extent == OperandExtent::one ? 0 : extent == OperandExtent::row ? row : column;
}

/// What the expression makes of an element, and how far a kernel may be from that. What amax()
/// records of it goes to `peaks`.
template <class Compute>
Expected finished(const GemmCase& request, const HostOperands& operands, std::int64_t row,
                  std::int64_t column, const Expected& sum, PeakRanges& peaks) {
  using Number = epilogue::Bounded<Compute>;
  const EpilogueExpression& expression = request.gemm.epilogue.entry()->expression;
  const auto of_operand = [&](int index) {
    const auto at = static_cast<std::size_t>(index);
    const HostMatrix& matrix = operands.epilogue[at];
    const OperandExtent extent = expression.operands()[at].extent;
    if (extent == OperandExtent::both) return Number(matrix.at(row, column));
    return Number(matrix.at(0, element_of(extent, row, column)));
  };
  const auto record = [&](int index, const Number& value) {
    const auto at = static_cast<std::size_t>(index);
    const OperandExtent extent = expression.operands()[at].extent;
    auto& range = peaks[at][static_cast<std::size_t>(element_of(extent, row, column))];
    range = epilogue::joined(range, epilogue::peak_range(value));
  };
  const auto of_name = [&](std::string_view name) {
    if (name == "alpha") return Number(request.alpha);
    if (name == "beta") return Number(request.beta);
    if (name == "c") return Number(operands.c.at(row, column));
    const double error =
        error_bound(request.gemm).c_product * sum.magnitude + Number::unit() * std::fabs(sum.value);
    return Number(sum.value, error);
  };
  const Number result = evaluate<Compute>(expression, of_name, of_operand, record);
  return {result.value, result.error};
}

Expected expected_element(const GemmCase& request, const HostOperands& operands, std::int64_t row,
                          std::int64_t column, PeakRanges& peaks) {
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
               ? finished<double>(request, operands, row, column, expected, peaks)
               : finished<float>(request, operands, row, column, expected, peaks);
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

/// One range, of nothing so far, for each number that amax() records.
PeakRanges empty_ranges(const HostOperands& operands) {
  PeakRanges ranges(operands.epilogue.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (!operands.recorded[i]) continue;
    ranges[i].resize(static_cast<std::size_t>(operands.epilogue[i].pitch()));
  }
  return ranges;
}

/// Compares what was recorded. Elements that were not looked at may be larger, unless `all` were.
void check_peaks(const GemmCase& request, const HostOperands& operands, const PeakRanges& ranges,
                 bool all, RunCheck& check) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t at = 0; at < ranges[i].size(); ++at) {
      epilogue::PeakRange range = ranges[i][at];
      if (!all) range.most = std::numeric_limits<double>::infinity();
      const double recorded = operands.epilogue[i].at(0, static_cast<std::int64_t>(at));
      if (may_be_recorded(range, recorded, epilogue_type(request.gemm))) continue;
      if (check.wrong++ == 0) {
        check.evidence = fmt::format("{}, element {}: {}",
                                     request.gemm.epilogue.operand_name(static_cast<int>(i)), at,
                                     peak_text(range, recorded));
      }
    }
  }
}

}  // namespace

HostOperands::HostOperands(const GemmCase& request)
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
    recorded.push_back(slot.recorded);
  }
}

RunCheck check_result(const GemmCase& request, const HostOperands& operands, std::int64_t limit,
                      std::uint64_t seed) {
  const auto& gemm = request.gemm;
  const ErrorBound bound = error_bound(gemm);
  const auto kind = static_cast<ElementKind>(gemm.d);
  RunCheck check;
  PeakRanges peaks = empty_ranges(operands);
  const auto compare = [&](std::int64_t row, std::int64_t column) {
    const Expected expected = expected_element(request, operands, row, column, peaks);
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
      check.evidence = fmt::format("row {} column {}: {}, expected {} (allowed error {})", row,
                                   column, found.value, found.expected, found.bound);
    }
  };
  if (gemm.m == 0 || gemm.n == 0) return check;
  if (gemm.m <= limit / gemm.n) {
    for (std::int64_t row = 0; row < gemm.m; ++row) {
      for (std::int64_t column = 0; column < gemm.n; ++column) compare(row, column);
    }
    check_peaks(request, operands, peaks, true, check);
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
  check_peaks(request, operands, peaks, false, check);
  return check;
}

}  // namespace kiln::tools
