// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// wgmma: matrices multiplied by the four warps of a warpgroup in the background.
#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/matrix/matrix_operands.hpp"
#include "runtime/emulated/matrix/wgmma_queue.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

void execute_wgmma_fence(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return;
  warp.wgmma().note(instr);
  warp.wgmma().fence();
}

void execute_commit(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return;
  warp.wgmma().note(instr);
  warp.wgmma().commit();
}

void execute_wait(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return;
  warp.wgmma().note(instr);
  warp.wgmma().wait(instr, active, static_cast<std::uint32_t>(instr.immediate));
}

void execute_multiply(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const std::size_t last = static_cast<std::size_t>(warp.index() / 4) * 4 + 3;
  if (last >= warp.block().warps().size()) {
    warp.fail(instr, active, Finding::invalid_operand,
              "needs four whole warps, and the index of the first warp must be a multiple of four");
  }
  warp.wgmma().note(instr);
  warp.wgmma().start(instr);
}

MatrixType take_element(DecodeContext& context) {
  const auto type = take_matrix_type(context);
  if (!type) context.fail("must give the types of D, A and B, but gives fewer types");
  return *type;
}

bool is_fp8(MatrixType type) {
  return type == MatrixType::e4m3 || type == MatrixType::e5m2;
}
void expect_aligned(DecodeContext& context) {
  if (!context.take("sync") || !context.take("aligned")) {
    context.fail("is supported only with .sync.aligned");
  }
}

bool is_byte(MatrixType type) {
  return type == MatrixType::s8 || type == MatrixType::u8;
}

/// The combinations of PTX ISA 9.0, "wgmma.mma_async", for sm_90a.
bool is_known(const MatrixShape& shape, const WgmmaDetail& detail) {
  const bool real = detail.d_type == MatrixType::f32;
  const bool half = detail.d_type == MatrixType::f16;
  const bool whole = detail.d_type == MatrixType::s32;
  const bool same = detail.a_type == detail.b_type;
  if (shape.m != 64 || shape.n < 8 || shape.n > 256 || shape.n % 8 != 0) return false;
  // Integers have every width up to 32, then multiples of 16 only.
  if (whole && shape.n % 16 != 0 && shape.n != 8 && shape.n != 24) return false;
  switch (detail.a_type) {
    case MatrixType::f16:
      return same && shape.k == 16 && (real || half);
    case MatrixType::bf16:
      return same && shape.k == 16 && real;
    case MatrixType::tf32:
      return same && shape.k == 8 && real;
    case MatrixType::b1:
      return same && shape.k == 256 && whole;
    default:
      if (is_fp8(detail.a_type)) return is_fp8(detail.b_type) && shape.k == 32 && (real || half);
      return is_byte(detail.a_type) && is_byte(detail.b_type) && shape.k == 32 && whole;
  }
}

/// imm-scale-a, imm-scale-b and the transpositions that 16-bit types have.
void decode_immediates(DecodeContext& context, WgmmaDetail& detail) {
  if (!is_float(detail.a_type)) {
    context.expect_operands(4);
    return;
  }
  const bool wide = bits_of(detail.a_type) == 16;
  const bool in_registers = detail.a_layout != nullptr;
  context.expect_operands(!wide ? 6 : in_registers ? 7 : 8);
  const auto one_of = [&](std::size_t i, std::int64_t low) {
    const std::int64_t value = context.immediate(i);
    if (value != 1 && value != low) {
      context.fail(fmt::format("needs {} or 1 as operand {}, but has {}", low, i + 1, value));
    }
    return value;
  };
  detail.negates = one_of(4, -1) * one_of(5, -1) < 0;
  if (!wide) return;
  if (!in_registers) detail.a_along_m = one_of(6, 0) == 1;
  detail.b_along_n = one_of(in_registers ? 6 : 7, 0) == 1;
}

// wgmma.mma_async.sync.aligned.SHAPE.DTYPE.ATYPE.BTYPE {d}, a, b, scale-d, ...
void decode_multiply(DecodeContext& context, Instr& out) {
  expect_aligned(context);
  WgmmaDetail detail;
  const MatrixShape shape = take_shape(context);
  detail.d_type = take_element(context);
  detail.a_type = take_element(context);
  detail.b_type = take_element(context);
  detail.saturates = context.take("satfinite");
  if (!is_known(shape, detail)) context.fail("has a shape that the types do not support");
  state_product(context, shape, detail.a_type);
  detail.bits = detail.a_type == MatrixType::b1;
  if (detail.bits) {
    if (!context.take("and") || !context.take("popc"))
      context.fail("is supported only as .and.popc");
    detail.a_type = detail.b_type = MatrixType::u8;
  }
  detail.n = shape.n;
  detail.k = kWgmmaBytes * 8 / bits_of(detail.a_type);
  detail.d_layout = wgmma_accumulator(shape.n, bits_of(detail.d_type));
  const bool in_registers = context.operand(1).kind == ptx::Operand::Kind::vector;
  if (in_registers) detail.a_layout = wgmma_a_fragment(bits_of(detail.a_type));
  std::vector<std::uint32_t> rows =
      matrix_rows(context, context.operand(0), {detail.d_layout, detail.d_type, 0}, true);
  if (in_registers) {
    const auto more =
        matrix_rows(context, context.operand(1), {detail.a_layout, detail.a_type, 0}, false);
    rows.insert(rows.end(), more.begin(), more.end());
  } else {
    out.a = context.source(1, Type::b64);
  }
  out.b = context.source(2, Type::b64);
  out.c = context.predicate(context.operand(3));
  decode_immediates(context, detail);
  context.set_rows(out, rows);
  out.detail = context.keep(detail);
  out.execute = &execute_multiply;
}

// wgmma.fence.sync.aligned and wgmma.commit_group.sync.aligned
template <Execute execute>
void decode_plain(DecodeContext& context, Instr& out) {
  expect_aligned(context);
  out.execute = execute;
}

// wgmma.wait_group.sync.aligned n
void decode_wait(DecodeContext& context, Instr& out) {
  expect_aligned(context);
  out.immediate = take_group_count(context);
  out.execute = &execute_wait;
}

constexpr Traits kWgmmaIssue{.work = Work::issue, .flow = Flow::number};

constexpr Opcode kWgmmaOpcodes[] = {
    {"wgmma.fence", {}, &decode_plain<&execute_wgmma_fence>, Unit::barrier, kWgmmaIssue},
    {"wgmma.commit_group", {}, &decode_plain<&execute_commit>, Unit::barrier, kWgmmaIssue},
    {"wgmma.wait_group", {}, &decode_wait, Unit::barrier, kWgmmaIssue},
    {"wgmma.mma_async",
     {},
     &decode_multiply,
     Unit::tensor,
     {.work = Work::product,
      .result = Result::accumulated,
      .flow = Flow::number,
      .by_warpgroup = true}},
};

}  // namespace

std::span<const Opcode> wgmma_opcodes() {
  return kWgmmaOpcodes;
}

}  // namespace kiln::emulated
