// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// mma.sync and wmma.mma. Products of floating-point types below f64 are summed in f32, one after
// the other along K; PTX leaves order and rounding of these sums open, and the hardware's differ.
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/matrix/matrix_elements.hpp"
#include "runtime/emulated/matrix/matrix_operands.hpp"

namespace kiln::emulated {
namespace {

/// The largest matrices: A of m16n8k256 (bits), D of m32n8 or m8n32.
constexpr int kMostElements = 16 * 256;

struct MultiplyDetail {
  MatrixShape shape;
  MatrixOperand a;
  MatrixOperand b;
  MatrixOperand c;
  MatrixOperand d;
  int products = 1;        ///< computed at once: four for m8n8k4 of f16
  bool saturates = false;  ///< integer sums stay in range instead of wrapping
  bool counts = false;     ///< bits: ones that both have (`ands`), or one alone
  bool ands = false;
  bool rounds = false;  ///< to nearest even, as f64 does anyhow
};

template <class T>
void execute_multiply(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const auto& detail = *static_cast<const MultiplyDetail*>(instr.detail);
  const auto [m, n, k] = detail.shape;
  alignas(64) T a[kMostElements];
  alignas(64) T b[kMostElements];
  alignas(64) T c[kMostElements];
  const std::uint32_t* const rows = instr.rows;
  gather_matrix(warp, rows + detail.a.first, *detail.a.layout, detail.a.type, a);
  gather_matrix(warp, rows + detail.b.first, *detail.b.layout, detail.b.type, b);
  gather_matrix(warp, rows + detail.c.first, *detail.c.layout, detail.c.type, c);
  for (int i = 0; i < detail.products; ++i) {
    if constexpr (std::is_same_v<T, std::int32_t>) {
      alignas(64) T sums[1024] = {};
      multiply_dense(m, n, k, a, b, sums);
      if (detail.a.type == MatrixType::b1 && !detail.ands) {
        // popc(x ^ y) = popc(x) + popc(y) - 2 popc(x & y)
        for (int row = 0; row < m; ++row) {
          for (int col = 0; col < n; ++col) {
            T both = 0;
            for (int at = 0; at < k; ++at) both += a[row * k + at] + b[at * n + col];
            sums[row * n + col] = both - 2 * sums[row * n + col];
          }
        }
      }
      // Sums of up to 256 products of 8 bits fit 32 bits; adding C may not.
      add_integers(sums, c, static_cast<std::size_t>(m) * static_cast<std::size_t>(n),
                   detail.saturates);
    } else {
      multiply_dense(m, n, k, a + i * m * k, b + i * k * n, c + i * m * n);
    }
    if constexpr (std::is_same_v<T, float>) {
      if (detail.products == 1 || detail.d.type != MatrixType::f16) {
        drop_negative_zeros(c + i * m * n, m * n);
      }
    }
  }
  scatter_matrix(warp, rows + detail.d.first, *detail.d.layout, detail.d.type, c);
}

/// Decodes "d, a, b, c" with these types.
void finish(DecodeContext& context, Instr& out, MultiplyDetail detail) {
  context.expect_operands(4);
  std::vector<std::uint32_t> rows;
  const auto add = [&](std::size_t i, MatrixOperand& operand, bool writes) {
    operand.first = static_cast<std::uint32_t>(rows.size());
    const auto more = matrix_rows(context, context.operand(i), operand, writes);
    rows.insert(rows.end(), more.begin(), more.end());
  };
  add(0, detail.d, true);
  add(1, detail.a, false);
  add(2, detail.b, false);
  add(3, detail.c, false);
  context.set_rows(out, rows);
  const MatrixType type = detail.a.type;
  state_product(context, detail.shape, type);
  out.detail = context.keep(detail);
  out.execute = type == MatrixType::f64 ? &execute_multiply<double>
                : is_float(type)        ? &execute_multiply<float>
                                        : &execute_multiply<std::int32_t>;
}

/// The instruction that a multiplication is: they differ in the types that go together.
enum class Family : std::uint8_t { mma, mma_quad_pair, wmma };

/// Takes the types in the order D, A, B, C. wmma.mma of f16 leaves out those of A and B.
void take_types(DecodeContext& context, Family family, MultiplyDetail& detail) {
  std::vector<MatrixType> types;
  while (const auto type = take_matrix_type(context)) types.push_back(*type);
  if (types.size() == 2 && family == Family::wmma) {
    types.insert(types.begin() + 1, {MatrixType::f16, MatrixType::f16});
  } else if (types.size() != 4 || (family == Family::wmma && types[1] == MatrixType::f16)) {
    context.fail(
        family == Family::wmma
            ? "must give the types of D, A, B and C; if A and B are .f16, only the types of D and C"
            : "must give exactly four types, for D, A, B and C");
  }
  detail.d.type = types[0];
  detail.a.type = types[1];
  detail.b.type = types[2];
  detail.c.type = types[3];
}

bool is_real_sum(MatrixType type) {
  return type == MatrixType::f16 || type == MatrixType::f32;
}

/// The combinations of types of PTX ISA 9.0, "wmma.mma" and "mma", for sm_90a. Which shapes they
/// have, fragments know, but not that m8n8k16 is for integers alone.
bool is_known(Family family, const MultiplyDetail& detail) {
  const MatrixType a = detail.a.type;
  const MatrixType b = detail.b.type;
  const MatrixType c = detail.c.type;
  const MatrixType d = detail.d.type;
  switch (a) {
    case MatrixType::f16: {
      const bool sums = family == Family::mma             ? c == d
                        : family == Family::mma_quad_pair ? c == d || d == MatrixType::f32
                                                          : true;
      return b == a && is_real_sum(c) && is_real_sum(d) && sums;
    }
    case MatrixType::bf16:
    case MatrixType::tf32:
      return b == a && c == MatrixType::f32 && d == c;
    case MatrixType::f64:
      return b == a && c == a && d == a;
    case MatrixType::e4m3:
    case MatrixType::e5m2:
      return family == Family::mma && detail.shape.m == 16 && is_float(b) && bits_of(b) == 8 &&
             is_real_sum(c) && d == c;
    case MatrixType::s8:
    case MatrixType::u8:
    case MatrixType::s4:
    case MatrixType::u4:
      return !is_float(b) && bits_of(b) == bits_of(a) && (b == a || family == Family::mma) &&
             c == MatrixType::s32 && d == c;
    case MatrixType::b1:
      return b == a && c == MatrixType::s32 && d == c;
    default:
      return false;
  }
}

/// Fails for what the emulator does not know, or PTX does not have.
void check_types(DecodeContext& context, Family family, const MultiplyDetail& detail) {
  bool known = is_known(family, detail);
  for (const MatrixOperand* operand : {&detail.a, &detail.b, &detail.c, &detail.d}) {
    known = known && operand->layout != nullptr;
  }
  if (!known) context.fail("has a shape that the types do not support");
  const MatrixType type = detail.a.type;
  if (detail.saturates && (is_float(type) || type == MatrixType::f64 || type == MatrixType::b1)) {
    context.fail("has .satfinite, but only integer types support it");
  }
  if (detail.rounds && type != MatrixType::f64) context.fail("has .rn, but only .f64 supports it");
  if (detail.counts != (type == MatrixType::b1)) {
    context.fail(detail.counts ? "has .popc, but only .b1 supports it"
                               : "must have .xor.popc or .and.popc for type .b1");
  }
}

void take_common(DecodeContext& context, MultiplyDetail& detail) {
  if (!context.take("sync")) context.fail("is supported only with .sync");
  context.take("aligned");
  detail.shape = take_shape(context);
  detail.saturates = context.take("satfinite");
  const std::string_view operation = context.take_one_of({"xor", "and"});
  detail.ands = operation == "and";
  detail.counts = !operation.empty() && context.take("popc");
  detail.rounds = context.take("rn");
}

void decode_mma(DecodeContext& context, Instr& out) {
  MultiplyDetail detail;
  take_common(context, detail);
  take_types(context, Family::mma, detail);
  const std::string_view a_layout = context.take_one_of({"row", "col"});
  const std::string_view b_layout = context.take_one_of({"row", "col"});
  const auto layout = [&](MatrixRole role, MatrixType type) {
    return mma_fragment(detail.shape, role, bits_of(type));
  };
  Family family = Family::mma;
  if (detail.shape == MatrixShape{8, 8, 4} && detail.a.type == MatrixType::f16) {
    if (a_layout.empty() || b_layout.empty())
      context.fail("lacks the layouts of A and B (.row or .col)");
    family = Family::mma_quad_pair;
    detail.products = 4;
    detail.a.layout = mma_quad_pair_fragment(MatrixRole::a, a_layout == "row", 16);
    detail.b.layout = mma_quad_pair_fragment(MatrixRole::b, b_layout == "row", 16);
    detail.c.layout = mma_quad_pair_fragment(MatrixRole::accumulator, true, bits_of(detail.c.type));
    detail.d.layout = mma_quad_pair_fragment(MatrixRole::accumulator, true, bits_of(detail.d.type));
  } else {
    if (a_layout != "row" || b_layout != "col") context.fail("is supported only as .row.col");
    detail.a.layout = layout(MatrixRole::a, detail.a.type);
    detail.b.layout = layout(MatrixRole::b, detail.b.type);
    detail.c.layout = layout(MatrixRole::accumulator, detail.c.type);
    detail.d.layout = layout(MatrixRole::accumulator, detail.d.type);
  }
  check_types(context, family, detail);
  finish(context, out, detail);
}

// wmma.mma.sync.aligned.ALAYOUT.BLAYOUT.SHAPE.TYPES {d}, {a}, {b}, {c}
void decode_wmma_multiply(DecodeContext& context, Instr& out) {
  MultiplyDetail detail;
  take_common(context, detail);
  take_types(context, Family::wmma, detail);
  // The fragments do not depend on how their matrices lay in memory.
  context.take_one_of({"row", "col"});
  context.take_one_of({"row", "col"});
  const auto layout = [&](MatrixRole role, MatrixType type) {
    return wmma_layout(detail.shape, role, type);
  };
  detail.a.layout = layout(MatrixRole::a, detail.a.type);
  detail.b.layout = layout(MatrixRole::b, detail.b.type);
  detail.c.layout = layout(MatrixRole::accumulator, detail.c.type);
  detail.d.layout = layout(MatrixRole::accumulator, detail.d.type);
  check_types(context, Family::wmma, detail);
  finish(context, out, detail);
}

constexpr Traits kProduct{.work = Work::product, .flow = Flow::number};

constexpr Opcode kMultiplyOpcodes[] = {
    {"mma", {}, &decode_mma, Unit::tensor, kProduct},
    {"wmma.mma",
     {},
     &decode_wmma_multiply,
     Unit::tensor,
     {.work = Work::product, .flow = Flow::loaded}},
};

}  // namespace

std::span<const Opcode> matrix_multiply_opcodes() {
  return kMultiplyOpcodes;
}

}  // namespace kiln::emulated
