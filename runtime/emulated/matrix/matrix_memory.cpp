// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Fragments between registers and memory: wmma.load and wmma.store, ldmatrix and stmatrix.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/copy_word.hpp"
#include "runtime/emulated/engine/warp.hpp"
#include "runtime/emulated/matrix/matrix_operands.hpp"
#include "runtime/emulated/memory/memory_operands.hpp"
#include "runtime/emulated/memory/resolve.hpp"

namespace kiln::emulated {
namespace {

using ptx::Space;
using ptx::Type;

struct WmmaDetail {
  Space space = Space::generic;
  MatrixOperand matrix;
  bool row_major = true;
};

Space take_matrix_space(DecodeContext& context) {
  const std::string_view name = context.take_one_of({"global", "shared", "shared::cta"});
  if (name.empty()) return Space::generic;
  return name == "global" ? Space::global : Space::shared;
}

/// Element `i` of those with 16 bits.
template <class Byte>
Byte* half_at(Byte* begin, int i) {
  return begin + std::ptrdiff_t{i} * 2;
}

/// Whether wmma.load or wmma.store moves such elements.
bool is_moved(MatrixRole role, MatrixType type) {
  switch (type) {
    case MatrixType::f16:
    case MatrixType::f64:
      return true;
    case MatrixType::f32:
    case MatrixType::s32:
      return role == MatrixRole::accumulator;
    case MatrixType::e4m3:
    case MatrixType::e5m2:
      return false;
    default:
      return role != MatrixRole::accumulator;
  }
}

/// Bytes from the matrix's first element to an element, for a stride in elements.
std::int64_t byte_offset(const WmmaDetail& detail, FragmentLayout::Place place, std::int64_t stride,
                         int bits) {
  const std::int64_t major = detail.row_major ? place.row : place.col;
  const std::int64_t minor = detail.row_major ? place.col : place.row;
  return (major * stride + minor) * bits / 8;
}

/// Whether a lane's words lie in pairs of neighbours in memory, two registers to 8 bytes. The
/// hardware's code moves such pairs at once.
bool in_pairs(const WmmaDetail& detail, const FragmentLayout& layout, std::int64_t stride) {
  const int distinct = layout.elements() / layout.copies;
  if (bits_of(detail.matrix.type) != 32 || distinct % 2 != 0) return false;
  for (int element = 0; element < distinct; element += 2) {
    const auto at = [&](int i) { return byte_offset(detail, layout.at(0, i), stride, 32); };
    if (at(element + 1) - at(element) != 4) return false;
  }
  return true;
}

/// Loads or stores every element that a lane holds, in pieces as large as neighbours in a register,
/// or in two, are neighbours in memory.
void execute_wmma_move(Warp& warp, const Instr& instr, LaneMask active, AccessKind kind) {
  if (!whole_warp(warp, instr, active)) return;
  const auto& detail = *static_cast<const WmmaDetail*>(instr.detail);
  const FragmentLayout& layout = *detail.matrix.layout;
  const int bits = bits_of(detail.matrix.type);
  const int per_register = layout.elements_per_register;
  const int first = std::countr_zero(active);
  const std::int64_t stride = instr.b == kNoRow ? (detail.row_major ? layout.cols : layout.rows)
                                                : get<std::int32_t>(warp.row(instr.b), first);
  std::uint64_t base[kLanes] = {};
  fill_addresses(warp, instr, active, base);
  const auto next = [&](int element) {
    return byte_offset(detail, layout.at(0, element), stride, bits);
  };
  const bool joined = per_register == 1 || bits < 8 || next(1) - next(0) == bits / 8;
  const int registers = in_pairs(detail, layout, stride) ? 2 : 1;  // of one piece
  const int step = joined ? per_register * registers : 1;
  WarpAccess access;
  access.space = detail.space;
  access.kind = kind;
  access.bytes = step * bits / 8;
  access.lanes = active;
  const int distinct = layout.elements() / layout.copies;
  const auto element_bytes = static_cast<std::size_t>(access.bytes / registers);
  const std::size_t register_bytes = bits == 64 ? 8 : 4;
  const int between_copies = layout.registers / layout.copies;
  for (int element = 0; element < distinct; element += step) {
    for (int lane = 0; lane < kLanes; ++lane) {
      // All lanes name one matrix; PTX wants their addresses equal.
      access.address[lane] = base[lane] + static_cast<std::uint64_t>(byte_offset(
                                              detail, layout.at(lane, element), stride, bits));
    }
    resolve(warp, instr, access);
    const auto at = static_cast<std::size_t>(element / per_register);
    const auto inner = static_cast<std::size_t>(element % per_register * bits / 8);
    for (int i = 0; i < kLanes * registers; ++i) {
      const int lane = i / registers;
      const auto part = static_cast<std::size_t>(i % registers);
      std::byte* const host = access.host[lane] + part * element_bytes;
      const std::size_t place = static_cast<std::size_t>(lane) * register_bytes + inner;
      if (kind == AccessKind::load) {
        for (int copy = 0; copy < layout.copies; ++copy) {
          const auto distance =
              static_cast<std::size_t>(copy) * static_cast<std::size_t>(between_copies);
          copy_word(warp.row(instr.rows[at + part + distance]) + place, host, element_bytes);
        }
      } else {
        copy_word(host, warp.row(instr.rows[at + part]) + place, element_bytes);
      }
    }
  }
}

/// Loads an f16 or bf16 operand from shared memory as the hardware does, which turns it into
/// ldmatrix, or into loads of the same rows and movmatrix: in rows of 16 bytes, 8 lines of memory
/// to a matrix and up to four matrices at a time.
void execute_wmma_load_rows(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const auto& detail = *static_cast<const WmmaDetail*>(instr.detail);
  const FragmentLayout& layout = *detail.matrix.layout;
  const int lines = detail.row_major ? layout.rows : layout.cols;
  const int length = detail.row_major ? layout.cols : layout.rows;
  const int first = std::countr_zero(active);
  const std::int64_t stride =
      instr.b == kNoRow ? length : get<std::int32_t>(warp.row(instr.b), first);
  std::uint64_t base[kLanes] = {};
  fill_addresses(warp, instr, active, base);

  constexpr int kMostPieces = 64;
  std::byte* pieces[kMostPieces] = {};
  const int count = lines * length / 8;
  for (int begin = 0; begin < count; begin += kLanes) {
    const int here = std::min(kLanes, count - begin);
    WarpAccess access;
    access.space = detail.space;
    access.kind = AccessKind::load;
    access.bytes = 16;
    access.matrix_rows = true;
    access.lanes = here == kLanes ? kAllLanes : (LaneMask{1} << here) - 1;
    for (int i = 0; i < here; ++i) {
      const int line = (begin + i) % lines;
      const int block = (begin + i) / lines;
      const std::int64_t element = line * stride + std::int64_t{block} * 8;
      access.address[i] = base[first] + static_cast<std::uint64_t>(element * 2);
    }
    resolve(warp, instr, access);
    std::copy_n(access.host, here, pieces + begin);
  }

  const int distinct = layout.elements() / layout.copies;
  for (int element = 0; element < distinct; ++element) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto place = layout.at(lane, element);
      const int line = detail.row_major ? place.row : place.col;
      const int along = detail.row_major ? place.col : place.row;
      const std::byte* const from = half_at(pieces[along / 8 * lines + line], along % 8);
      for (int copy = 0; copy < layout.copies; ++copy) {
        const int to = element / 2 + copy * (layout.registers / layout.copies);
        std::memcpy(half_at(warp.row(instr.rows[to]), lane * 2 + element % 2), from, 2);
      }
    }
  }
}

void execute_wmma_load(Warp& warp, const Instr& instr, LaneMask active) {
  execute_wmma_move(warp, instr, active, AccessKind::load);
}

void execute_wmma_store(Warp& warp, const Instr& instr, LaneMask active) {
  execute_wmma_move(warp, instr, active, AccessKind::store);
}

// wmma.load.{a,b,c}.sync.aligned.ORDER.SHAPE{.SPACE}.TYPE {...}, [p]{, stride}; wmma.store.d
// likewise.
template <bool loads>
void decode_wmma_move(DecodeContext& context, Instr& out) {
  WmmaDetail detail;
  const std::string_view which =
      loads ? context.take_one_of({"a", "b", "c"}) : context.take_one_of({"d"});
  context.take("sync");
  context.take("aligned");
  const std::string_view order = context.take_one_of({"row", "col"});
  if (which.empty() || order.empty())
    context.fail("must name a matrix (such as .a) and a layout (.row or .col)");
  detail.row_major = order == "row";
  const MatrixShape shape = take_shape(context);
  const Space stated = take_matrix_space(context);
  detail.space = stated;
  const auto type = matrix_type_of(context.take_next());
  if (!type) context.fail("has no type");
  detail.matrix.type = *type;
  const MatrixRole role = which == "a"   ? MatrixRole::a
                          : which == "b" ? MatrixRole::b
                                         : MatrixRole::accumulator;
  detail.matrix.layout = wmma_layout(shape, role, *type);
  if (detail.matrix.layout == nullptr || !is_moved(role, *type)) {
    context.fail("has a shape that the type does not support");
  }
  const std::size_t values = loads ? 0 : 1;
  context.set_rows(out, matrix_rows(context, context.operand(values), detail.matrix, loads));
  const Space named = decode_address(context, loads ? 1 : 0, out);
  if (detail.space == Space::generic) detail.space = named;
  if (context.operands() != 2) {
    context.expect_operands(3);
    out.b = context.source(2, Type::b32);
  }
  out.unit = unit_of(detail.space);
  // A fragment of f16 in shared memory is one ldmatrix, any other several plain loads or stores.
  // Those of bf16 are turned by movmatrix where f16 has ldmatrix.trans.
  if (stated != Space::shared || *type != MatrixType::f16) {
    context.traits().slots = 8.0F;
    const bool turned = (which == "a" && !detail.row_major) || (which == "b" && detail.row_major);
    if (*type == MatrixType::bf16 && turned) {
      context.traits().transposes = static_cast<float>(detail.matrix.layout->registers);
    }
  }
  out.detail = context.keep(detail);
  out.execute = loads ? &execute_wmma_load : &execute_wmma_store;
  const bool halves = *type == MatrixType::f16 || *type == MatrixType::bf16;
  const bool rows =
      loads && detail.space != Space::global && halves && role != MatrixRole::accumulator;
  if (rows) out.execute = &execute_wmma_load_rows;
}

struct MatrixRowsDetail {
  const FragmentLayout* layout = nullptr;
  int matrices = 1;
};

/// The 16-byte rows of 8 x 8 matrices that the lanes' addresses name.
void fill_rows_access(Warp& warp, const Instr& instr, AccessKind kind, WarpAccess& access) {
  const auto& detail = *static_cast<const MatrixRowsDetail*>(instr.detail);
  access.space = static_cast<Space>(instr.bytes);
  access.kind = kind;
  access.bytes = 16;
  access.matrix_rows = true;
  const int rows = 8 * detail.matrices;
  access.lanes = rows == kLanes ? kAllLanes : (LaneMask{1} << rows) - 1;
  fill_addresses(warp, instr, access.lanes, access.address);
  for (int lane = 0; access.space != Space::shared && lane < rows; ++lane) {
    const std::uint64_t address = access.address[lane];
    if ((address & kWindowMask) == kSharedWindow) continue;
    warp.fail(instr, LaneMask{1} << lane, Finding::out_of_bounds,
              fmt::format("is given address {:#x}, which is not in shared memory", address),
              address);
  }
  resolve(warp, instr, access);
}

void execute_ldmatrix(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const FragmentLayout& layout = *static_cast<const MatrixRowsDetail*>(instr.detail)->layout;
  WarpAccess access;
  fill_rows_access(warp, instr, AccessKind::load, access);
  for (int element = 0; element < layout.elements(); ++element) {
    std::byte* const row = warp.row(instr.rows[element / 2]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto place = layout.at(lane, element);
      std::memcpy(half_at(row, lane * 2 + element % 2), half_at(access.host[place.row], place.col),
                  2);
    }
  }
}

void execute_stmatrix(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const FragmentLayout& layout = *static_cast<const MatrixRowsDetail*>(instr.detail)->layout;
  WarpAccess access;
  fill_rows_access(warp, instr, AccessKind::store, access);
  for (int element = 0; element < layout.elements(); ++element) {
    const std::byte* const row = warp.row(instr.rows[element / 2]);
    for (int lane = 0; lane < kLanes; ++lane) {
      const auto place = layout.at(lane, element);
      std::memcpy(half_at(access.host[place.row], place.col), half_at(row, lane * 2 + element % 2),
                  2);
    }
  }
}

// {ldmatrix,stmatrix}.sync.aligned.m8n8.{x1,x2,x4}{.trans}{.shared}.b16 {...}, [p]
template <bool loads>
void decode_matrix_rows(DecodeContext& context, Instr& out) {
  context.take("sync");
  context.take("aligned");
  if (!context.take("m8n8")) context.fail("is supported only for .m8n8");
  const std::string_view number = context.take_one_of({"x1", "x2", "x4"});
  if (number.empty()) context.fail("lacks the number of matrices (.x1, .x2 or .x4)");
  MatrixRowsDetail detail;
  detail.matrices = number[1] - '0';
  detail.layout = ldmatrix_fragment(detail.matrices, context.take("trans"));
  const bool shared = !context.take_one_of({"shared", "shared::cta"}).empty();
  if (!context.take("b16")) context.fail("is supported only for .b16");
  const auto& values = context.operand(loads ? 0 : 1);
  const auto rows =
      loads ? context.destinations(values, Type::b32) : context.sources(values, Type::b32);
  if (rows.size() != static_cast<std::size_t>(detail.matrices)) {
    context.fail(
        fmt::format("has {} registers for {} matrices, but needs one register for each matrix",
                    rows.size(), detail.matrices));
  }
  context.set_rows(out, rows);
  const Space named = decode_address(context, loads ? 1 : 0, out);
  if (named != Space::generic && named != Space::shared) {
    context.fail("is given the address of a variable that is not in shared memory");
  }
  out.bytes = static_cast<std::uint8_t>(shared ? Space::shared : named);
  out.detail = context.keep(detail);
  out.execute = loads ? &execute_ldmatrix : &execute_stmatrix;
}

void execute_movmatrix(Warp& warp, const Instr& instr, LaneMask active) {
  if (!whole_warp(warp, instr, active)) return;
  const FragmentLayout& layout = *static_cast<const FragmentLayout*>(instr.detail);
  std::uint16_t matrix[64];
  std::uint32_t result[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto both = get<std::uint32_t>(warp.row(instr.a), lane);
    for (int i = 0; i < 2; ++i) {
      const auto place = layout.at(lane, i);
      matrix[place.col * 8 + place.row] = static_cast<std::uint16_t>(both >> (16 * i));
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto low = layout.at(lane, 0);
    const auto high = layout.at(lane, 1);
    result[lane] = matrix[low.row * 8 + low.col] |
                   static_cast<std::uint32_t>(matrix[high.row * 8 + high.col]) << 16U;
  }
  std::memcpy(warp.row(instr.d), result, sizeof result);
}

// movmatrix.sync.aligned.m8n8.trans.b16 d, a
void decode_movmatrix(DecodeContext& context, Instr& out) {
  context.take("sync");
  context.take("aligned");
  if (!context.take("m8n8") || !context.take("trans") || !context.take("b16")) {
    context.fail("is supported only as movmatrix.sync.aligned.m8n8.trans.b16");
  }
  context.expect_operands(2);
  out.d = context.destination(0, Type::b32);
  out.a = context.source(1, Type::b32);
  out.detail = ldmatrix_fragment(1, false);
  out.execute = &execute_movmatrix;
}

constexpr Traits kLoad{.work = Work::load, .flow = Flow::loaded};
constexpr Traits kStore{.work = Work::store};

constexpr Opcode kMatrixMemoryOpcodes[] = {
    {"wmma.load", {}, &decode_wmma_move<true>, Unit::shared, kLoad},
    {"wmma.store", {}, &decode_wmma_move<false>, Unit::shared, kStore},
    {"ldmatrix", {}, &decode_matrix_rows<true>, Unit::shared, kLoad},
    {"stmatrix", {}, &decode_matrix_rows<false>, Unit::shared, kStore},
    {"movmatrix", {}, &decode_movmatrix, Unit::shuffle, {.work = Work::transpose}},
};

}  // namespace

std::span<const Opcode> matrix_memory_opcodes() {
  return kMatrixMemoryOpcodes;
}

bool whole_warp(Warp& warp, const Instr& instr, LaneMask active) {
  if (!warp.gather_all(instr, active)) return false;
  if (warp.live() != kAllLanes) {
    warp.fail(
        instr, active, Finding::divergent,
        fmt::format(
            "needs all 32 lanes of the warp, but some lanes have exited; lanes {:08x} still run",
            warp.live()));
  }
  return true;
}

MatrixShape take_shape(DecodeContext& context) {
  for (const std::string_view part : context.left()) {
    int sizes[3] = {0, 0, 0};
    constexpr std::string_view kLetters = "mnk";
    std::size_t at = 0;
    int found = 0;
    for (; found < 3; ++found) {
      if (at >= part.size() || part[at] != kLetters[static_cast<std::size_t>(found)]) break;
      ++at;
      while (at < part.size() && part[at] >= '0' && part[at] <= '9' && sizes[found] < 1000) {
        sizes[found] = sizes[found] * 10 + (part[at++] - '0');
      }
    }
    if (found != 3 || at != part.size()) continue;
    context.take(part);
    return {sizes[0], sizes[1], sizes[2]};
  }
  context.fail("has no shape");
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

std::vector<std::uint32_t> matrix_rows(DecodeContext& context, const ptx::Operand& operand,
                                       const MatrixOperand& matrix, bool writes) {
  const Type type = register_type_of(matrix.type);
  auto rows = writes ? context.destinations(operand, type) : context.sources(operand, type);
  if (rows.size() != static_cast<std::size_t>(matrix.layout->registers)) {
    context.fail(fmt::format("lists {} registers for a matrix operand that needs {} registers",
                             rows.size(), matrix.layout->registers));
  }
  return rows;
}

void state_product(DecodeContext& context, const MatrixShape& shape, MatrixType type) {
  Traits& traits = context.traits();
  traits.multiply_adds = static_cast<float>(shape.m * shape.n * shape.k);
  traits.rate = type == MatrixType::tf32  ? MatrixRate::tf32
                : type == MatrixType::f64 ? MatrixRate::f64
                : !is_float(type)         ? MatrixRate::s8
                : bits_of(type) == 8      ? MatrixRate::e4m3
                                          : MatrixRate::f16;
}

const FragmentLayout* wmma_layout(const MatrixShape& shape, MatrixRole role, MatrixType type) {
  const bool padded = type == MatrixType::f16 && role != MatrixRole::accumulator;
  return wmma_fragment(shape, role, bits_of(type), padded);
}

}  // namespace kiln::emulated
