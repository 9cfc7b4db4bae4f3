// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/case_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace kiln {
namespace {

constexpr std::int64_t kParts = 8;

/// What a reference may cost: a tenth of a second on a large device. One that can check little is
/// slow, and the candidates are to have most of the time.
double most_work(std::int64_t most_products) {
  constexpr double kUsual = 68719476736.0;  // 2^36
  constexpr double kShare = 16.0;
  return most_products == 0 ? kUsual : static_cast<double>(most_products) / kShare;
}

}  // namespace

CaseParts plan_parts(const Operation& operation, const ProblemCase& one,
                     std::int64_t most_products) {
  const double most = most_work(most_products);
  if (operation.judge.independent.empty() || one.products <= most) return {};
  CaseParts parts;
  parts.size = operation.judge.independent;
  parts.extent = one.problem.size(parts.size).value();
  const double affordable = static_cast<double>(parts.extent) * most / one.products;
  // The kernels may rely on what the declaration says of the size.
  const auto size = std::ranges::find(operation.sizes, parts.size, &SizeSpec::name);
  parts.length =
      std::max({static_cast<std::int64_t>(affordable) / kParts, size->least, std::int64_t{1}});
  if (parts.length * kParts >= parts.extent) return {};
  for (std::size_t i = 0; i < one.operands.size(); ++i) {
    const OperandSpec& spec = operation.operands[i];
    const bool is_part = one.operands[i].present && spec.extents.front().text() == parts.size;
    const std::int64_t rows =
        spec.extents.size() == 1 ? 1 : one.operands[i].shape.rows / parts.extent;
    parts.rows.push_back(is_part ? rows : 0);
  }
  return parts;
}

std::vector<std::int64_t> part_starts(const CaseParts& parts, std::uint64_t seed) {
  if (parts.length == 0) return {0};
  std::vector<std::int64_t> starts{0};
  // Between the first and the last, each of the others lies somewhere in a stretch of its own.
  const std::int64_t stretch = (parts.extent - 2 * parts.length) / (kParts - 2);
  std::mt19937_64 random(seed);
  for (std::int64_t i = 0; i < kParts - 2; ++i) {
    const auto choices = static_cast<std::uint64_t>(stretch - parts.length + 1);
    starts.push_back(parts.length + i * stretch + static_cast<std::int64_t>(random() % choices));
  }
  starts.push_back(parts.extent - parts.length);
  return starts;
}

OperandPart operand_part(const CaseParts& parts, std::size_t operand, const MatrixShape& whole,
                         std::int64_t start) {
  OperandPart part{whole};
  if (parts.length == 0 || parts.rows[operand] == 0) return part;
  if (whole.rows == 1) {
    part.col = start * parts.rows[operand];
    part.shape.cols = part.shape.ld = parts.length * parts.rows[operand];
  } else {
    part.row = start * parts.rows[operand];
    part.shape.rows = parts.length * parts.rows[operand];
  }
  part.offset = (part.row * whole.ld + part.col) * size_bytes(whole.type);
  return part;
}

std::string describe(const CaseParts& parts) {
  if (parts.length == 0) return "";
  return fmt::format("Kiln compared only {} of {} {}", parts.length * kParts, parts.extent,
                     parts.size);
}

}  // namespace kiln
