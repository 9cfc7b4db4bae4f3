// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/oracle.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tuner/session/typed_tuning.hpp"
#include "tuner/verify/roundoff.hpp"

namespace kiln {

RunOperands run_operands(const OperandSet& operands) {
  RunOperands run;
  for (std::size_t i = 0; i < operands.count(); ++i) {
    run.push_back(operands.plan(i).present ? &operands[i] : nullptr);
  }
  return run;
}

namespace {

/// An element as its type has it: all digits of a 64-bit integer, both parts of a complex number.
std::string element_text(DType type, double value, double imaginary, std::uint64_t bits) {
  if (type == DType::u64) return fmt::format("{}", bits);
  if (type == DType::s64) return fmt::format("{}", static_cast<std::int64_t>(bits));
  if (is_complex(type)) return fmt::format("({:g}, {:g})", value, imaginary);
  return fmt::format("{:g}", value);
}

/// No kernel is better than one rounding of what it stores.
std::string too_small_text(const WrongOutput& wrong) {
  const CompareResult& found = wrong.found;
  const double rounding =
      unit_roundoff(wrong.type) * std::hypot(found.first_expected, found.first_expected_imaginary);
  if (found.first_bound <= 0.0 || !(found.first_bound < rounding)) return "";
  return fmt::format(", which is less than one rounding error of {}: {:.2g}", to_string(wrong.type),
                     rounding);
}

}  // namespace

std::string describe(const WrongOutput& wrong) {
  if (!wrong.has_place) return fmt::format("{} rejects the result", wrong.checker);
  const CompareResult& found = wrong.found;
  const std::string value = wrong.unwritten
                                ? "never written"
                                : element_text(wrong.type, found.first_value,
                                               found.first_value_imaginary, found.first_value_bits);
  MatrixShape shape;
  shape.line = wrong.line;
  const std::string place =
      fmt::format("{}: {}", element_place(shape, wrong.row, wrong.col), value);
  if (!wrong.checker.empty()) return fmt::format("{}, which {} rejects", place, wrong.checker);
  if (std::isnan(found.first_expected) || std::isnan(found.first_expected_imaginary)) {
    return fmt::format(
        "{}, but the reference gives NaN: correct the reference, or fill the inputs with numbers "
        "that do not lead to NaN",
        place);
  }
  const std::string expected = element_text(
      wrong.type, found.first_expected, found.first_expected_imaginary, found.first_expected_bits);
  if (value != expected) {
    return fmt::format("{}, expected {} (allowed error {:.3g}{})", place, expected,
                       found.first_bound, too_small_text(wrong));
  }
  return fmt::format("{}, error {:.3g} (allowed error {:.3g}{})", place,
                     std::hypot(found.first_value - found.first_expected,
                                found.first_value_imaginary - found.first_expected_imaginary),
                     found.first_bound, too_small_text(wrong));
}

std::string excess_text(double worst_ratio, std::uint64_t failures) {
  if (!std::isfinite(worst_ratio) || worst_ratio <= 1.0) return "";
  const int digits = worst_ratio < 2.0 ? 2 : worst_ratio < 100.0 ? 1 : 0;
  return fmt::format("; the {}error is {:.{}f} times the allowed error",
                     failures == 1 ? "" : "largest ", worst_ratio, digits);
}

std::unique_ptr<OracleSource> make_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                           const EvaluationSetup& setup) {
  const auto* const typed = find_typed_tuning(setup.cases.front().problem.operation);
  return typed == nullptr ? make_declared_oracles(ledger, kernels, setup)
                          : typed->oracles(ledger, kernels, setup);
}

}  // namespace kiln
