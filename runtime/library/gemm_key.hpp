// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kiln/gemm.hpp"
#include "templates/epilogue/epilogue.hpp"

namespace kiln::detail {

/// What distinguishes kernels, packed: two Gemms have equal keys if and only if to_problem() makes
/// equal problems of them. It exists because to_problem() allocates and a look-up must not.
struct GemmKey {
  std::array<std::uint64_t, 3> words{};

  [[nodiscard]] std::size_t hash() const noexcept {
    std::uint64_t mixed = words[0] * 0x9e3779b97f4a7c15ULL;
    mixed = (std::rotl(mixed, 29) ^ words[1]) * 0xbf58476d1ce4e5b9ULL;
    mixed = (std::rotl(mixed, 31) ^ words[2]) * 0x94d049bb133111ebULL;
    return static_cast<std::size_t>(mixed ^ (mixed >> 32));
  }
  friend bool operator==(const GemmKey&, const GemmKey&) = default;
};

struct LeadingDimensions {
  std::int64_t a = 0, b = 0, c = 0, d = 0;
};

/// Bits of a key for each element type: five have a half of a word.
inline constexpr int kKeyTypeBits = 6;
static_assert(kDTypeNames.size() <= std::size_t{1} << kKeyTypeBits,
              "kKeyTypeBits is too small to tell all element types apart");
static_assert(5 * kKeyTypeBits <= 32,
              "kKeyTypeBits is too large: a key packs five element types into 32 bits");

/// A Gemm as the hot path sees it.
struct GemmRequest {
  GemmKey key;
  LeadingDimensions ld;
  bool valid = false;  ///< false: normalised() reports why
};

/// log2 of the bytes, at most 16, that every row of an operand starts on.
[[nodiscard]] inline std::uint64_t row_alignment_log2(int promised, std::int64_t ld, DType type) {
  constexpr std::int64_t kWidest = 16;
  const int bytes = size_bytes(type);
  const std::int64_t units = ld >> std::countr_zero(static_cast<unsigned>(packed_values(type)));
  const std::int64_t pitch = units % kWidest * bytes;
  return static_cast<std::uint64_t>(
      std::countr_zero(static_cast<std::uint64_t>(std::max(promised, bytes) | pitch | kWidest)));
}

/// Checks what normalised() checks and fills tight leading dimensions, without an allocation.
[[nodiscard]] inline GemmRequest make_request(const Gemm& g) noexcept {
  constexpr std::int64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
  constexpr int kMaxAlignment = 4096;
  const auto size_ok = [](std::int64_t size) { return size >= 0 && size <= kMaxSize; };
  const auto alignment_ok = [](int bytes) {
    return bytes >= 1 && bytes <= kMaxAlignment &&
           std::has_single_bit(static_cast<unsigned>(bytes));
  };
  const auto settle = [](std::int64_t ld, std::int64_t row, DType type) {
    const std::int64_t packed = packed_values(type);
    return ld == 0 ? (row + packed - 1) & -packed : ld;
  };
  // As normalised() does, up to rounding, and without its divisions.
  const auto ld_ok = [](std::int64_t ld, std::int64_t row, std::int64_t rows, DType type) {
    return ld >= row && (ld & (packed_values(type) - 1)) == 0 &&
           static_cast<double>(ld) * static_cast<double>(rows * size_bytes(type)) < 0x1p63;
  };

  const auto type_ok = [](DType type) { return is_product_type(type); };
  const auto result_ok = [&](DType type) { return type_ok(type) && packed_values(type) == 1; };
  const auto storage_ok = [](Storage storage) {
    return storage == Storage::n || storage == Storage::t;
  };

  GemmRequest request;
  if (!size_ok(g.m) || !size_ok(g.n) || !size_ok(g.k)) return request;
  if (!type_ok(g.a) || !type_ok(g.b) || !result_ok(g.d) || !result_ok(g.acc)) return request;
  if (!storage_ok(g.storage_a) || !storage_ok(g.storage_b)) return request;
  const EpilogueEntry* const epilogue = g.epilogue.entry();
  const bool reads_c = epilogue != nullptr ? epilogue->expression.reads_c() : g.reads_c;
  if (reads_c && !result_ok(g.c)) return request;
  const bool a_as_written = g.storage_a == Storage::n;
  const bool b_as_written = g.storage_b == Storage::n;
  const std::int64_t row_a = a_as_written ? g.k : g.m;
  const std::int64_t row_b = b_as_written ? g.n : g.k;
  LeadingDimensions& ld = request.ld;
  ld = {settle(g.lda, row_a, g.a), settle(g.ldb, row_b, g.b), 0, settle(g.ldd, g.n, g.d)};
  // Without beta, C must not distinguish problems: it is assumed to be like D.
  const DType type_c = reads_c ? g.c : g.d;
  ld.c = reads_c ? settle(g.ldc, g.n, type_c) : ld.d;
  const int alignment_c = reads_c ? g.alignment_c : g.alignment_d;
  request.valid = ld_ok(ld.a, row_a, a_as_written ? g.m : g.k, g.a) &&
                  ld_ok(ld.b, row_b, b_as_written ? g.k : g.n, g.b) &&
                  ld_ok(ld.c, g.n, g.m, type_c) && ld_ok(ld.d, g.n, g.m, g.d) &&
                  alignment_ok(g.alignment_a) && alignment_ok(g.alignment_b) &&
                  alignment_ok(alignment_c) && alignment_ok(g.alignment_d);
  if (!request.valid) return request;

  const auto type = [](DType t) { return static_cast<std::uint64_t>(t); };
  const std::uint64_t types = type(g.a) | type(g.b) << kKeyTypeBits |
                              type(type_c) << 2 * kKeyTypeBits | type(g.d) << 3 * kKeyTypeBits |
                              type(g.acc) << 4 * kKeyTypeBits;
  const std::uint64_t alignments = row_alignment_log2(g.alignment_a, ld.a, g.a) |
                                   row_alignment_log2(g.alignment_b, ld.b, g.b) << 3 |
                                   row_alignment_log2(alignment_c, ld.c, type_c) << 6 |
                                   row_alignment_log2(g.alignment_d, ld.d, g.d) << 9;
  const std::uint64_t flags =
      (a_as_written ? 0U : 1U) | (b_as_written ? 0U : 2U) | (reads_c ? 4U : 0U);
  request.key.words = {
      static_cast<std::uint64_t>(g.m) | static_cast<std::uint64_t>(g.n) << 32,
      static_cast<std::uint64_t>(g.k) | flags << 32 | alignments << 36,
      types | static_cast<std::uint64_t>(epilogue != nullptr ? epilogue->number : 0) << 32,
  };
  return request;
}

}  // namespace kiln::detail
