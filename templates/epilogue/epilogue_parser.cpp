// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Recursive descent from text to the tree of an EpilogueExpression.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "templates/expression/expression_reader.hpp"
#include "templates/nearest_name.hpp"
#include "templates/source_error.hpp"

namespace kiln {
namespace {

struct Function {
  std::string_view name;
  std::size_t arguments;
};
constexpr std::array<Function, 15> kFunctions{{{"relu", 1},
                                               {"gelu", 1},
                                               {"gelu_tanh", 1},
                                               {"silu", 1},
                                               {"sigmoid", 1},
                                               {"tanh", 1},
                                               {"exp", 1},
                                               {"log", 1},
                                               {"sqrt", 1},
                                               {"rsqrt", 1},
                                               {"abs", 1},
                                               {"min", 2},
                                               {"max", 2},
                                               {"clamp", 3},
                                               {"amax", 2}}};
constexpr std::array<std::string_view, 4> kNames{"acc", "alpha", "beta", "c"};
/// Bounds the recursion, and what is kept for ever.
constexpr int kMaxNesting = 50;
constexpr std::size_t kMaxLength = 1000;
constexpr std::size_t kMaxName = 32;

const Function* find_function(std::string_view name) {
  const auto* const found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                         [&](const Function& f) { return f.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

}  // namespace

class EpilogueParser : private ExpressionReader {
 public:
  explicit EpilogueParser(std::string_view text) : ExpressionReader(text, kMaxNesting) {}

  EpilogueExpression run() {
    if (text_.size() > kMaxLength) {
      throw Error(ErrorKind::usage,
                  fmt::format("epilogue: the expression has {} characters, but the limit is {}",
                              text_.size(), kMaxLength));
    }
    skip_space();
    if (at_end()) fail(at_, "an expression is missing here");
    conditional();
    refuse_value_behind_value("an operator");
    if (!at_end()) fail(at_, "expected here: an operator or the end of the expression");
    return std::move(result_);
  }

 private:
  using Node = EpilogueExpression::Node;
  using Kind = Node::Kind;

  [[nodiscard]] Error error_at(std::size_t offset, std::string_view message) const override {
    std::string shown(text_);
    for (char& c : shown) {
      if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = ' ';
    }
    return Error(ErrorKind::usage, fmt::format("epilogue: column {}: {}\n  {}\n  {}^", offset + 1,
                                               message, shown, std::string(offset, ' ')));
  }

  int add(Node node) {
    result_.nodes_.push_back(std::move(node));
    return static_cast<int>(result_.nodes_.size()) - 1;
  }
  int add(Kind kind, std::string_view word, std::vector<int> arguments) {
    Node node;
    node.kind = kind;
    node.word = word;
    node.arguments = std::move(arguments);
    return add(std::move(node));
  }

  /// sum, or sum < sum ? conditional : conditional.
  int conditional() {
    const Nested nested(*this);
    const int left = sum();
    const std::size_t place = at_;
    for (const std::string_view symbol : {"<=", ">=", "<", ">"}) {
      if (!accept(symbol)) continue;
      const int right = sum();
      if (!accept("?")) {
        fail(place,
             fmt::format("a comparison with '{}' needs '?' and ':' after it: write x {} y ? a : b",
                         symbol, symbol));
      }
      const int then = conditional();
      expect(":", "between the two choices");
      const int otherwise = conditional();
      return add(Kind::select, symbol, {left, right, then, otherwise});
    }
    return left;
  }

  int sum() {
    int left = product();
    for (;;) {
      const std::string_view symbol = peek() == '+' ? "+" : "-";
      if (!accept(symbol)) return left;
      const int right = product();
      left = add(Kind::infix, symbol, {left, right});
    }
  }

  int product() {
    int left = factor();
    for (;;) {
      const std::string_view symbol = peek() == '*' ? "*" : "/";
      if (!accept(symbol)) return left;
      const int right = factor();
      left = add(Kind::infix, symbol, {left, right});
    }
  }

  int factor() {
    const Nested nested(*this);
    if (accept("-")) {
      const int of = factor();
      return add(Kind::negate, "-", {of});
    }
    if (accept("(")) {
      const int inner = conditional();
      refuse_value_behind_value("an operator");
      expect(")", "to close the parenthesis");
      return inner;
    }
    if (is_digit(peek()) || peek() == '.') return number();
    if (is_letter(peek())) return word();
    fail(at_, at_end() ? "a number, a name or '(' is missing at the end"
                       : "expected here: a number, a name or '('");
  }

  int number() {
    double value = 0.0;
    const char* const first = text_.data() + at_;
    const auto [end, status] = std::from_chars(first, text_.data() + text_.size(), value);
    if (status != std::errc{} || !std::isfinite(value)) fail(at_, "not a finite number");
    at_ += static_cast<std::size_t>(end - first);
    if (is_letter(peek())) fail(at_, "a letter follows the number; write '*' to multiply");
    skip_space();
    Node node;
    node.number = value;
    return add(std::move(node));
  }

  std::string_view identifier() {
    const std::size_t begin = at_;
    while (is_letter(peek()) || is_digit(peek())) ++at_;
    const auto name = text_.substr(begin, at_ - begin);
    skip_space();
    return name;
  }

  int word() {
    const std::size_t begin = at_;
    const auto name = identifier();
    if (peek() == '(') return call(name, begin);
    if (peek() == '[' || peek() == ':') {
      // In x < y ? a : b the colon follows a name as well; a type and '[' make it an operand.
      const bool known = std::find(kNames.begin(), kNames.end(), name) != kNames.end();
      if (peek() == '[' || (!known && names_type())) return operand(name, begin);
    }
    if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) {
      return add(Kind::name, name, {});
    }
    if (find_function(name) != nullptr) {
      fail(at_, fmt::format("expected here: '(', because {} is a function", name));
    }
    const std::vector<std::string> known(kNames.begin(), kNames.end());
    fail(begin, fmt::format("unknown name \"{}\"{}; after the name of an operand, write its "
                            "indices: {}[n], {}[m], {}[m,n] or {}[]",
                            name, did_you_mean(name, known), name, name, name, name));
  }

  /// Whether what follows is ':', a word and '['.
  [[nodiscard]] bool names_type() const {
    auto after = text_.find_first_not_of(kSpace, at_ + 1);
    if (after == std::string_view::npos || !is_letter(text_[after])) return false;
    while (after < text_.size() && (is_letter(text_[after]) || is_digit(text_[after]))) ++after;
    after = text_.find_first_not_of(kSpace, after);
    return after != std::string_view::npos && text_[after] == '[';
  }

  int call(std::string_view name, std::size_t begin) {
    const Function* const function = find_function(name);
    if (function == nullptr) {
      std::vector<std::string> known;
      for (const auto& one : kFunctions) known.emplace_back(one.name);
      fail(begin, fmt::format("unknown function \"{}\"{}", name, did_you_mean(name, known)));
    }
    expect("(", "before the arguments");
    if (name == "amax") return amax();
    std::vector<int> arguments;
    do {
      arguments.push_back(conditional());
    } while (accept(","));
    refuse_value_behind_value("a comma or an operator");
    if (arguments.size() != function->arguments) {
      fail(begin, fmt::format("{} takes {} argument{}, not {}", name, function->arguments,
                              function->arguments == 1 ? "" : "s", arguments.size()));
    }
    expect(")", "after the arguments");
    return add(Kind::call, name, std::move(arguments));
  }

  /// amax(value, operand), from the value on.
  int amax() {
    Node node;
    node.kind = Kind::amax;
    node.arguments = {conditional()};
    refuse_value_behind_value("a comma or an operator");
    expect(",", "before the operand in which amax records the largest value");
    const std::size_t begin = at_;
    const auto name = is_letter(peek()) ? identifier() : std::string_view{};
    if (peek() != '[' && peek() != ':') {
      fail(begin, "expected here: the operand that amax writes, as name[], name[m] or name[n]");
    }
    EpilogueSlot found = slot(name, begin);
    found.recorded = true;
    if (found.extent == OperandExtent::both) {
      fail(begin,
           "amax cannot record a number for each element of D. Next: write [] (one number for all "
           "of D), [m] (one for each row) or [n] (one for each column)");
    }
    if (found.type && *found.type != DType::f32 && *found.type != DType::f64) {
      fail(begin, fmt::format("amax cannot record a maximum as {}. Next: write f32 (or f64, if the "
                              "accumulator is f64)",
                              to_string(*found.type)));
    }
    expect(")", "after the arguments");
    node.operand = place_of(found, begin);
    return add(std::move(node));
  }

  int operand(std::string_view name, std::size_t begin) {
    Node node;
    node.kind = Kind::operand;
    node.operand = place_of(slot(name, begin), begin);
    return add(std::move(node));
  }

  /// What follows the name of an operand.
  EpilogueSlot slot(std::string_view name, std::size_t begin) {
    const bool taken = std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
                       find_function(name) != nullptr || name == "m" || name == "n";
    if (taken) fail(begin, fmt::format("\"{}\" is a reserved name; choose another name", name));
    if (name.size() > kMaxName) {
      fail(begin,
           fmt::format("the name has more than {} characters; choose a shorter name", kMaxName));
    }
    EpilogueSlot found;
    found.name = name;
    if (accept(":")) {
      const std::size_t place = at_;
      const auto type = identifier();
      found.type = parse_dtype(type);
      const bool is_known = found.type && is_product_type(*found.type);
      if (!is_known || *found.type == DType::tf32 || packed_values(*found.type) > 1) {
        const std::vector<std::string> known(kDTypeNames.begin(), kDTypeNames.end());
        fail(place, fmt::format("an operand of an epilogue cannot have the type \"{}\"{}", type,
                                did_you_mean(type, known)));
      }
    }
    expect("[", "before the indices of the operand");
    found.extent = extent();
    return found;
  }

  /// The operand's number, a new one if it was not named before.
  int place_of(EpilogueSlot found, std::size_t begin) {
    auto& operands = result_.operands_;
    auto place = std::find_if(operands.begin(), operands.end(),
                              [&](const EpilogueSlot& other) { return other.name == found.name; });
    if (place == operands.end()) {
      if (operands.size() == static_cast<std::size_t>(kMostEpilogueOperands)) {
        fail(begin, fmt::format("the epilogue has too many operands; the limit is {}",
                                kMostEpilogueOperands));
      }
      operands.push_back(found);
      place = operands.end() - 1;
    } else {
      if (found.recorded || place->recorded) {
        fail(begin,
             fmt::format("\"{}\" appears twice, but amax writes this operand. An operand that "
                         "amax writes can appear only once in an epilogue",
                         found.name));
      }
      if (!found.type) found.type = place->type;
      if (found != *place) {
        fail(begin,
             fmt::format("\"{}\" appears earlier in the epilogue with different indices or a "
                         "different type; write the same indices and type everywhere",
                         found.name));
      }
    }
    return static_cast<int>(place - operands.begin());
  }

  OperandExtent extent() {
    if (accept("]")) return OperandExtent::one;
    const std::size_t place = at_;
    const auto first = identifier();
    if (first == "n" && accept("]")) return OperandExtent::column;
    if (first == "m" && accept("]")) return OperandExtent::row;
    if (first == "m" && accept(",")) {
      if (identifier() == "n" && accept("]")) return OperandExtent::both;
    }
    fail(place,
         "expected here: [n] (one element for each column of D), [m] (one for each row), [m,n] "
         "(one for each element of D) or [] (one number)");
  }

  EpilogueExpression result_;
};

EpilogueExpression EpilogueExpression::parse(std::string_view text) {
  return EpilogueParser(text).run();
}

}  // namespace kiln
