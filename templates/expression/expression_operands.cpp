// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

#include "templates/expression/expression_parser.hpp"
#include "templates/nearest_name.hpp"
#include "templates/space/tunable_value.hpp"
#include "templates/template_names.hpp"

namespace kiln {
namespace {

/// "; there are n, radius": what an operation or a template names, without the device's and
/// what types give.
std::string own_names(std::vector<std::string> known) {
  constexpr std::size_t kMost = 12;
  const NameTable of_device = device_names();
  const auto is_of_device = [&](const std::string& each) { return of_device.find(each) >= 0; };
  // Names of types come together with those of the device.
  const bool has_types = std::ranges::any_of(known, is_of_device);
  std::erase_if(known, [&](const std::string& each) {
    return is_of_device(each) || each.find('.') != std::string::npos ||
           (has_types &&
            (each.ends_with("_bytes") || each.ends_with("_packed") || each.ends_with("_type")));
  });
  if (known.empty() || known.size() > kMost) return "";
  return fmt::format("; there {} {}", known.size() == 1 ? "is" : "are", fmt::join(known, ", "));
}

}  // namespace

struct ExpressionParser::Function {
  std::string_view name;
  int arguments;  // 0: two or more, folded from the left
  Code code;
  /// What takes a double: its step, and whether the result is an integer. `literal`: it takes none.
  RealCode real = RealCode::literal;
  bool rounds = false;

  static const std::array<Function, 11>& all();
};

const std::array<ExpressionParser::Function, 11>& ExpressionParser::Function::all() {
  static constexpr std::array<Function, 11> kAll{{{"min", 0, Code::minimum, RealCode::minimum},
                                                  {"max", 0, Code::maximum, RealCode::maximum},
                                                  {"ceil_div", 2, Code::ceil_div},
                                                  {"round_up", 2, Code::round_up},
                                                  {"gcd", 2, Code::gcd},
                                                  {"is_pow2", 1, Code::is_pow2},
                                                  {"log2", 1, Code::log2},
                                                  {"abs", 1, Code::abs, RealCode::abs},
                                                  {"floor", 1, Code::real, RealCode::floor, true},
                                                  {"ceil", 1, Code::real, RealCode::ceil, true},
                                                  {"round", 1, Code::real, RealCode::round, true}}};
  return kAll;
}

ExpressionParser::Value ExpressionParser::primary() {
  const std::size_t begin = at_;
  if (accept("(")) {
    Value inner = conditional();
    refuse_value_behind_value("an operator");
    expect(")", "to close '('");
    inner.begin = begin;
    return inner;
  }
  const bool is_fraction = peek() == '.' && rest().size() > 1 && is_digit(rest()[1]);
  if (is_digit(peek()) || is_fraction) return literal();
  if (is_letter(peek())) return name_or_call();
  fail(at_,
       at_end() ? "a value is missing at the end of the expression" : "expected here: a value");
}

/// from_chars would take a sign after 0x, and stop at the first letter of "12ab".
ExpressionParser::Value ExpressionParser::literal() {
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
  const char next = end == text_.data() + text_.size() ? ' ' : *end;
  if (base == 10 && (next == '.' || next == 'e' || next == 'E')) {
    // As a word: digits, letters and dots, and a sign behind the exponent's e.
    while (is_letter(peek()) || is_digit(peek()) || peek() == '.' ||
           ((peek() == '-' || peek() == '+') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E'))) {
      ++at_;
    }
    const auto value = parse_value(text_.substr(begin, at_ - begin));
    if (!value || !is_real_value(*value)) {
      fail(begin, fmt::format("not a number: write an integer or a decimal number of at most {} "
                              "digits",
                              kMostDecimalDigits));
    }
    emit({.code = Code::real,
          .detail = static_cast<std::uint8_t>(RealCode::literal),
          .value = std::bit_cast<std::int64_t>(number_of(*value))},
         1);
    skip_space();
    return {.type = Type::real, .begin = begin};
  }
  if (status == std::errc::result_out_of_range) fail(begin, "the number does not fit into 64 bits");
  at_ = static_cast<std::size_t>(end - text_.data());
  const bool sign_after_prefix = base == 16 && digits.starts_with('-');
  if (status != std::errc{} || sign_after_prefix || is_letter(peek()) || is_digit(peek()) ||
      peek() == '.') {
    fail(begin, "not an integer");
  }
  emit(op, 1);
  skip_space();
  return {.begin = begin};
}

/// A dot belongs to the name, so `device.sm` is one name.
ExpressionParser::Value ExpressionParser::name_or_call() {
  const auto begin = at_;
  while (is_letter(peek()) || is_digit(peek()) || peek() == '.') ++at_;
  const auto name = text_.substr(begin, at_ - begin);
  skip_space();
  return peek() == '(' ? call(begin, name) : named(begin, name);
}

ExpressionParser::Value ExpressionParser::named(std::size_t begin, std::string_view name) {
  if (name == "true" || name == "false" || name == "True" || name == "False") {
    emit({.code = Code::constant, .value = name.back() == 'e' && name.size() == 4 ? 1 : 0}, 1);
    return {.begin = begin};
  }
  const NameTable::ValueTest* const test = names_.find_test(name);
  const int slot = test != nullptr ? test->slot : names_.find(name);
  if (slot < 0) {
    if (name == "not") fail(begin, "put \"not\" and its operand into parentheses: (not a)");
    if (!names_.is_value_name(name)) fail(begin, unknown_name(name));
    const std::size_t constant = emit({.code = Code::constant}, 1);
    return {.type = Type::name, .begin = begin, .name = name, .constant = constant};
  }
  used_.push_back(slot);
  if (test == nullptr && names_.kind(slot) == NameTable::Kind::real) {
    emit_real(RealCode::name, 1, slot);
    return {.type = Type::real, .begin = begin};
  }
  emit({.code = Code::name, .operand = slot}, 1);
  if (test == nullptr && names_.kind(slot) == NameTable::Kind::name) {
    return {.type = Type::name, .begin = begin, .slot = slot, .name = name};
  }
  if (test == nullptr && names_.kind(slot) == NameTable::Kind::integer) return {.begin = begin};
  emit({.code = Code::constant, .value = test == nullptr ? value_of_bool(true) : test->value}, 1);
  emit_binary(Code::equal);
  return {.begin = begin};
}

ExpressionParser::Value ExpressionParser::call(std::size_t begin, std::string_view name) {
  const auto& functions = Function::all();
  const auto function = std::ranges::find(functions, name, &Function::name);
  if (function == functions.end()) {
    if (names_.find(name) >= 0) refuse_value_behind_value("an operator");
    std::vector<std::string> known;
    for (const Function& each : functions) known.emplace_back(each.name);
    fail(begin, fmt::format("unknown function \"{}\"{}", name, did_you_mean(name, known)));
  }
  accept("(");
  std::vector<Value> arguments;
  Value result;
  do {
    arguments.push_back(conditional());
    if (function->arguments == 0) {
      result = arguments.size() == 1
                   ? arguments[0]
                   : fold(result, arguments.back(), function->code, function->real);
    }
  } while (accept(","));
  refuse_value_behind_value("a comma or an operator");
  expect(")", fmt::format("to close the arguments of {}", name));
  if (function->arguments == 0) {
    if (arguments.size() < 2) fail(begin, fmt::format("{} needs at least two arguments", name));
    result.begin = begin;
    return result;
  }
  if (std::cmp_not_equal(arguments.size(), function->arguments)) {
    fail(begin, fmt::format("{} takes {} argument{}, not {}", name, function->arguments,
                            function->arguments == 1 ? "" : "s", arguments.size()));
  }
  const Value& first = arguments[0];
  need_number(first);
  if (function->real != RealCode::literal) {
    // Of an integer, floor and the like are the integer itself.
    if (first.type == Type::real) {
      emit_real(function->real);
    } else if (!function->rounds) {
      emit({function->code}, 0);
    }
    return {.type = function->rounds ? Type::integer : first.type, .begin = begin};
  }
  for (const Value& argument : arguments) need_integer(argument, name);
  if (arguments.size() == 2) {
    emit_binary(function->code);
  } else {
    emit({function->code}, 0);
  }
  return {.begin = begin};
}

ExpressionParser::Value ExpressionParser::fold(const Value& left, const Value& right, Code code,
                                               RealCode real) {
  need_number(left);
  need_number(right);
  if (balance(left, right)) {
    emit_real(real, -1);
    return {.type = Type::real, .begin = left.begin};
  }
  emit_binary(code);
  return {.begin = left.begin};
}

/// What stands on the right of a comparison: behind a slot with names, first of all one of these.
ExpressionParser::Value ExpressionParser::compared_with(const Value& left, int lowest) {
  if (left.type == Type::name && left.slot >= 0 && is_letter(peek())) {
    const auto begin = at_;
    while (is_letter(peek()) || is_digit(peek()) || peek() == '.') ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    const int slot = names_.find(name);
    const auto values = names_.named_values(left.slot);
    const bool is_value =
        std::ranges::any_of(values, [&](std::int64_t value) { return value_text(value) == name; });
    if (is_value || slot < 0 || names_.kind(slot) != NameTable::Kind::name) {
      emit({.code = Code::constant, .value = value_named(left.slot, begin, name)}, 1);
      skip_space();
      return {.type = Type::name, .begin = begin, .slot = left.slot, .name = name};
    }
    at_ = begin;
  }
  return binary(lowest);
}

std::int64_t ExpressionParser::value_named(int slot, std::size_t begin,
                                           std::string_view name) const {
  std::vector<std::string> known;
  for (const std::int64_t value : names_.named_values(slot)) {
    known.push_back(value_text(value));
    if (known.back() == name) return value;
  }
  fail(begin, fmt::format("\"{}\" is not a value of {}; the values are: {}", name,
                          names_.name(slot), fmt::join(known, ", ")));
}

/// Both sides of a comparison. Finds the value that was named before its tunable.
void ExpressionParser::check_names(Value& left, Value& right) {
  if (left.type != Type::name && right.type != Type::name) return;
  if (left.type == Type::name && left.slot < 0 && right.type == Type::name && right.slot >= 0) {
    code_[left.constant].value = value_named(right.slot, left.begin, left.name);
    left.slot = right.slot;
  }
  for (const Value* side : {&left, &right}) {
    const Value& other = side == &left ? right : left;
    if (side->type != Type::name || (side->slot >= 0 && other.type == Type::name)) continue;
    need_number(*side);
  }
}

void ExpressionParser::need_number(const Value& value) const {
  if (value.type != Type::name) return;
  if (value.slot < 0) {
    fail(value.begin, fmt::format("\"{0}\" is a value of a tunable. Next: compare the tunable with "
                                  "it, as in: tunable == {0}",
                                  value.name));
  }
  const std::string example = value_text(names_.named_values(value.slot).front());
  fail(value.begin,
       fmt::format("the values of {0} are names. Next: compare {0} with one of them, as "
                   "in: {0} == {1}",
                   names_.name(value.slot), example));
}

void ExpressionParser::need_integer(const Value& value, std::string_view by) const {
  need_number(value);
  if (value.type != Type::real) return;
  fail(value.begin, fmt::format("\"{}\" needs an integer or a condition, but this is a decimal "
                                "number. Next: use floor(...), ceil(...) or round(...), or compare "
                                "the value",
                                by));
}

/// Only on the way to an error, so the cost of the list does not matter.
std::string ExpressionParser::unknown_name(std::string_view name) const {
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

}  // namespace kiln
