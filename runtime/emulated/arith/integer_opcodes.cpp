// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <span>

#include "runtime/emulated/arith/data_decode.hpp"
#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_decode.hpp"
#include "runtime/emulated/arith/integer_decode.hpp"

namespace kiln::emulated {
namespace {

using Decode = void (*)(DecodeContext& context, Instr& out);

/// One name serves integers and floating-point numbers: add.s32 and add.f32.
template <Decode integers, Decode floats>
void by_type(DecodeContext& context, Instr& out) {
  (works_on_floats(context) ? floats : integers)(context, out);
}

/// With .cc, the sum goes on into the next instruction.
template <Decode plain, Decode with_carry>
void by_carry(DecodeContext& context, Instr& out) {
  for (const std::string_view part : context.left()) {
    if (part == "cc") return with_carry(context, out);
  }
  plain(context, out);
}

/// and.pred is logic on predicates, and.b32 on registers.
template <Decode registers, Decode predicates>
void by_predicate(DecodeContext& context, Instr& out) {
  for (const std::string_view part : context.left()) {
    if (part == "pred") return predicates(context, out);
  }
  registers(context, out);
}

constexpr Opcode kOpcodes[] = {
    {"abs", by_type<integer::decode_abs, floats::decode_abs>},
    {"add", by_type<by_carry<integer::decode_add, integer::decode_add_carry>, floats::decode_add>},
    {"addc", integer::decode_add_carry},
    {"and", by_predicate<integer::decode_and, data::decode_and_predicates>},
    {"bfe", integer::decode_bfe},
    {"bfi", integer::decode_bfi},
    {"bfind", integer::decode_bfind},
    {"bmsk", integer::decode_bmsk},
    {"brev", integer::decode_brev},
    {"clz", integer::decode_clz},
    {"cnot", integer::decode_cnot},
    {"div", by_type<integer::decode_div, floats::decode_div>},
    {"dp2a", integer::decode_dp2a},
    {"dp4a", integer::decode_dp4a},
    {"fns", integer::decode_fns},
    {"lop3", integer::decode_lop3},
    {"mad", by_type<by_carry<integer::decode_mad, integer::decode_mad_carry>, floats::decode_fma>},
    {"mad24", integer::decode_mad24},
    {"madc", integer::decode_mad_carry},
    {"max", by_type<integer::decode_max, floats::decode_max>},
    {"min", by_type<integer::decode_min, floats::decode_min>},
    {"mul", by_type<integer::decode_mul, floats::decode_mul>},
    {"mul24", integer::decode_mul24},
    {"neg", by_type<integer::decode_neg, floats::decode_neg>},
    {"not", by_predicate<integer::decode_not, data::decode_not_predicate>},
    {"or", by_predicate<integer::decode_or, data::decode_or_predicates>},
    {"popc", integer::decode_popc},
    {"rem", integer::decode_rem},
    {"sad", integer::decode_sad},
    {"shf", integer::decode_shf},
    {"shl", integer::decode_shl},
    {"shr", integer::decode_shr},
    {"sub", by_type<by_carry<integer::decode_sub, integer::decode_sub_carry>, floats::decode_sub>},
    {"subc", integer::decode_sub_carry},
    {"szext", integer::decode_szext},
    {"vabsdiff2", integer::decode_video},
    {"vabsdiff4", integer::decode_video},
    {"vadd2", integer::decode_video},
    {"vadd4", integer::decode_video},
    {"vavrg2", integer::decode_video},
    {"vavrg4", integer::decode_video},
    {"vmax2", integer::decode_video},
    {"vmax4", integer::decode_video},
    {"vmin2", integer::decode_video},
    {"vmin4", integer::decode_video},
    {"vset2", integer::decode_video},
    {"vset4", integer::decode_video},
    {"vsub2", integer::decode_video},
    {"vsub4", integer::decode_video},
    {"xor", by_predicate<integer::decode_xor, data::decode_xor_predicates>},
};

}  // namespace

std::span<const Opcode> integer_opcodes() {
  return kOpcodes;
}

}  // namespace kiln::emulated
