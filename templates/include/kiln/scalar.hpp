// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace kiln {

/// The value of a scalar argument. A Scalar holds every double and every 64-bit integer exactly.
///
///     kernel.launch(stream, {.operands = {x, y}, .scalars = {0.125, true, 0x9E3779B97F4A7C15}});
///     arguments.scalars[seed] = std::uint64_t{7};
///
/// Numbers convert to Scalar implicitly. A `long double` rounds to the nearest double. A launch
/// checks the value against the type that the operation declares. Two Scalars are equal if they
/// hold the same number: `Scalar{1}` equals `Scalar{1.0}`. NaN equals nothing. `Scalar{}` is 0.
/// `Scalar s;` leaves s uninitialised, like `double s;`. Scalar is trivially copyable. No member
/// throws, locks or allocates. Several threads may read one Scalar at the same time.
class Scalar {
 public:
  Scalar() = default;
  template <class Number, std::enable_if_t<std::is_floating_point_v<Number> ||
                                               (std::is_integral_v<Number> && sizeof(Number) <= 8),
                                           int> = 0>
  constexpr Scalar(Number number) noexcept : Scalar(from(wide(number))) {}

  /// Calls `use` with the number and returns the result of the call. `use` gets a double if a
  /// double represents the number exactly. Otherwise, `use` gets a negative number as a
  /// std::int64_t, and a positive number as a std::uint64_t. The result of `use` must have the same
  /// type in all three cases.
  template <class Use>
  constexpr auto visit(Use&& use) const {
    switch (kind_) {
      case Kind::negative:
        return std::forward<Use>(use)(held_.negative);
      case Kind::positive:
        return std::forward<Use>(use)(held_.positive);
      case Kind::float64:
        break;
    }
    return std::forward<Use>(use)(held_.float64);
  }

  /// The number, rounded to the nearest double.
  [[nodiscard]] constexpr double as_double() const noexcept {
    return visit([](auto number) { return static_cast<double>(number); });
  }

  // Each number has exactly one kind, so Scalars of different kinds hold different numbers.
  friend constexpr bool operator==(const Scalar& left, const Scalar& right) noexcept {
    if (left.kind_ != right.kind_) return false;
    if (left.kind_ == Kind::negative) return left.held_.negative == right.held_.negative;
    if (left.kind_ == Kind::positive) return left.held_.positive == right.held_.positive;
    return left.held_.float64 == right.held_.float64;
  }
  friend constexpr bool operator!=(const Scalar& left, const Scalar& right) noexcept {
    return !(left == right);
  }

 private:
  /// Which member of the union `Held` contains the number. `float64` holds every number that a
  /// double represents exactly. The other two members hold only integers that no double represents.
  /// `float64` is the first enumerator, so that zeroed memory is the number 0.
  enum class Kind : std::uint8_t { float64, negative, positive };

  union Held {
    Held() = default;
    constexpr explicit Held(double number) noexcept : float64(number) {}
    constexpr explicit Held(std::int64_t number) noexcept : negative(number) {}
    constexpr explicit Held(std::uint64_t number) noexcept : positive(number) {}
    double float64;
    std::int64_t negative;
    std::uint64_t positive;
  };

  constexpr Scalar(Held held, Kind kind) noexcept : held_(held), kind_(kind) {}

  template <class Number>
  static constexpr auto wide(Number number) noexcept {
    if constexpr (std::is_floating_point_v<Number>) {
      return static_cast<double>(number);
    } else if constexpr (std::is_signed_v<Number>) {
      return static_cast<std::int64_t>(number);
    } else {
      return static_cast<std::uint64_t>(number);
    }
  }

  static constexpr Scalar from(double number) noexcept { return {Held(number), Kind::float64}; }
  static constexpr Scalar from(std::uint64_t number) noexcept {
    if (is_float64(number)) return from(static_cast<double>(number));
    return {Held(number), Kind::positive};
  }
  static constexpr Scalar from(std::int64_t number) noexcept {
    if (number >= 0) return from(static_cast<std::uint64_t>(number));
    if (is_float64(0 - static_cast<std::uint64_t>(number))) {
      return from(static_cast<double>(number));
    }
    return {Held(number), Kind::negative};
  }

  static constexpr bool is_float64(std::uint64_t magnitude) noexcept {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 53;
    while (magnitude > kMost && magnitude % 2 == 0) magnitude /= 2;
    return magnitude <= kMost;
  }

  Held held_;
  Kind kind_;
};

}  // namespace kiln
