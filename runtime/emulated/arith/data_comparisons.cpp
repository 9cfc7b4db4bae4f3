// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/arith/data_comparisons.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "runtime/emulated/arith/data_types.hpp"
#include "runtime/emulated/arith/float_functions.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"

namespace kiln::emulated::data {
namespace {

using ptx::Type;

struct Less {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct LessEqual {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Equal {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
/// Not with `||`, which would be a branch.
struct Different {
  template <class T>
  static bool of(T a, T b) {
    return (a < b) | (a > b);
  }
};
struct Ordered {
  template <class T>
  static bool of(T a, T b) {
    return !std::isunordered(a, b);
  }
};

template <class F>
struct FlushedTest {
  static bool of(float a, float b) { return F::of(flush_subnormal(a), flush_subnormal(b)); }
};

enum class Kind : std::uint8_t { less, less_equal, equal, different, ordered };

struct Name {
  std::string_view name;
  Kind kind;
  bool swapped;
  bool inverted;
};
// a > b is b < a; "not less" is true of NaN.
constexpr Name kFloatNames[] = {
    {"eq", Kind::equal, false, false},      {"ne", Kind::different, false, false},
    {"lt", Kind::less, false, false},       {"le", Kind::less_equal, false, false},
    {"gt", Kind::less, true, false},        {"ge", Kind::less_equal, true, false},
    {"equ", Kind::different, false, true},  {"neu", Kind::equal, false, true},
    {"ltu", Kind::less_equal, true, true},  {"leu", Kind::less, true, true},
    {"gtu", Kind::less_equal, false, true}, {"geu", Kind::less, false, true},
    {"num", Kind::ordered, false, false},   {"nan", Kind::ordered, false, true}};
constexpr Name kBitNames[] = {{"eq", Kind::equal, false, false}, {"ne", Kind::equal, false, true}};
constexpr Name kOrderNames[] = {{"lt", Kind::less, false, false},
                                {"le", Kind::less, true, true},
                                {"gt", Kind::less, true, false},
                                {"ge", Kind::less, false, true}};
constexpr Name kUnsignedNames[] = {{"lo", Kind::less, false, false},
                                   {"ls", Kind::less, true, true},
                                   {"hi", Kind::less, true, false},
                                   {"hs", Kind::less, false, true}};

template <std::size_t count>
const Name* find(const Name (&names)[count], std::string_view name) {
  for (const Name& entry : names) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

/// The tests in the order of Kind, each made by an Adapter from what it tests.
template <template <class> class Adapter, class T, int per = 1>
constexpr LaneTest kTests[] = {
    test_lanes<Adapter<Less>, T, per>, test_lanes<Adapter<LessEqual>, T, per>,
    test_lanes<Adapter<Equal>, T, per>, test_lanes<Adapter<Different>, T, per>,
    test_lanes<Adapter<Ordered>, T, per>};

template <class F>
using PlainTest = F;

template <class H, bool kFlush>
struct Half {
  template <class F>
  struct Test {
    static float load(std::uint16_t a) { return H::load(kFlush ? floats::flush_half<H>(a) : a); }
    static bool of(std::uint16_t a, std::uint16_t b) { return F::of(load(a), load(b)); }
  };
};
template <class H, bool kFlush, int per>
constexpr const auto& kHalfTests = kTests<Half<H, kFlush>::template Test, std::uint16_t, per>;

LaneTest float_test(Type type, Kind kind, bool flush) {
  using floats::Bf16;
  using floats::F16;
  const auto at = static_cast<std::size_t>(kind);
  switch (type) {
    case Type::f64:
      return flush ? nullptr : kTests<PlainTest, double>[at];
    case Type::f32:
      return flush ? kTests<FlushedTest, float>[at] : kTests<PlainTest, float>[at];
    case Type::f16:
      return flush ? kHalfTests<F16, true, 1>[at] : kHalfTests<F16, false, 1>[at];
    case Type::f16x2:
      return flush ? kHalfTests<F16, true, 2>[at] : kHalfTests<F16, false, 2>[at];
    case Type::bf16:
      return flush ? nullptr : kHalfTests<Bf16, false, 1>[at];
    default:
      return flush ? nullptr : kHalfTests<Bf16, false, 2>[at];
  }
}

template <class Bits16, class Bits32, class Bits64>
LaneTest integer_test(int bits, bool equal) {
  if (bits == 16) return equal ? test_lanes<Equal, Bits16> : test_lanes<Less, Bits16>;
  if (bits == 32) return equal ? test_lanes<Equal, Bits32> : test_lanes<Less, Bits32>;
  return equal ? test_lanes<Equal, Bits64> : test_lanes<Less, Bits64>;
}

}  // namespace

LaneComparison comparison_of(std::string_view name, Type type, bool flush) {
  if (is_float(type)) {
    const Name* const entry = find(kFloatNames, name);
    if (entry == nullptr) return {};
    return {float_test(type, entry->kind, flush), entry->swapped, entry->inverted};
  }
  const Name* entry = find(kBitNames, name);
  if (entry == nullptr && is_integer(type)) {
    entry = find(kOrderNames, name);
    if (entry == nullptr && is_unsigned(type)) entry = find(kUnsignedNames, name);
  }
  if (entry == nullptr || flush) return {};
  const bool equal = entry->kind == Kind::equal;
  const int bits = ptx::bits_of(type);
  const LaneTest test =
      is_signed(type) && !equal
          ? integer_test<std::int16_t, std::int32_t, std::int64_t>(bits, false)
          : integer_test<std::uint16_t, std::uint32_t, std::uint64_t>(bits, equal);
  return {test, entry->swapped, entry->inverted};
}

}  // namespace kiln::emulated::data
