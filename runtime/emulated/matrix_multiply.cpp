// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// mma.sync and wmma.mma. Products of floating-point types below f64 are summed in f32, one after
// the other along K; PTX leaves order and rounding of these sums open, and the hardware's differ.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/emulated/decoder.hpp"
#include "runtime/emulated/matrix_elements.hpp"
#include "runtime/emulated/matrix_operands.hpp"
#include "runtime/emulated/warp.hpp"

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
  bool ands = false;       ///< bits: and instead of xor
};

/// Integer sums of up to 256 products of 8 bits fit 32 bits; adding C may not.
void add_clamped(const std::int32_t* c, std::int32_t* d, int count, bool saturates) {
  using Limits = std::numeric_limits<std::int32_t>;
  for (int i = 0; i < count; ++i) {
    const std::int64_t sum = std::int64_t{c[i]} + d[i];
    d[i] =
        saturates
            ? static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max()))
            : static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
  }
}

template <class T>
void execute_multiply(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return;
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
      add_clamped(sums, c, m * n, detail.saturates);
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
  out.detail = context.keep(detail);
  out.unit = Unit::tensor;
  out.execute = type == MatrixType::f64 ? &execute_multiply<double>
                : is_float(type)        ? &execute_multiply<float>
                                        : &execute_multiply<std::int32_t>;
}

std::optional<MatrixType> take_matrix_type(DecodeContext& context) {
  for (const std::string_view part : context.left()) {
    const auto type = matrix_type_of(part);
    if (!type) continue;
    context.take(part);
    return type;
  }
  return std::nullopt;
}

/// Takes the types in the order D, A, B, C; A and B default to f16 where PTX leaves them out.
void take_types(DecodeContext& context, MultiplyDetail& detail) {
  std::vector<MatrixType> types;
  while (const auto type = take_matrix_type(context)) types.push_back(*type);
  if (types.size() == 2) types.insert(types.begin() + 1, {MatrixType::f16, MatrixType::f16});
  if (types.size() != 4) context.fail("has an odd number of types");
  detail.d.type = types[0];
  detail.a.type = types[1];
  detail.b.type = types[2];
  detail.c.type = types[3];
}

void take_common(DecodeContext& context, MultiplyDetail& detail) {
  if (!context.take("sync")) context.fail("is known with .sync only");
  context.take("aligned");
  detail.shape = take_shape(context);
  detail.saturates = context.take("satfinite");
  if (context.take("popc")) detail.ands = !context.take("xor") && context.take("and");
  context.take("rn");
}

void require_layouts(DecodeContext& context, const MultiplyDetail& detail) {
  for (const MatrixOperand* operand : {&detail.a, &detail.b, &detail.c, &detail.d}) {
    if (operand->layout == nullptr) context.fail("has no such shape for its types");
  }
}

void decode_mma(DecodeContext& context, Instr& out) {
  MultiplyDetail detail;
  take_common(context, detail);
  take_types(context, detail);
  const std::string_view a_layout = context.take_one_of({"row", "col"});
  const std::string_view b_layout = context.take_one_of({"row", "col"});
  const auto layout = [&](MatrixRole role, MatrixType type) {
    return mma_fragment(detail.shape, role, bits_of(type));
  };
  if (detail.shape == MatrixShape{8, 8, 4} && detail.a.type == MatrixType::f16) {
    detail.products = 4;
    detail.a.layout = mma_quad_pair_fragment(MatrixRole::a, a_layout == "row", 16);
    detail.b.layout = mma_quad_pair_fragment(MatrixRole::b, b_layout == "row", 16);
    detail.c.layout = mma_quad_pair_fragment(MatrixRole::accumulator, true, bits_of(detail.c.type));
    detail.d.layout = mma_quad_pair_fragment(MatrixRole::accumulator, true, bits_of(detail.d.type));
  } else {
    if (a_layout != "row" || b_layout != "col") context.fail("is known as .row.col only");
    detail.a.layout = layout(MatrixRole::a, detail.a.type);
    detail.b.layout = layout(MatrixRole::b, detail.b.type);
    detail.c.layout = layout(MatrixRole::accumulator, detail.c.type);
    detail.d.layout = layout(MatrixRole::accumulator, detail.d.type);
  }
  require_layouts(context, detail);
  finish(context, out, detail);
}

}  // namespace

void decode_wmma_multiply(DecodeContext& context, Instr& out) {
  MultiplyDetail detail;
  take_common(context, detail);
  take_types(context, detail);
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
  require_layouts(context, detail);
  finish(context, out, detail);
}

std::span<const Opcode> matrix_opcodes() {
  static constexpr Opcode kOpcodes[] = {
      {"mma", &decode_mma},
      {"wmma", &decode_wmma},
      {"ldmatrix", &decode_ldmatrix},
      {"stmatrix", &decode_stmatrix},
      {"movmatrix", &decode_movmatrix},
  };
  return kOpcodes;
}

}  // namespace kiln::emulated
