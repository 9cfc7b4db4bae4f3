// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/memory/atomics.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <type_traits>

#include "runtime/emulated/arith/small_floats.hpp"
#include "runtime/emulated/arith/small_floats_arithmetic.hpp"
#include "runtime/emulated/memory/shared_bytes.hpp"

namespace kiln::emulated {
namespace {

/// The unsigned integer of so many bytes.
template <std::size_t kBytes>
using Bits =
    std::conditional_t<kBytes == 2, std::uint16_t,
                       std::conditional_t<kBytes == 4, std::uint32_t,
                                          std::conditional_t<kBytes == 8, std::uint64_t, void>>>;

/// Update(old, value, swap) gives what is stored. Blocks on several host threads may update one
/// place and store to it besides: what changes nothing, like a cas that fails, must not write.
template <class T, class Update>
void update(std::byte* memory, const std::byte* value, const std::byte* swap, std::byte* old) {
  T operand;
  T replacement;
  T before;
  std::memcpy(&operand, value, sizeof(T));
  std::memcpy(&replacement, swap, sizeof(T));
  if constexpr (sizeof(T) <= 8) {
    using Whole = Bits<sizeof(T)>;
    const std::atomic_ref<Whole> place(*reinterpret_cast<Whole*>(memory));
    Whole found = place.load();
    for (;;) {
      before = std::bit_cast<T>(found);
      const auto wanted = std::bit_cast<Whole>(Update{}(before, operand, replacement));
      if (wanted == found || place.compare_exchange_weak(found, wanted)) break;
    }
  } else {
    const std::scoped_lock lock(lock_of(memory));
    load_pair(reinterpret_cast<std::byte*>(&before), memory);
    const T after = Update{}(before, operand, replacement);
    if (!(after == before)) store_pair(memory, reinterpret_cast<const std::byte*>(&after));
  }
  std::memcpy(old, &before, sizeof(T));
}

/// What an addition of f32 gives for any NaN.
constexpr std::uint32_t kNan = 0x7fffffff;

struct Add {
  template <class T>
  T operator()(T old, T value, T) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(old) + static_cast<Unsigned>(value));
    } else if constexpr (std::is_same_v<T, float>) {
      return of_floats(old, value);
    } else {
      return old + value;
    }
  }
  static float of_floats(float old, float value) {
    const float sum = old + value;
    return std::isnan(sum) ? std::bit_cast<float>(kNan) : sum;
  }
};
/// Of f32 in global memory: subnormal numbers count as zeros of their sign.
struct AddFlushed {
  float operator()(float old, float value, float) const {
    return flushed(Add::of_floats(flushed(old), flushed(value)));
  }
  static float flushed(float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value) : value;
  }
};
struct Min {
  template <class T>
  T operator()(T old, T value, T) const {
    return std::min(old, value);
  }
};
struct Max {
  template <class T>
  T operator()(T old, T value, T) const {
    return std::max(old, value);
  }
};
struct And {
  template <class T>
  T operator()(T old, T value, T) const {
    return static_cast<T>(old & value);
  }
};
struct Or {
  template <class T>
  T operator()(T old, T value, T) const {
    return static_cast<T>(old | value);
  }
};
struct Xor {
  template <class T>
  T operator()(T old, T value, T) const {
    return static_cast<T>(old ^ value);
  }
};
struct Exchange {
  template <class T>
  T operator()(T, T value, T) const {
    return value;
  }
};
struct CompareAndSwap {
  template <class T>
  T operator()(T old, T value, T swap) const {
    return old == value ? swap : old;
  }
};
/// Counts up to the value, then begins at 0 again.
struct Increment {
  template <class T>
  T operator()(T old, T value, T) const {
    return old >= value ? 0 : old + 1;
  }
};
/// Counts down from the value.
struct Decrement {
  template <class T>
  T operator()(T old, T value, T) const {
    return old == 0 || old > value ? value : old - 1;
  }
};

/// The same for both halves of a packed pair.
template <class Half>
struct Pair {
  std::uint32_t operator()(std::uint32_t old, std::uint32_t value, std::uint32_t) const {
    const auto half = [&](int shift) {
      return std::uint32_t{Half{}(static_cast<std::uint16_t>(old >> shift),
                                  static_cast<std::uint16_t>(value >> shift), 0)}
             << shift;
    };
    return half(0) | half(16);
  }
};
template <std::uint16_t (*kAdd)(std::uint16_t, std::uint16_t)>
struct AddHalf {
  std::uint16_t operator()(std::uint16_t old, std::uint16_t value, std::uint16_t) const {
    return kAdd(old, value);
  }
};

/// The smaller or larger of two halves as min.f16 says it: a number rather than NaN, -0 below +0.
template <float (*kLoad)(std::uint16_t), bool kLarger>
struct ChooseHalf {
  std::uint16_t operator()(std::uint16_t old, std::uint16_t value, std::uint16_t) const {
    const float left = kLoad(old);
    const float right = kLoad(value);
    if (std::isnan(left)) return std::isnan(right) ? std::uint16_t{0x7fff} : value;
    if (std::isnan(right)) return old;
    const bool less = left < right || (left == right && (old & 0x8000U) != 0);
    return less == kLarger ? value : old;
  }
};

using MaxF16 = ChooseHalf<&f32_of_f16, true>;
using MinF16 = ChooseHalf<&f32_of_f16, false>;
using MaxBf16 = ChooseHalf<&f32_of_bf16, true>;
using MinBf16 = ChooseHalf<&f32_of_bf16, false>;

struct Pair128 {
  std::uint64_t low;
  std::uint64_t high;
  bool operator==(const Pair128&) const = default;
};

template <class T>
AtomicFunction integer_atomic(std::string_view operation) {
  if (operation == "add") return &update<T, Add>;
  if (operation == "min") return &update<T, Min>;
  if (operation == "max") return &update<T, Max>;
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    if (operation == "inc") return &update<T, Increment>;
    if (operation == "dec") return &update<T, Decrement>;
  }
  return nullptr;
}

template <class T>
AtomicFunction bit_atomic(std::string_view operation) {
  if (operation == "exch") return &update<T, Exchange>;
  if (operation == "cas") return &update<T, CompareAndSwap>;
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) {
    if (operation == "and") return &update<T, And>;
    if (operation == "or") return &update<T, Or>;
    if (operation == "xor") return &update<T, Xor>;
  }
  return nullptr;
}

}  // namespace

AtomicFunction find_atomic(std::string_view operation, ptx::Type type) {
  using ptx::Type;
  const bool adds = operation == "add";
  switch (type) {
    case Type::u32:
      return integer_atomic<std::uint32_t>(operation);
    case Type::s32:
      return integer_atomic<std::int32_t>(operation);
    case Type::u64:
      return integer_atomic<std::uint64_t>(operation);
    case Type::s64:
      return integer_atomic<std::int64_t>(operation);
    case Type::b16:
      return bit_atomic<std::uint16_t>(operation);
    case Type::b32:
      return bit_atomic<std::uint32_t>(operation);
    case Type::b64:
      return bit_atomic<std::uint64_t>(operation);
    case Type::b128:
      return bit_atomic<Pair128>(operation);
    case Type::f32:
      return adds ? &update<float, Add> : nullptr;
    case Type::f64:
      return adds ? &update<double, Add> : nullptr;
    case Type::f16:
      return adds ? &update<std::uint16_t, AddHalf<&add_f16>> : nullptr;
    case Type::bf16:
      return adds ? &update<std::uint16_t, AddHalf<&add_bf16>> : nullptr;
    case Type::f16x2:
      return adds ? &update<std::uint32_t, Pair<AddHalf<&add_f16>>> : nullptr;
    case Type::bf16x2:
      return adds ? &update<std::uint32_t, Pair<AddHalf<&add_bf16>>> : nullptr;
    default:
      return nullptr;
  }
}

AtomicFunction find_global_atomic(std::string_view operation, ptx::Type type) {
  if (operation == "add" && type == ptx::Type::f32) return &update<float, AddFlushed>;
  return find_atomic(operation, type);
}

AtomicFunction find_bulk_reduction(std::string_view operation, ptx::Type type) {
  using ptx::Type;
  if (operation == "max" && type == Type::f16) return &update<std::uint16_t, MaxF16>;
  if (operation == "min" && type == Type::f16) return &update<std::uint16_t, MinF16>;
  if (operation == "max" && type == Type::bf16) return &update<std::uint16_t, MaxBf16>;
  if (operation == "min" && type == Type::bf16) return &update<std::uint16_t, MinBf16>;
  return find_global_atomic(operation, type);
}

AtomicFunction find_vector_atomic(std::string_view operation, ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::f32:
      return operation == "add" ? find_global_atomic(operation, type) : nullptr;
    case Type::f16:
    case Type::bf16:
      return find_bulk_reduction(operation, type);
    case Type::f16x2:
      if (operation == "max") return &update<std::uint32_t, Pair<MaxF16>>;
      if (operation == "min") return &update<std::uint32_t, Pair<MinF16>>;
      return find_atomic(operation, type);
    case Type::bf16x2:
      if (operation == "max") return &update<std::uint32_t, Pair<MaxBf16>>;
      if (operation == "min") return &update<std::uint32_t, Pair<MinBf16>>;
      return find_atomic(operation, type);
    default:
      return nullptr;
  }
}

}  // namespace kiln::emulated
