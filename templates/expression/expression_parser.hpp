// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression/expression_code.hpp"
#include "templates/expression/expression_reader.hpp"

namespace kiln {

/// Recursive descent from text to the postfix program of an Expression. expression_parser.cpp reads
/// operators, expression_operands.cpp what they join.
class ExpressionParser : private ExpressionReader {
 public:
  ExpressionParser(std::string_view text, const NameTable& names, const SourcePlace& place)
      : ExpressionReader(text, kMaxNesting), names_(names), place_(place) {}

  Expression run(Expression::Real real);

 private:
  using Op = Expression::Op;
  using Code = Op::Code;
  using RealCode = Op::RealCode;

  /// What has been read: the code of a value, and its type.
  struct Value {
    enum class Type : std::uint8_t { integer, real, name } type = Type::integer;
    std::size_t begin = 0;  ///< in the text
    /// Of a name: the slot that holds one of its values; -1 for a value of a slot to come.
    int slot = -1;
    std::string_view name = {};  ///< of that value
    std::size_t constant = 0;    ///< the step that will push it
  };
  using Type = Value::Type;
  struct Function;

  struct Binary {
    std::string_view symbol;
    int precedence;
    Code code;
    bool is_word = false;
    bool negated = false;  ///< `not in`
  };

  /// Bounds the recursion, whatever the input.
  static constexpr int kMaxNesting = 100;
  /// Bounds the cost of one evaluation, of which a space needs many.
  static constexpr std::size_t kMaxLength = 65536;

  [[nodiscard]] Error error_at(std::size_t offset, std::string_view message) const override;

  std::size_t emit(Op op, int change);
  void emit_real(RealCode code, int change = 0, std::int32_t operand = 0);
  void emit_binary(Code code);
  void land(std::size_t jump);

  // Operators.
  Value conditional();
  [[nodiscard]] const Binary* peek_binary() const;
  [[nodiscard]] bool at_word(std::string_view word) const;
  Value binary(int lowest);
  Value logical(const Value& left, const Binary& op);
  Value arithmetic(const Value& left, const Binary& op);
  Value comparisons(Value left);
  Value membership(const Value& left, const Binary& op);
  [[nodiscard]] const Binary* peek_comparison() const;
  bool balance(const Value& left, const Value& right);
  void compare(Code code, bool is_real);
  Value negation();
  Value unary();

  // Operands.
  Value primary();
  Value literal();
  Value name_or_call();
  Value named(std::size_t begin, std::string_view name);
  Value call(std::size_t begin, std::string_view name);
  Value fold(const Value& left, const Value& right, Code code, RealCode real);
  Value compared_with(const Value& left, int lowest);
  void need_number(const Value& value) const;
  void need_integer(const Value& value, std::string_view by) const;
  void check_names(Value& left, Value& right);
  [[nodiscard]] std::int64_t value_named(int slot, std::size_t begin, std::string_view name) const;
  [[nodiscard]] std::string unknown_name(std::string_view name) const;

  const NameTable& names_;
  const SourcePlace& place_;
  int pending_ = 0;
  std::size_t landed_ = 0;  ///< where the last jump goes to
  std::vector<Op> code_;
  std::vector<int> used_;
};

}  // namespace kiln
