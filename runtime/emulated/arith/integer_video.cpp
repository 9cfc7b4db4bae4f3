// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Video instructions on the two or four parts of a word: GPUs have done them in several steps since
// compute capability 5.0, and inline PTX still asks for them.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/decode/opcode.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated::integer {
namespace {

using ptx::Type;
using std::int64_t;
using std::uint32_t;

/// What becomes of two parts; wide enough for any result.
using PartFunction = int64_t (*)(int64_t a, int64_t b);

struct VideoDetail {
  PartFunction apply = nullptr;
  int parts = 2;
  bool a_signed = false;
  bool b_signed = false;
  bool saturates = false;
  bool d_signed = false;  ///< of what results are saturated to
  bool adds = false;      ///< their sum onto c, and not each in its place
};

/// Rounds halves up, away from zero below it.
int64_t average(int64_t a, int64_t b) {
  const int64_t both = a + b;
  return both >= 0 ? (both + 1) >> 1 : both >> 1;
}

int64_t sum(int64_t a, int64_t b) {
  return a + b;
}
int64_t difference(int64_t a, int64_t b) {
  return a - b;
}
int64_t distance(int64_t a, int64_t b) {
  return std::abs(a - b);
}
int64_t least(int64_t a, int64_t b) {
  return std::min(a, b);
}
int64_t most(int64_t a, int64_t b) {
  return std::max(a, b);
}

PartFunction comparison_of(std::string_view name) {
  if (name == "eq") return [](int64_t a, int64_t b) { return int64_t{a == b}; };
  if (name == "ne") return [](int64_t a, int64_t b) { return int64_t{a != b}; };
  if (name == "lt") return [](int64_t a, int64_t b) { return int64_t{a < b}; };
  if (name == "le") return [](int64_t a, int64_t b) { return int64_t{a <= b}; };
  if (name == "gt") return [](int64_t a, int64_t b) { return int64_t{a > b}; };
  return [](int64_t a, int64_t b) { return int64_t{a >= b}; };
}

int64_t part_of(uint32_t word, int index, int bits, bool is_signed) {
  const auto value = static_cast<int64_t>(word >> (index * bits) & ((1U << bits) - 1));
  const int64_t beyond = int64_t{1} << bits;
  return is_signed && value >= beyond / 2 ? value - beyond : value;
}

uint32_t combine(const VideoDetail& detail, uint32_t a, uint32_t b, uint32_t c) {
  const int bits = 32 / detail.parts;
  const int64_t beyond = int64_t{1} << bits;
  const int64_t lowest = detail.d_signed ? -beyond / 2 : 0;
  const int64_t highest = (detail.d_signed ? beyond / 2 : beyond) - 1;
  uint32_t parts = 0;
  for (int i = 0; i < detail.parts; ++i) {
    int64_t value =
        detail.apply(part_of(a, i, bits, detail.a_signed), part_of(b, i, bits, detail.b_signed));
    if (detail.saturates) value = std::clamp(value, lowest, highest);
    c += static_cast<uint32_t>(value);
    parts |= (static_cast<uint32_t>(value) & static_cast<uint32_t>(beyond - 1)) << (i * bits);
  }
  return detail.adds ? c : parts;
}

void execute_video(Warp& warp, const Instr& instr, LaneMask active) {
  const auto& detail = *static_cast<const VideoDetail*>(instr.detail);
  for_active(active, [&](int lane) {
    put(warp.row(instr.d), lane,
        combine(detail, get<uint32_t>(warp.row(instr.a), lane),
                get<uint32_t>(warp.row(instr.b), lane), get<uint32_t>(warp.row(instr.c), lane)));
  });
}

bool take_signed(DecodeContext& context) {
  return take_type_of(context, {Type::u32, Type::s32}) == Type::s32;
}

void finish(DecodeContext& context, Instr& out, VideoDetail detail) {
  detail.adds = context.take("add");
  if (detail.saturates && detail.adds) context.fail("cannot have both .sat and .add");
  take_operands(context, out, 3, Type::b32);
  out.detail = context.keep(detail);
  out.execute = &execute_video;
}

// {vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.DTYPE.ATYPE.BTYPE{.sat}{.add} d, a, b, c with u32 or
// s32 each. The forms that take parts from other places of a and b, or leave parts of d to c, are
// refused by their operands.
template <PartFunction function, int kParts>
void decode_video(DecodeContext& context, Instr& out) {
  VideoDetail detail;
  detail.parts = kParts;
  detail.apply = function;
  detail.d_signed = take_signed(context);
  detail.a_signed = take_signed(context);
  detail.b_signed = take_signed(context);
  detail.saturates = context.take("sat");
  finish(context, out, detail);
}

// vset{2,4}.ATYPE.BTYPE.CMP{.add} d, a, b, c.
template <int kParts>
void decode_comparison(DecodeContext& context, Instr& out) {
  VideoDetail detail;
  detail.parts = kParts;
  detail.a_signed = take_signed(context);
  detail.b_signed = take_signed(context);
  const std::string_view comparison = context.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
  if (comparison.empty()) context.fail("needs .eq, .ne, .lt, .le, .gt or .ge");
  detail.apply = comparison_of(comparison);
  finish(context, out, detail);
}

constexpr Opcode kOpcodes[] = {
    {"vabsdiff2", kWords, decode_video<distance, 2>, Unit::multiply},
    {"vabsdiff4", kWords, decode_video<distance, 4>, Unit::multiply},
    {"vadd2", kWords, decode_video<sum, 2>, Unit::multiply},
    {"vadd4", kWords, decode_video<sum, 4>, Unit::multiply},
    {"vavrg2", kWords, decode_video<average, 2>, Unit::multiply},
    {"vavrg4", kWords, decode_video<average, 4>, Unit::multiply},
    {"vmax2", kWords, decode_video<most, 2>, Unit::multiply},
    {"vmax4", kWords, decode_video<most, 4>, Unit::multiply},
    {"vmin2", kWords, decode_video<least, 2>, Unit::multiply},
    {"vmin4", kWords, decode_video<least, 4>, Unit::multiply},
    {"vset2", kWords, decode_comparison<2>, Unit::multiply},
    {"vset4", kWords, decode_comparison<4>, Unit::multiply},
    {"vsub2", kWords, decode_video<difference, 2>, Unit::multiply},
    {"vsub4", kWords, decode_video<difference, 4>, Unit::multiply},
};

}  // namespace
}  // namespace kiln::emulated::integer

namespace kiln::emulated {

std::span<const Opcode> video_opcodes() {
  return integer::kOpcodes;
}

}  // namespace kiln::emulated
