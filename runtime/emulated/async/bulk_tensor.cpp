// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the prefetch of tensors.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/emulated/async/async_instructions.hpp"
#include "runtime/emulated/async/bulk_operands.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {
namespace {

using ptx::Type;

/// Shared memory of a tensor copy begins at a multiple of this.
constexpr std::uint32_t kBoxAlignment = 128;
constexpr std::uint64_t kMapAlignment = 64;

/// Rows: the coordinates, then the offsets of im2col loads. Row `c` is the mask of blocks.
struct TensorDetail {
  AddressOperand map;
  AddressOperand shared;
  AddressOperand barrier;
  BulkWay way = BulkWay::global_to_shared;
  int rank = 0;
  bool im2col = false;
  bool offsets = false;
  std::string reduction;  ///< "" for a copy
};

const TensorDetail& detail_of(const Instr& instr) {
  return *static_cast<const TensorDetail*>(instr.detail);
}

TensorSpec tensor_of(Warp& warp, const Instr& instr, int lane) {
  const TensorDetail& detail = detail_of(instr);
  const LaneMask bit = LaneMask{1} << lane;
  const std::uint64_t address = address_at(warp, detail.map, lane);
  const std::uint64_t within = address & ~kWindowMask;
  if (within % kMapAlignment != 0) {
    warp.fail(instr, bit, Finding::misaligned,
              fmt::format("uses a tensor map at address {:#x}, which is not a multiple of {}",
                          address, kMapAlignment),
              address);
  }
  TensorMap map;
  const bool parameter =
      (address & kWindowMask) == kParamWindow || detail.map.space == ptx::Space::param;
  if (parameter) {
    const auto& parameters = warp.block().launch().parameters;
    if (within + sizeof map > parameters.size()) {
      warp.fail(instr, bit, Finding::out_of_bounds,
                fmt::format("reads a tensor map of {} bytes at byte offset {} of the kernel "
                            "parameters, but the parameters have only {} bytes",
                            sizeof map, within, parameters.size()),
                address);
    }
    std::memcpy(&map, parameters.data() + within, sizeof map);
  } else {
    std::memcpy(&map, global_spot(warp, instr, lane, address, sizeof map, AccessKind::load),
                sizeof map);
  }
  const DecodedTensorMap decoded = decode_tensor_map(map);
  if (!decoded.fault.empty()) {
    warp.fail(instr, bit, Finding::invalid_operand,
              fmt::format("uses an invalid tensor map: {}", decoded.fault), address);
  }
  const TensorSpec& spec = decoded.spec;
  if (spec.rank != detail.rank || (spec.mode == TensorMode::im2col) != detail.im2col) {
    warp.fail(instr, bit, Finding::invalid_operand,
              fmt::format(
                  "needs a tensor map of rank {} and mode {}, but this map has rank {} and mode {}",
                  detail.rank, detail.im2col ? "im2col" : "tiled", spec.rank,
                  spec.mode == TensorMode::im2col ? "im2col" : "tiled"),
              address);
  }
  return spec;
}

/// Bytes of shared memory between the box's first and last byte, padding of its rows included.
std::uint64_t shared_extent(const TensorSpec& spec) {
  const std::uint64_t row =
      std::uint64_t{spec.mode == TensorMode::im2col ? spec.channels : spec.box[0]} *
      static_cast<std::uint64_t>(bytes_of(spec.type));
  return box_bytes(spec) / row * row_pitch(spec);
}

/// All pieces of the box; global addresses are checked.
std::vector<BulkPiece> pieces_of(Warp& warp, const Instr& instr, int lane, const TensorSpec& spec,
                                 std::uint32_t shared, AccessKind kind) {
  const TensorDetail& detail = detail_of(instr);
  std::array<std::int32_t, 5> at{};
  const auto rank = static_cast<std::size_t>(detail.rank);
  for (std::size_t i = 0; i < rank; ++i) {
    at[i] = get<std::int32_t>(warp.row(instr.rows[i]), lane);
  }
  // The hardware calls either an illegal instruction.
  if (kind != AccessKind::load && *std::min_element(at.begin(), at.end()) < 0) {
    warp.fail(
        instr, LaneMask{1} << lane, Finding::invalid_operand,
        "stores a box at a negative coordinate; the coordinates of a TMA store or reduction must "
        "be 0 or more");
  }
  if (at[0] * std::int64_t{bytes_of(spec.type)} % kTensorChunk != 0) {
    warp.fail(instr, LaneMask{1} << lane, Finding::misaligned,
              fmt::format("has the first coordinate {}, which is at byte offset {} of the row; "
                          "the byte offset must be a multiple of {}",
                          at[0], at[0] * std::int64_t{bytes_of(spec.type)}, kTensorChunk));
  }
  std::vector<BulkPiece> pieces;
  const auto add = [&](const TensorPiece& piece) {
    BulkPiece to{nullptr, piece.global, piece.shared, piece.bytes};
    if (piece.inside) {
      to.host = global_spot(warp, instr, lane, piece.global, piece.bytes, kind);
    } else if (kind != AccessKind::load) {
      return;  // what lies outside of the tensor is not stored
    }
    pieces.push_back(to);
  };
  if (spec.mode == TensorMode::im2col) {
    std::array<std::uint16_t, 3> offsets{};
    for (std::size_t i = 0; detail.offsets && i + 2 < rank; ++i) {
      offsets[i] = get<std::uint16_t>(warp.row(instr.rows[rank + i]), lane);
    }
    for_each_im2col_piece(spec, at, offsets, shared, kind != AccessKind::load, add);
  } else {
    for_each_piece(spec, at, shared, kind != AccessKind::load, add);
  }
  return pieces;
}

AtomicFunction tensor_reduction(std::string_view operation, TensorType type) {
  const bool bits = operation == "and" || operation == "or" || operation == "xor";
  switch (type) {
    case TensorType::u32:
      return find_bulk_reduction(operation, bits ? Type::b32 : Type::u32);
    case TensorType::s32:
      return find_bulk_reduction(operation, bits ? Type::b32 : Type::s32);
    case TensorType::u64:
      return find_bulk_reduction(operation, bits ? Type::b64 : Type::u64);
    case TensorType::s64:
      return find_bulk_reduction(operation, bits ? Type::b64 : Type::s64);
    case TensorType::f16:
      return find_bulk_reduction(operation, Type::f16);
    case TensorType::bf16:
      return find_bulk_reduction(operation, Type::bf16);
    case TensorType::f32:
    case TensorType::f32_ftz:
    case TensorType::tf32:
    case TensorType::tf32_ftz:
      return find_bulk_reduction(operation, Type::f32);
    case TensorType::f64:
      return find_bulk_reduction(operation, Type::f64);
    default:
      return nullptr;
  }
}

void begin_load(Warp& warp, const Instr& instr, int lane, const TensorSpec& spec,
                const SharedSpot& to) {
  const TensorDetail& detail = detail_of(instr);
  BulkLoad load;
  load.warp = &warp;
  load.instr = &instr;
  load.lane = lane;
  load.targets = bulk_targets(warp, instr, lane, instr.c, to);
  load.barrier = bulk_barrier(warp, instr, lane, detail.barrier, to, load.targets);
  load.bytes = static_cast<std::uint32_t>(box_bytes(spec));
  load.pieces = pieces_of(warp, instr, lane, spec, to.offset, AccessKind::load);
  load.elements.bytes = bytes_of(spec.type);
  load.elements.type = spec.type;
  // The lowest bit is nothing to types that round.
  load.elements.converts = loaded(spec.type, 1) != 1;
  load.elements.fill = spec.fill == OutOfBoundsFill::nan ? fill_nan(spec.type) : 0;
  begin_bulk_load(std::move(load));
}

void begin_store(Warp& warp, const Instr& instr, int lane, const TensorSpec& spec,
                 const SharedSpot& from) {
  const TensorDetail& detail = detail_of(instr);
  BulkStoreJob job{&warp, &instr, lane, {}, {}};
  if (from.owner != &warp.block()) {
    warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
              "copies from another block's shared memory; the source must be shared memory of the "
              "executing block");
  }
  job.elements.bytes = bytes_of(spec.type);
  if (!detail.reduction.empty()) {
    job.elements.reduce = tensor_reduction(detail.reduction, spec.type);
    if (job.elements.reduce == nullptr) {
      warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
                fmt::format(
                    "has the reduction .{}, which does not exist for the tensor map's element type",
                    detail.reduction));
    }
  }
  job.pieces = pieces_of(warp, instr, lane, spec, from.offset, AccessKind::store);
  begin_bulk_store(std::move(job));
}

void execute_tensor(Warp& warp, const Instr& instr, LaneMask active) {
  const TensorDetail& detail = detail_of(instr);
  for (LaneMask left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const TensorSpec spec = tensor_of(warp, instr, lane);
    const SharedSpot spot = shared_spot(warp, instr, lane, address_at(warp, detail.shared, lane),
                                        shared_extent(spec), kBoxAlignment);
    if (detail.way == BulkWay::global_to_shared) {
      begin_load(warp, instr, lane, spec, spot);
    } else {
      begin_store(warp, instr, lane, spec, spot);
    }
  }
}

void execute_prefetch(Warp& warp, const Instr& instr, LaneMask active) {
  for (LaneMask left = active; left != 0; left &= left - 1) {
    (void)tensor_of(warp, instr, std::countr_zero(left));
  }
}

/// [map, {x, y, ...}]
void decode_place(DecodeContext& context, std::size_t i, TensorDetail& detail,
                  std::vector<std::uint32_t>& rows) {
  detail.map = context.address(i);
  const auto& elements = context.operand(i).elements;
  if (elements.size() != 2)
    context.fail("needs an operand of the form [tensor map, {coordinates}]");
  rows = context.sources(elements[1], Type::s32);
  if (rows.size() != static_cast<std::size_t>(detail.rank)) {
    context.fail(fmt::format("lists {} coordinates, but a tensor with {} dimensions needs {}",
                             rows.size(), detail.rank, detail.rank));
  }
}

void decode_offsets(DecodeContext& context, std::size_t i, std::vector<std::uint32_t>& rows) {
  const auto more = context.sources(context.operand(i), Type::u16);
  rows.insert(rows.end(), more.begin(), more.end());
}

/// "2d" and "tile", "im2col".
void take_tensor(DecodeContext& context, TensorDetail& detail, std::string_view& mode) {
  const std::string_view dimensions = context.take_one_of({"1d", "2d", "3d", "4d", "5d"});
  if (dimensions.empty())
    context.fail("needs a modifier for the number of dimensions (.1d, .2d, .3d, .4d or .5d)");
  detail.rank = dimensions.front() - '0';
  mode = context.take_one_of({"tile", "im2col", "im2col_no_offs"});
  detail.im2col = mode.starts_with("im2col");
  if (detail.im2col && detail.rank < 3)
    context.fail("uses im2col, which needs at least 3 dimensions");
}

// cp.async.bulk.prefetch.tensor.DIM.L2.global{.MODE}{.L2::cache_hint} [map, {coordinates}]
void decode_tensor_prefetch(DecodeContext& context, Instr& out) {
  TensorDetail detail;
  std::string_view mode;
  take_tensor(context, detail, mode);
  context.take("L2");
  context.take("global");
  context.take("L2::cache_hint");
  std::vector<std::uint32_t> rows;
  decode_place(context, 0, detail, rows);
  context.set_rows(out, rows);
  out.detail = context.keep(detail);
  out.execute = &execute_prefetch;
}

// cp.async.bulk.tensor.DIM.WAY{.MODE}{.multicast::cluster}{.L2::cache_hint}, and
// cp.reduce.async.bulk.tensor.DIM.WAY.OPERATION, with [map, {coordinates}] on one side.
template <bool kReduces>
void decode_tensor(DecodeContext& context, Instr& out) {
  TensorDetail detail;
  std::string_view mode;
  take_tensor(context, detail, mode);
  detail.way = take_bulk_way(context);
  if (detail.way == BulkWay::shared_to_shared) {
    context.fail("cannot copy a tensor from shared memory to shared memory");
  }
  if (kReduces) {
    if (detail.way != BulkWay::shared_to_global) context.fail("can reduce only into global memory");
    detail.reduction = take_reduction(context);
  }
  const bool loads = detail.way == BulkWay::global_to_shared;
  const bool multicast = loads && context.take("multicast::cluster");
  detail.shared = context.address(loads ? 0 : 1);
  std::vector<std::uint32_t> rows;
  decode_place(context, loads ? 1 : 0, detail, rows);
  std::size_t next = 2;
  if (loads) detail.barrier = context.address(next++);
  detail.offsets = loads && mode == "im2col";
  if (detail.offsets) {
    decode_offsets(context, next++, rows);
    if (rows.size() != 2 * static_cast<std::size_t>(detail.rank) - 2) {
      context.fail(fmt::format("lists {} im2col offsets, but a tensor with {} dimensions needs {}",
                               rows.size() - static_cast<std::size_t>(detail.rank), detail.rank,
                               detail.rank - 2));
    }
  }
  out.c = decode_multicast(context, next, multicast);
  context.set_rows(out, rows);
  out.detail = context.keep(detail);
  out.execute = &execute_tensor;
}

constexpr Traits kIssueTensor{.work = Work::issue};

constexpr Opcode kTensorOpcodes[] = {
    {"cp.async.bulk.tensor", {}, &decode_tensor<false>, Unit::async_copy, kIssueTensor},
    {"cp.async.bulk.prefetch.tensor", {}, &decode_tensor_prefetch, Unit::async_copy, kIssueTensor},
    {"cp.reduce.async.bulk.tensor", {}, &decode_tensor<true>, Unit::async_copy},
};

}  // namespace

std::span<const Opcode> bulk_tensor_opcodes() {
  return kTensorOpcodes;
}

}  // namespace kiln::emulated
