// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/gemm_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <numeric>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
constexpr int kMaxAlignment = 4096;
/// A thread's widest access; a larger alignment changes nothing.
constexpr std::int64_t kWidestAccessBytes = 16;

void check_size(std::string_view name, std::int64_t value) {
  if (value < 0 || value > kMaxSize) {
    throw Error(ErrorKind::usage,
                fmt::format("gemm: {} = {} is not in the range 0 to {}", name, value, kMaxSize));
  }
}

/// An enumerator from a cast or a file may be any value of its underlying type.
void check_type(std::string_view name, DType type) {
  const auto number = static_cast<std::size_t>(type);
  if (number >= kDTypeNames.size()) {
    throw Error(ErrorKind::usage,
                fmt::format("gemm: {} = DType({}) is not an element type", name, number));
  }
  if (!is_product_type(type)) {
    std::vector<std::string_view> known;
    std::ranges::copy_if(kDTypeNames, std::back_inserter(known),
                         [](std::string_view each) { return is_product_type(*parse_dtype(each)); });
    throw Error(ErrorKind::usage,
                fmt::format("gemm: {} = {}: gemm does not support this type, only {}", name,
                            to_string(type), fmt::join(known, " ")));
  }
}

/// Neighbours that share a byte can't be written one by one.
void check_result_type(std::string_view name, DType type) {
  check_type(name, type);
  if (packed_values(type) > 1) {
    throw Error(ErrorKind::usage, fmt::format("gemm: {} = {}: only A and B can have packed values",
                                              name, to_string(type)));
  }
}

void check_storage(std::string_view name, Storage storage) {
  if (storage != Storage::n && storage != Storage::t) {
    throw Error(ErrorKind::usage, fmt::format("gemm: {} = Storage({}) is neither n nor t", name,
                                              static_cast<int>(storage)));
  }
}

/// Checks (and fills) the leading dimension of a matrix stored as `rows` rows.
void settle_leading_dimension(std::string_view name, std::int64_t& ld, std::int64_t rows,
                              std::int64_t row_length, DType type) {
  const std::int64_t packed = packed_values(type);
  if (ld == 0) ld = elements_of(row_length, type) * packed;
  if (ld < row_length) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "gemm: {} = {} is shorter than a row of {} elements; use 0 for rows without padding",
            name, ld, row_length));
  }
  if (ld % packed != 0) {
    throw Error(
        ErrorKind::usage,
        fmt::format("gemm: {0} = {1} is not a multiple of {2} (one byte holds {2} {3} values)",
                    name, ld, packed, to_string(type)));
  }
  const std::int64_t some_rows = std::max<std::int64_t>(rows, 1);
  if (ld > std::numeric_limits<std::int64_t>::max() / some_rows / size_bytes(type)) {
    throw Error(
        ErrorKind::usage,
        fmt::format("gemm: {} = {} with {} rows needs more than 2^63 bytes", name, ld, rows));
  }
}

/// Elements are at least aligned to their own size, whatever was promised.
void settle_alignment(std::string_view name, int& alignment, DType type) {
  if (alignment < 1 || alignment > kMaxAlignment ||
      !std::has_single_bit(static_cast<unsigned>(alignment))) {
    throw Error(ErrorKind::usage, fmt::format("gemm: {} = {} is not a power of two from 1 to {}",
                                              name, alignment, kMaxAlignment));
  }
  alignment = std::max(alignment, size_bytes(type));
}

/// What amax() records is a number that the expression is computed in.
void check_recorded(const Gemm& g) {
  const auto* const entry = g.epilogue.entry();
  if (entry == nullptr) return;
  for (const EpilogueSlot& slot : entry->expression.operands()) {
    const DType type = element_type(slot, g.d);
    if (!slot.recorded || type == epilogue_type(g)) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "gemm: amax computes a maximum in {}, but the operand {} has the type {}; write "
            "{}:{} in the epilogue",
            to_string(epilogue_type(g)), slot.name, to_string(type), slot.name,
            to_string(epilogue_type(g))));
  }
}

/// Bytes that every row of an operand starts on.
std::int64_t row_alignment(int address_alignment, std::int64_t ld, DType type) {
  // Only the factors of two of the row pitch matter; reducing it first cannot overflow.
  const std::int64_t pitch = (ld / packed_values(type) % kWidestAccessBytes) * size_bytes(type);
  return std::gcd(std::gcd(static_cast<std::int64_t>(address_alignment), pitch),
                  kWidestAccessBytes);
}

}  // namespace

Gemm normalised(const Gemm& gemm) {
  Gemm g = gemm;
  if (!g.epilogue.is_default()) g.reads_c = g.epilogue.reads_c();
  check_size("m", g.m);
  check_size("n", g.n);
  check_size("k", g.k);
  check_type("a", g.a);
  check_type("b", g.b);
  check_result_type("d", g.d);
  check_result_type("acc", g.acc);
  if (g.reads_c) check_result_type("c", g.c);
  check_storage("storage_a", g.storage_a);
  check_storage("storage_b", g.storage_b);
  const bool a_as_written = g.storage_a == Storage::n;
  const bool b_as_written = g.storage_b == Storage::n;
  settle_leading_dimension("lda", g.lda, a_as_written ? g.m : g.k, a_as_written ? g.k : g.m, g.a);
  settle_leading_dimension("ldb", g.ldb, b_as_written ? g.k : g.n, b_as_written ? g.n : g.k, g.b);
  settle_leading_dimension("ldd", g.ldd, g.m, g.n, g.d);
  settle_alignment("alignment_a", g.alignment_a, g.a);
  settle_alignment("alignment_b", g.alignment_b, g.b);
  settle_alignment("alignment_d", g.alignment_d, g.d);
  if (g.reads_c) {
    settle_leading_dimension("ldc", g.ldc, g.m, g.n, g.c);
    settle_alignment("alignment_c", g.alignment_c, g.c);
  } else {
    // C plays no part, so it must not distinguish problems.
    g.c = g.d;
    g.ldc = g.ldd;
    g.alignment_c = g.alignment_d;
  }
  check_recorded(g);
  return g;
}

bool has_whole_factors(const Gemm& gemm) {
  return gemm.acc == DType::s32 && gemm.d == DType::s32 && gemm.epilogue.is_default();
}

DType epilogue_type(const Gemm& gemm) {
  if (gemm.acc == DType::f64) return DType::f64;
  return has_whole_factors(gemm) ? DType::s32 : DType::f32;
}

double largest_factor(const Gemm& gemm) {
  switch (epilogue_type(gemm)) {
    case DType::f64:
      return std::numeric_limits<double>::max();
    case DType::s32:
      return std::numeric_limits<std::int32_t>::max();
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

Problem to_problem(const Gemm& gemm) {
  return problem_of_normal(normalised(gemm));
}

Problem problem_of_normal(const Gemm& normal) {
  Problem problem;
  problem.operation = "gemm";
  problem.sizes = {{"m", normal.m}, {"n", normal.n}, {"k", normal.k}};
  problem.types = {
      {"a", normal.a}, {"b", normal.b}, {"c", normal.c}, {"d", normal.d}, {"acc", normal.acc}};
  problem.traits = {{"trans_a", normal.storage_a == Storage::t ? 1 : 0},
                    {"trans_b", normal.storage_b == Storage::t ? 1 : 0},
                    {"align_a", row_alignment(normal.alignment_a, normal.lda, normal.a)},
                    {"align_b", row_alignment(normal.alignment_b, normal.ldb, normal.b)},
                    {"align_c", row_alignment(normal.alignment_c, normal.ldc, normal.c)},
                    {"align_d", row_alignment(normal.alignment_d, normal.ldd, normal.d)},
                    {"reads_c", normal.reads_c ? 1 : 0}};
  if (const auto* entry = normal.epilogue.entry())
    problem.epilogue = entry->expression.canonical(normal.d);
  return problem;
}

void check_gemm_problem(const Problem& problem) {
  Gemm gemm;
  gemm.m = problem.size("m").value();
  gemm.n = problem.size("n").value();
  gemm.k = problem.size("k").value();
  gemm.a = problem.type("a").value();
  gemm.b = problem.type("b").value();
  gemm.c = problem.type("c").value();
  gemm.d = problem.type("d").value();
  gemm.acc = problem.type("acc").value();
  gemm.storage_a = problem.trait("trans_a") == 1 ? Storage::t : Storage::n;
  gemm.storage_b = problem.trait("trans_b") == 1 ? Storage::t : Storage::n;
  gemm.reads_c = problem.trait("reads_c") == 1;
  // Rows so far apart that the alignment is that of the address.
  constexpr std::int64_t kFar = std::int64_t{kMaxAlignment} * 8;
  gemm.lda = gemm.ldb = gemm.ldc = gemm.ldd = (kMaxSize / kFar + 1) * kFar;
  gemm.alignment_a = static_cast<int>(problem.trait("align_a").value());
  gemm.alignment_b = static_cast<int>(problem.trait("align_b").value());
  gemm.alignment_c = static_cast<int>(problem.trait("align_c").value());
  gemm.alignment_d = static_cast<int>(problem.trait("align_d").value());
  Problem made = to_problem(gemm);
  if (!problem.epilogue.empty()) {
    const auto expression = EpilogueExpression::parse(problem.epilogue);
    made.epilogue = expression.canonical(gemm.d);
    if (expression.reads_c() != gemm.reads_c) {
      throw Error(ErrorKind::usage,
                  fmt::format("gemm: reads_c is {}, but must be {} for the epilogue {}",
                              gemm.reads_c ? 1 : 0, gemm.reads_c ? 0 : 1, problem.epilogue));
    }
  }
  if (made == problem) return;
  throw Error(ErrorKind::usage,
              fmt::format("gemm: the problem \"{}\" is not in canonical form; write \"{}\"",
                          problem.canonical(), made.canonical()));
}

}  // namespace kiln
