// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/expression/expression.hpp"

namespace kiln {

/// A launch of no blocks: it would run nothing, and leave every result unwritten.
class EmptyGridError : public Error {
 public:
  using Error::Error;
};

/// What rounds up in place of an expression that is one division: "ceil_div(n, tile)" of
/// "n / tile"; else "".
[[nodiscard]] std::string rounded_up_division(std::string_view text);

/// Evaluates the expressions of one launch, or of what is common to all; errors name it. `Where`
/// makes the name, which takes longer than all the rest and is seldom needed.
template <class Where>
class LaunchEvaluator {
 public:
  LaunchEvaluator(Where where, std::span<const std::int64_t> values)
      : where_(std::move(where)), values_(values) {}

  [[noreturn]] void fail(std::string_view message) const {
    throw Error(ErrorKind::template_, fmt::format("{}: {}", where_(), message));
  }

  /// `axis`: of an extent that has several, the one that is meant.
  [[nodiscard]] std::int64_t value(std::string_view what, const Expression& expression,
                                   std::int64_t least, std::int64_t most, char axis = 0) const {
    const auto result = expression.evaluate(values_);
    const auto name = [&] {
      return axis == 0 ? std::string(what) : fmt::format("{}.{}", what, axis);
    };
    if (!result) {
      fail(fmt::format("{} \"{}\" is undefined (division by zero or overflow)", name(),
                       expression.text()));
    }
    if (*result == 0 && what == "grid") refuse_no_blocks(expression, axis);
    if (*result < least || *result > most) {
      fail(fmt::format("{} \"{}\" is {}, but must be from {} to {}", name(), expression.text(),
                       *result, least, most));
    }
    return *result;
  }

  [[nodiscard]] std::array<std::uint32_t, 3> extent(std::string_view what,
                                                    const std::vector<Expression>& expressions,
                                                    const std::array<std::int64_t, 3>& most) const {
    std::array<std::uint32_t, 3> result{1, 1, 1};
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      result[i] = static_cast<std::uint32_t>(value(what, expressions[i], 1, most[i], "xyz"[i]));
    }
    return result;
  }

 private:
  [[noreturn]] void refuse_no_blocks(const Expression& expression, char axis) const {
    const std::string& text = expression.text();
    const std::string rounded_up = rounded_up_division(text);
    const std::string remedy =
        !rounded_up.empty() ? fmt::format("Next: write {}, because \"/\" rounds down.", rounded_up)
        : text.find('/') == std::string::npos
            ? "Next: write an expression that is at least 1, such as ceil_div(n, block)."
            : "Next: write ceil_div(n, block) instead of n / block, because \"/\" rounds down.";
    throw EmptyGridError(ErrorKind::template_,
                         fmt::format("{}: grid.{} \"{}\" is 0, so no block would run. {}", where_(),
                                     axis, text, remedy));
  }

  Where where_;
  std::span<const std::int64_t> values_;
};

}  // namespace kiln
