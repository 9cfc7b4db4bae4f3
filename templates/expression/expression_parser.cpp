// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Recursive descent from text to the postfix program of an Expression.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "templates/expression/expression_code.hpp"
#include "templates/expression/expression_reader.hpp"
#include "templates/nearest_name.hpp"
#include "templates/source_error.hpp"
#include "templates/template_names.hpp"

namespace kiln {

class ExpressionParser : private ExpressionReader {
 public:
  ExpressionParser(std::string_view text, const NameTable& names, const SourcePlace& place)
      : ExpressionReader(text, kMaxNesting), names_(names), place_(place) {}

  Expression run() {
    skip_space();
    if (at_end()) fail(at_, "an expression is missing here");
    if (text_.size() > kMaxLength) {
      fail(at_, fmt::format("the expression has more than {} characters; move parts of the "
                            "expression into \"let\" lines",
                            kMaxLength));
    }
    conditional();
    refuse_value_behind_value("an operator (or, in a list, a comma)");
    if (!at_end()) fail(at_, "expected here: an operator or the end of the expression");

    Expression result;
    result.text_ = text_.substr(0, text_.find_last_not_of(kSpace) + 1);
    std::sort(used_.begin(), used_.end());
    used_.erase(std::unique(used_.begin(), used_.end()), used_.end());
    result.names_used_ = std::move(used_);
    result.code_ = std::make_shared<const std::vector<Op>>(std::move(code_));
    return result;
  }

 private:
  using Op = Expression::Op;
  using Code = Op::Code;

  struct Binary {
    std::string_view symbol;
    int precedence;
    Code code;
  };
  /// Longer symbols first, so that "<=" is not read as "<".
  static constexpr std::array<Binary, 13> kBinaries{{{"||", 1, Code::or_jump},
                                                     {"&&", 2, Code::and_jump},
                                                     {"==", 3, Code::equal},
                                                     {"!=", 3, Code::not_equal},
                                                     {"<=", 4, Code::less_equal},
                                                     {">=", 4, Code::greater_equal},
                                                     {"<", 4, Code::less},
                                                     {">", 4, Code::greater},
                                                     {"+", 5, Code::add},
                                                     {"-", 5, Code::subtract},
                                                     {"*", 6, Code::multiply},
                                                     {"/", 6, Code::divide},
                                                     {"%", 6, Code::remainder}}};
  static constexpr int kEquality = 3;
  static constexpr int kRelation = 4;

  struct Function {
    std::string_view name;
    int arguments;  // 0: two or more, folded from the left
    Code code;
  };
  static constexpr std::array<Function, 8> kFunctions{{{"min", 0, Code::minimum},
                                                       {"max", 0, Code::maximum},
                                                       {"ceil_div", 2, Code::ceil_div},
                                                       {"round_up", 2, Code::round_up},
                                                       {"gcd", 2, Code::gcd},
                                                       {"is_pow2", 1, Code::is_pow2},
                                                       {"log2", 1, Code::log2},
                                                       {"abs", 1, Code::abs}}};
  /// Bounds the recursion, whatever the input.
  static constexpr int kMaxNesting = 100;
  /// Bounds the cost of one evaluation, of which a space needs many.
  static constexpr std::size_t kMaxLength = 65536;

  [[nodiscard]] Error error_at(std::size_t offset, std::string_view message) const override {
    return source_error(place_, text_, offset, message);
  }

  /// Appends an operation; `change` is its effect on the number of pending values.
  std::size_t emit(Op op, int change) {
    pending_ += change;
    if (pending_ > kMaxExpressionStack) fail(at_, "the expression is nested too deeply");
    code_.push_back(op);
    return code_.size() - 1;
  }

  /// Appends a binary operator. A constant or a name as its right operand becomes part of it,
  /// unless a jump passes over that operand: evaluation takes fewer steps.
  void emit_binary(Code code) {
    Op& right = code_.back();
    const bool joins =
        (right.code == Code::constant || right.code == Code::name) && landed_ != code_.size();
    if (!joins) {
      emit({code}, -1);
      return;
    }
    right.right = right.code == Code::constant ? Op::Right::constant : Op::Right::name;
    right.code = code;
    --pending_;
  }

  /// Points an earlier jump at what is emitted next.
  void land(std::size_t jump) {
    landed_ = code_.size();
    code_[jump].operand = static_cast<std::int32_t>(landed_);
  }

  void conditional() {
    const Nested nested(*this);
    binary(1);
    if (!accept("?")) return;
    const auto to_else = emit({Code::jump_if_zero}, -1);
    conditional();
    expect(":", "between the two results of '?'");
    const auto to_end = emit({Code::jump}, -1);  // only one of the two results ever exists
    land(to_else);
    conditional();
    land(to_end);
  }

  const Binary* peek_binary() const {
    const std::string_view text = rest();
    const auto found = std::find_if(kBinaries.begin(), kBinaries.end(),
                                    [&](const Binary& b) { return text.starts_with(b.symbol); });
    return found == kBinaries.end() ? nullptr : &*found;
  }

  /// Precedence climbing: reads operators that bind at least as strongly as `lowest`.
  void binary(int lowest) {
    unary();
    int compared = 0;  // precedence of the comparison just read, which must not be read again
    while (true) {
      const Binary* const op = peek_binary();
      if (op == nullptr) {
        if (peek() == '&' || peek() == '|' || peek() == '=') {
          fail(at_, fmt::format("'{}' is not an operator; write '{}{}'", peek(), peek(), peek()));
        }
        return;
      }
      if (op->precedence < lowest) return;
      if (op->precedence == compared) {
        fail(at_,
             "comparisons cannot be chained; write \"a < b && b < c\" instead of \"a < b < c\"");
      }
      const bool comparison = op->precedence == kEquality || op->precedence == kRelation;
      compared = comparison ? op->precedence : 0;
      at_ += op->symbol.size();
      skip_space();
      // The jump keeps 0 or 1 if the left side decides; else the right side is the value.
      if (op->code == Code::and_jump || op->code == Code::or_jump) {
        const auto jump = emit({op->code}, -1);
        binary(op->precedence + 1);
        emit({Code::to_bool}, 0);
        land(jump);
      } else {
        binary(op->precedence + 1);
        emit_binary(op->code);
      }
    }
  }

  void unary() {
    const Nested nested(*this);
    if (peek() == '!' && !rest().starts_with("!=")) {
      accept("!");
      unary();
      emit({Code::logical_not}, 0);
    } else if (accept("-")) {
      unary();
      emit({Code::negate}, 0);
    } else {
      primary();
    }
  }

  void primary() {
    if (accept("(")) {
      conditional();
      refuse_value_behind_value("an operator");
      expect(")", "to close '('");
    } else if (is_digit(peek())) {
      literal();
    } else if (is_letter(peek())) {
      name_or_call();
    } else if (at_end()) {
      fail(at_, "a value is missing at the end of the expression");
    } else {
      fail(at_, "expected here: a value");
    }
  }

  /// from_chars would take a sign after 0x, and stop at the first letter of "12ab".
  void literal() {
    const auto begin = at_;
    auto digits = rest();
    int base = 10;
    if (digits.starts_with("0x") || digits.starts_with("0X")) {
      digits.remove_prefix(2);
      base = 16;
    }
    Op op{Code::constant};
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), op.value, base);
    if (status == std::errc::result_out_of_range)
      fail(begin, "the number does not fit into 64 bits");
    at_ = static_cast<std::size_t>(end - text_.data());
    const bool sign_after_prefix = base == 16 && digits.starts_with('-');
    if (status != std::errc{} || sign_after_prefix || is_letter(peek()) || is_digit(peek()) ||
        peek() == '.') {
      fail(begin, "not an integer");
    }
    emit(op, 1);
    skip_space();
  }

  /// A dot belongs to the name, so `device.sm` is one name.
  void name_or_call() {
    const auto begin = at_;
    while (is_letter(peek()) || is_digit(peek()) || peek() == '.') ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    skip_space();
    if (peek() == '(') {
      call(begin, name);
    } else if (name == "true" || name == "false") {
      emit({.code = Code::constant, .value = name == "true" ? 1 : 0}, 1);
    } else {
      const NameTable::ValueTest* const test = names_.find_test(name);
      const int slot = test != nullptr ? test->slot : names_.find(name);
      if (slot < 0) fail(begin, unknown_name(name));
      used_.push_back(slot);
      emit({.code = Code::name, .operand = slot}, 1);
      if (test == nullptr) return;
      emit({.code = Code::constant, .value = test->value}, 1);
      emit_binary(Code::equal);
    }
  }

  void call(std::size_t begin, std::string_view name) {
    const auto function = std::find_if(kFunctions.begin(), kFunctions.end(),
                                       [&](const Function& f) { return f.name == name; });
    if (function == kFunctions.end()) {
      if (names_.find(name) >= 0) refuse_value_behind_value("an operator");
      fail(begin, unknown_function(name));
    }
    accept("(");
    int arguments = 0;
    do {
      conditional();
      if (++arguments > 1 && function->arguments == 0) emit_binary(function->code);
    } while (accept(","));
    refuse_value_behind_value("a comma or an operator");
    expect(")", fmt::format("to close the arguments of {}", name));
    if (function->arguments == 0) {
      if (arguments < 2) fail(begin, fmt::format("{} needs at least two arguments", name));
      return;
    }
    if (arguments != function->arguments) {
      fail(begin, fmt::format("{} takes {} argument{}, not {}", name, function->arguments,
                              function->arguments == 1 ? "" : "s", arguments));
    }
    if (arguments == 2) {
      emit_binary(function->code);
    } else {
      emit({function->code}, 0);
    }
  }

  /// Only on the way to an error, so the cost of the list does not matter.
  [[nodiscard]] std::string unknown_name(std::string_view name) const {
    std::vector<std::string> known = names_.test_names();
    for (int slot = 0; slot < names_.size(); ++slot) known.push_back(names_.name(slot));
    const std::string meant = nearest_name(name, known);
    // Where tile_h is declared and tile_y is not, tile_x is not what was meant.
    if (meant.empty() || are_siblings(name, meant)) {
      const std::string others = own_names(known);
      if (!others.empty()) return fmt::format("unknown name \"{}\"{}", name, others);
    }
    return fmt::format("unknown name \"{}\"{}", name, did_you_mean(name, known));
  }

  /// "; there are n, radius": what an operation or a template names, without the device's and
  /// what types give.
  static std::string own_names(std::vector<std::string> known) {
    constexpr std::size_t kMost = 12;
    const NameTable of_device = device_names();
    std::erase_if(known, [&](const std::string& each) {
      return of_device.find(each) >= 0 || each.find('.') != std::string::npos ||
             each.ends_with("_bytes") || each.ends_with("_packed") || each.ends_with("_type");
    });
    if (known.empty() || known.size() > kMost) return "";
    return fmt::format("; there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
  }

  static std::string unknown_function(std::string_view name) {
    std::vector<std::string> known;
    for (const auto& function : kFunctions) known.emplace_back(function.name);
    return fmt::format("unknown function \"{}\"{}", name, did_you_mean(name, known));
  }

  const NameTable& names_;
  const SourcePlace& place_;
  int pending_ = 0;
  std::size_t landed_ = 0;  ///< where the last jump goes to
  std::vector<Op> code_;
  std::vector<int> used_;
};

Expression Expression::parse(std::string_view text, const NameTable& names,
                             const SourcePlace& place) {
  return ExpressionParser(text, names, place).run();
}

}  // namespace kiln
