// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kiln {

/// Where a piece of text came from, for errors: "file:line:column: ".
struct SourcePlace {
  std::string file;
  int line = 1;
  int column = 1;              ///< of the first character of the text
  std::string line_text = {};  ///< the whole line, shown above the caret; empty: only the text

  /// Text that spans several lines: the place of what begins at `offset` in it.
  struct Continuation {
    std::size_t offset = 0;
    int line = 1;
    int column = 1;
    std::string line_text;
  };
  std::vector<Continuation> continuations = {};  ///< by ascending offset

  /// The place of character `offset` of the text.
  [[nodiscard]] SourcePlace at(std::size_t offset) const;
};

/// Assigns dense slots to names, so that evaluation indexes an array and never compares strings.
class NameTable {
 public:
  int intern(std::string_view name);
  [[nodiscard]] int find(std::string_view name) const;  ///< -1 when unknown
  [[nodiscard]] int size() const { return static_cast<int>(names_.size()); }
  [[nodiscard]] const std::string& name(int slot) const { return names_[slot]; }

  /// What a slot holds.
  enum class Kind : std::uint8_t { integer, boolean, name, real };

  /// Says that a slot holds values of a tunable (templates/space/tunable_value.hpp): one of
  /// `values`, which are all of one kind, or integers among decimal numbers.
  void set_values(int slot, std::span<const std::int64_t> values);
  [[nodiscard]] Kind kind(int slot) const;
  /// The values of a slot of kind `name`; empty for others.
  [[nodiscard]] std::span<const std::int64_t> named_values(int slot) const;
  /// Whether a slot of kind `name` has a value of that name.
  [[nodiscard]] bool is_value_name(std::string_view name) const;

  /// `copy.tma` is 1 where slot `copy` has the value that is called tma, else 0.
  struct ValueTest {
    int slot = -1;
    std::int64_t value = 0;
  };
  [[nodiscard]] const ValueTest* find_test(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> test_names() const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, int, Hash, std::equal_to<>> slots_;  ///< by name
  std::map<std::string, ValueTest, std::less<>> tests_;                ///< "copy.tma"
  struct Values {
    Kind kind = Kind::integer;
    std::vector<std::int64_t> values;
  };
  std::map<int, Values> values_;  ///< by slot; slots of plain integers have none
};

/// An expression of the front matter, total over its names. Its value is a 64-bit integer:
///   - `+ - * / %` (division truncates; by zero, and any overflow, makes the value undefined),
///     comparisons, which chain (`32 <= x <= 64`), `x in (1, 2)`, `x not in (1, 2)`,
///     `&& || !` or `and or not` (short-circuit), `a ? b : c`, min(..) max(..) ceil_div(a,b)
///     round_up(a,b) gcd(a,b) is_pow2(a) log2(a) (rounded down) abs(a), decimal and 0x literals,
///     true/false, parentheses, dotted names.
///   - Decimal literals, slots of decimal numbers, and what `+ - * / %`, min, max and abs make of
///     them are doubles. Comparisons, `in` and floor(a) ceil(a) round(a) turn them into integers,
///     which the value of the whole expression has to be. Not finite is undefined.
///   - Names of values are compared with the slot that has them: `copy == tma`.
/// "Undefined" is a value of the language: a requirement that is undefined does not hold. Immutable
/// and cheap to copy; evaluation neither allocates nor locks.
class Expression {
 public:
  /// What becomes of a value that is a double.
  enum class Real : std::uint8_t {
    refused,
    rounded_up,
    kept,  ///< only for evaluate_real()
  };

  /// Parses and checks every name against `names`. Throws Error(template_) with
  /// file:line:column and a caret line.
  static Expression parse(std::string_view text, const NameTable& names, const SourcePlace& place,
                          Real real = Real::refused);

  /// Whether the numbers in `slots` are, in that order, the first numbers of one of `rows`, which
  /// are sorted, each at least as long as `slots`. `text` describes it.
  static Expression listed(std::shared_ptr<const std::vector<std::vector<std::int64_t>>> rows,
                           const std::vector<int>& slots, std::string text);

  /// `values` is indexed by slot. Nothing when undefined (division by zero, overflow).
  [[nodiscard]] std::optional<std::int64_t> evaluate(std::span<const std::int64_t> values) const;
  /// The same in floating point, for counts that exceed 64 bits: division still truncates, nothing
  /// overflows, and what is undefined is a division by zero or a function of bits (gcd, is_pow2,
  /// log2) of a number beyond 2^53.
  [[nodiscard]] std::optional<double> evaluate_real(std::span<const double> values) const;
  /// Slots of the names it mentions, ascending, without repeats.
  [[nodiscard]] const std::vector<int>& names_used() const { return names_used_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  struct Op;
  struct Listing {
    std::shared_ptr<const std::vector<std::vector<std::int64_t>>> rows;
    std::vector<int> slots;
  };
  Expression() = default;
  [[nodiscard]] bool is_listed(std::span<const std::int64_t> values) const;
  template <class Number>
  class Evaluation;
  std::string text_;
  std::vector<int> names_used_;
  std::shared_ptr<const std::vector<Op>> code_;  ///< postfix, with jumps for && || ?:
  std::shared_ptr<const Listing> listing_;       ///< of listed(), which has no code
};

}  // namespace kiln
