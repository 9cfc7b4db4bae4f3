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
#include "runtime/emulated/arith/integer_decode.hpp"
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
  const int64_t sum = a + b;
  return sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
}

PartFunction function_of(std::string_view name) {
  if (name == "vadd") return [](int64_t a, int64_t b) { return a + b; };
  if (name == "vsub") return [](int64_t a, int64_t b) { return a - b; };
  if (name == "vavrg") return &average;
  if (name == "vabsdiff") return [](int64_t a, int64_t b) { return std::abs(a - b); };
  if (name == "vmin") return [](int64_t a, int64_t b) { return std::min(a, b); };
  return [](int64_t a, int64_t b) { return std::max(a, b); };
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
  const int64_t least = detail.d_signed ? -beyond / 2 : 0;
  const int64_t most = (detail.d_signed ? beyond / 2 : beyond) - 1;
  uint32_t parts = 0;
  for (int i = 0; i < detail.parts; ++i) {
    int64_t value =
        detail.apply(part_of(a, i, bits, detail.a_signed), part_of(b, i, bits, detail.b_signed));
    if (detail.saturates) value = std::clamp(value, least, most);
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

}  // namespace

// {vadd,vsub,vavrg,vabsdiff,vmin,vmax}{2,4}.DTYPE.ATYPE.BTYPE{.sat}{.add} d, a, b, c and
// vset{2,4}.ATYPE.BTYPE.CMP{.add} d, a, b, c with u32 or s32 each. The forms that take parts from
// other places of a and b, or leave parts of d to c, are refused by their operands.
void decode_video(DecodeContext& context, Instr& out) {
  std::string_view name = context.in().parts.front();
  VideoDetail detail;
  detail.parts = name.back() - '0';
  name.remove_suffix(1);
  const bool compares = name == "vset";
  const auto take_signed = [&] {
    return take_type_of(context, {Type::u32, Type::s32}) == Type::s32;
  };
  if (!compares) detail.d_signed = take_signed();
  detail.a_signed = take_signed();
  detail.b_signed = take_signed();
  if (compares) {
    const std::string_view comparison = context.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
    if (comparison.empty()) context.fail("needs .eq, .ne, .lt, .le, .gt or .ge");
    detail.apply = comparison_of(comparison);
  } else {
    detail.apply = function_of(name);
    detail.saturates = context.take("sat");
  }
  detail.adds = context.take("add");
  if (detail.saturates && detail.adds) context.fail("has .sat and .add");
  take_operands(context, out, 3, Type::b32);
  out.unit = Unit::multiply;
  out.detail = context.keep(detail);
  out.execute = &execute_video;
}

}  // namespace kiln::emulated::integer
