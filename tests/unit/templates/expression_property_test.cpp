// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Random expression trees: the evaluator against a plain recursive one with 128-bit arithmetic.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>
#include <random>
#include <string>

#include "templates/expression/expression.hpp"

namespace kiln {
namespace {

using Value = std::optional<std::int64_t>;

/// An expression as text together with its value, built side by side.
struct Sample {
  std::string text;
  Value value;
};

// The reference calculates in long double for range checks and in unsigned words for exactness, so
// that it shares nothing with the evaluator's overflow rules.
Value checked(long double exact, std::uint64_t wrapped) {
  if (exact < -9223372036854775808.0L || exact > 9223372036854775807.0L) return std::nullopt;
  return static_cast<std::int64_t>(wrapped);
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (int i = 0; i < kNames; ++i) {
      names_.intern(fmt::format("v{}", i));
      values_.push_back(number());
    }
  }

  Sample tree(int depth) {
    if (depth == 0 || pick(6) == 0) return leaf();
    switch (pick(6)) {
      case 0:
        return unary(tree(depth - 1));
      case 1:
        return choice(tree(depth - 1), tree(depth - 1), tree(depth - 1));
      case 2:
        return call(tree(depth - 1), tree(depth - 1));
      default:
        return binary(tree(depth - 1), tree(depth - 1));
    }
  }

  [[nodiscard]] const NameTable& names() const { return names_; }
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  static constexpr int kNames = 6;

  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  std::int64_t number() {
    switch (pick(6)) {
      case 0:
        return 0;
      case 1:
        return std::numeric_limits<std::int64_t>::max() - pick(3);
      case 2:
        return std::int64_t{1} << pick(63);
      default:
        return pick(200);
    }
  }

  Sample leaf() {
    if (pick(2) == 0) {
      const auto i = static_cast<std::size_t>(pick(kNames));
      return {names_.name(static_cast<int>(i)), values_[i]};
    }
    const auto value = number();
    return {pick(4) == 0 ? fmt::format("0x{:x}", value) : fmt::format("{}", value), value};
  }

  Sample unary(const Sample& a) {
    if (pick(2) == 0) {
      return {fmt::format("!({})", a.text), a.value ? Value(*a.value == 0) : std::nullopt};
    }
    Value value;
    if (a.value) {
      value = checked(-static_cast<long double>(*a.value),
                      std::uint64_t{0} - static_cast<std::uint64_t>(*a.value));
    }
    return {fmt::format("-({})", a.text), value};
  }

  static Sample choice(const Sample& c, const Sample& a, const Sample& b) {
    return {fmt::format("(({}) ? {} : {})", c.text, a.text, b.text),
            c.value ? (*c.value != 0 ? a.value : b.value) : std::nullopt};
  }

  Sample call(const Sample& a, const Sample& b) {
    const bool both = a.value && b.value;
    switch (pick(3)) {
      case 0:
        return {fmt::format("min({}, {})", a.text, b.text),
                both ? Value(*a.value < *b.value ? *a.value : *b.value) : std::nullopt};
      case 1:
        return {fmt::format("max({},{})", a.text, b.text),
                both ? Value(*a.value > *b.value ? *a.value : *b.value) : std::nullopt};
      default: {
        Value value;
        // Restricted to where the textbook formula holds; else use something simpler.
        if (both && *a.value >= 0 && *b.value > 0) {
          value = *a.value / *b.value + (*a.value % *b.value != 0 ? 1 : 0);
          return {fmt::format("ceil_div({}, {})", a.text, b.text), value};
        }
        return binary(a, b);
      }
    }
  }

  Sample binary(const Sample& a, const Sample& b) {
    static constexpr std::array kSymbols{
        "+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||"};
    const auto which = static_cast<std::size_t>(pick(kSymbols.size()));
    // A third of the operands go without parentheses where they are atoms anyway.
    return {fmt::format("({} {} {})", a.text, kSymbols[which], b.text), apply(which, a, b)};
  }

  static Value apply(std::size_t which, const Sample& a, const Sample& b) {
    if (!a.value) return std::nullopt;
    const auto x = *a.value;
    if (which == 11 && x == 0) return 0;
    if (which == 12 && x != 0) return 1;
    if (!b.value) return std::nullopt;
    const auto y = *b.value;
    const auto lx = static_cast<long double>(x);
    const auto ly = static_cast<long double>(y);
    const auto ux = static_cast<std::uint64_t>(x);
    const auto uy = static_cast<std::uint64_t>(y);
    constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
    switch (which) {
      case 0:
        return checked(lx + ly, ux + uy);
      case 1:
        return checked(lx - ly, ux - uy);
      case 2:
        return checked(lx * ly, ux * uy);
      case 3:
        return y == 0 || (x == kMin && y == -1) ? std::nullopt : Value(x / y);
      case 4:
        return y == 0 || (x == kMin && y == -1) ? std::nullopt : Value(x % y);
      case 5:
        return x == y;
      case 6:
        return x != y;
      case 7:
        return x < y;
      case 8:
        return x <= y;
      case 9:
        return x > y;
      case 10:
        return x >= y;
      default:
        return y != 0;
    }
  }

  std::mt19937_64 random_;
  NameTable names_;
  std::vector<std::int64_t> values_;
};

TEST(ExpressionProperty, AgreesWithAReferenceEvaluator) {
  int defined = 0;
  for (unsigned seed = 0; seed < 5000; ++seed) {
    Generator generator(seed);
    const Sample sample = generator.tree(1 + static_cast<int>(seed % 6));
    const auto expression = Expression::parse(sample.text, generator.names(), {"random", 1, 1});
    ASSERT_EQ(expression.evaluate(generator.values()), sample.value) << sample.text;
    defined += sample.value ? 1 : 0;
  }
  // Neither kind of result may crowd out the other.
  EXPECT_GT(defined, 1500);
  EXPECT_LT(defined, 4800);
}

}  // namespace
}  // namespace kiln
