// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What expressions of Python compute.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "tools/adopt/python.hpp"

namespace kiln::tools {
namespace {

using NodeKind = PythonNode::Kind;

constexpr std::size_t kMostElements = 100'000;
constexpr std::size_t kMostSteps = 2'000'000;

template <class Type>
const Type* as(const PythonValue& value) {
  return std::get_if<Type>(&value.value);
}

/// Integers, and truth as 0 or 1.
std::optional<std::int64_t> whole(const PythonValue& value) {
  if (const auto* const truth = as<bool>(value)) return *truth ? 1 : 0;
  if (const auto* const number = as<std::int64_t>(value)) return *number;
  return std::nullopt;
}

std::optional<double> number(const PythonValue& value) {
  if (const auto* const real = as<double>(value)) return *real;
  if (const auto integer = whole(value)) return static_cast<double>(*integer);
  return std::nullopt;
}

bool is_true(const PythonValue& value) {
  if (const auto* const text = as<std::string>(value)) return !text->empty();
  if (const auto* const list = as<PythonList>(value)) return !list->empty();
  return number(value).value_or(0) != 0;
}

bool is_equal(const PythonValue& a, const PythonValue& b) {
  const auto left = whole(a), right = whole(b);
  if (left && right) return *left == *right;
  const auto x = number(a), y = number(b);
  if (x && y) return *x == *y;
  if (as<std::string>(a) != nullptr && as<std::string>(b) != nullptr) {
    return *as<std::string>(a) == *as<std::string>(b);
  }
  const auto* const of_a = as<PythonList>(a);
  const auto* const of_b = as<PythonList>(b);
  return of_a != nullptr && of_b != nullptr && of_a->size() == of_b->size() &&
         std::equal(of_a->begin(), of_a->end(), of_b->begin(), is_equal);
}

const char* type_name(const PythonValue& value) {
  constexpr const char* kNames[] = {"bool", "int", "float", "str", "list"};
  return kNames[value.value.index()];
}

class PythonEvaluator {
 public:
  PythonEvaluator(const std::string& place, PythonNames names)
      : place_(place), names_(std::move(names)) {}

  PythonValue value_of(const PythonNode& node) {
    if (++steps_ > kMostSteps) fail(node, "the expression takes too long to evaluate");
    switch (node.kind) {
      case NodeKind::integer:
        return {parsed_integer(node)};
      case NodeKind::real:
        return {parsed_real(node)};
      case NodeKind::text:
        return {node.text};
      case NodeKind::truth:
        return {node.text == "True"};
      case NodeKind::name:
        return named(node);
      case NodeKind::list: {
        PythonList list;
        for (const auto& part : node.parts) list.push_back(value_of(part));
        return {std::move(list)};
      }
      case NodeKind::comprehension: {
        PythonList list;
        run_clauses(node, 1, list);
        return {std::move(list)};
      }
      case NodeKind::sign:
        return signed_value(node);
      case NodeKind::binary:
        return binary(node, value_of(node.parts[0]), value_of(node.parts[1]));
      case NodeKind::comparison:
        return {holds(node)};
      case NodeKind::both:
      case NodeKind::either:
        return joined(node);
      case NodeKind::negation:
        return {!is_true(value_of(node.parts[0]))};
      case NodeKind::choice:
        return value_of(is_true(value_of(node.parts[1])) ? node.parts[0] : node.parts[2]);
      case NodeKind::call:
        return called(node);
      case NodeKind::element:
        return element(node);
      case NodeKind::loop:
      case NodeKind::filter:
        break;
    }
    fail(node, "adopt cannot evaluate this expression");
  }

 private:
  [[noreturn]] void fail(const PythonNode& node, const std::string& what) const {
    fail_python(place_, node.offset, what);
  }

  std::int64_t parsed_integer(const PythonNode& node) const {
    std::string_view digits = node.text;
    int base = 10;
    if (digits.size() > 2 && digits[0] == '0') {
      const char letter = digits[1];
      base = letter == 'x' || letter == 'X'   ? 16
             : letter == 'o' || letter == 'O' ? 8
             : letter == 'b' || letter == 'B' ? 2
                                              : 10;
      if (base != 10) digits.remove_prefix(2);
    }
    std::int64_t value = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (status != std::errc{} || end != digits.data() + digits.size()) {
      fail(node, fmt::format("{} is not an integer of 64 bits", node.text));
    }
    return value;
  }

  double parsed_real(const PythonNode& node) const {
    double value = 0;
    const char* const last = node.text.data() + node.text.size();
    const auto [end, status] = std::from_chars(node.text.data(), last, value);
    if (status != std::errc{} || end != last) {
      fail(node, fmt::format("{} is not a number", node.text));
    }
    return value;
  }

  PythonValue named(const PythonNode& node) const {
    const auto found = names_.find(node.text);
    if (found == names_.end()) fail(node, fmt::format("unknown name \"{}\"", node.text));
    return found->second;
  }

  void run_clauses(const PythonNode& node, std::size_t clause, PythonList& list) {
    if (clause == node.parts.size()) {
      if (list.size() >= kMostElements) {
        fail(node, fmt::format("the list has more than {} elements", kMostElements));
      }
      list.push_back(value_of(node.parts[0]));
      return;
    }
    const PythonNode& part = node.parts[clause];
    if (part.kind == NodeKind::filter) {
      if (is_true(value_of(part.parts[0]))) run_clauses(node, clause + 1, list);
      return;
    }
    const PythonValue over = value_of(part.parts[0]);
    // The variable is the comprehension's own.
    const auto outer = names_.find(part.text);
    const std::optional<PythonValue> before =
        outer == names_.end() ? std::nullopt : std::optional(outer->second);
    for (const auto& each : elements(part, over)) {
      names_[part.text] = each;
      run_clauses(node, clause + 1, list);
    }
    names_.erase(part.text);
    if (before) names_[part.text] = *before;
  }

  const PythonList& elements(const PythonNode& node, const PythonValue& value) const {
    const auto* const list = as<PythonList>(value);
    if (list == nullptr) {
      fail(node, fmt::format("expected a list, but found a value of type {}", type_name(value)));
    }
    return *list;
  }

  PythonValue signed_value(const PythonNode& node) {
    const PythonValue value = value_of(node.parts[0]);
    const bool is_minus = node.text == "-";
    if (const auto integer = whole(value)) {
      if (!is_minus) return {*integer};
      return binary(node, {std::int64_t{0}}, {*integer}, "-");
    }
    if (const auto* const real = as<double>(value)) return {is_minus ? -*real : *real};
    fail(node, fmt::format("a value of type {} has no sign", type_name(value)));
  }

  PythonValue binary(const PythonNode& node, const PythonValue& a, const PythonValue& b) {
    return binary(node, a, b, node.text);
  }

  PythonValue binary(const PythonNode& node, const PythonValue& a, const PythonValue& b,
                     std::string_view sign) {
    const auto left = whole(a), right = whole(b);
    if (left && right && sign != "/") return integers(node, *left, *right, sign);
    const auto x = number(a), y = number(b);
    if (x && y) return {reals(node, *x, *y, sign)};
    const auto* const list = as<PythonList>(a);
    if (sign == "+" && list != nullptr && as<PythonList>(b) != nullptr) {
      PythonList both = *list;
      const auto& other = *as<PythonList>(b);
      both.insert(both.end(), other.begin(), other.end());
      if (both.size() > kMostElements) fail(node, "the list is too long");
      return {std::move(both)};
    }
    if (sign == "+" && as<std::string>(a) != nullptr && as<std::string>(b) != nullptr) {
      return {*as<std::string>(a) + *as<std::string>(b)};
    }
    fail(node,
         fmt::format("\"{}\" does not fit the types {} and {}", sign, type_name(a), type_name(b)));
  }

  PythonValue integers(const PythonNode& node, std::int64_t a, std::int64_t b,
                       std::string_view sign) const {
    std::int64_t value = 0;
    bool is_wide = false;
    if (sign == "+") {
      is_wide = __builtin_add_overflow(a, b, &value);
    } else if (sign == "-") {
      is_wide = __builtin_sub_overflow(a, b, &value);
    } else if (sign == "*") {
      is_wide = __builtin_mul_overflow(a, b, &value);
    } else if (sign == "//" || sign == "%") {
      if (b == 0) fail(node, "division by zero");
      is_wide = b == -1 && a == INT64_MIN;
      if (!is_wide) {
        // Python rounds down, and the remainder has the divisor's sign.
        const bool is_below = a % b != 0 && ((a % b < 0) != (b < 0));
        value = sign == "//" ? a / b - (is_below ? 1 : 0) : a % b + (is_below ? b : 0);
      }
    } else if (sign == "**") {
      if (b < 0) return {std::pow(static_cast<double>(a), static_cast<double>(b))};
      value = 1;
      for (std::int64_t i = 0; i < b && !is_wide && value != 0; ++i) {
        if (a == 1 || (a == -1 && i > 1 && (b - i) % 2 == 0)) break;
        is_wide = __builtin_mul_overflow(value, a, &value);
      }
    } else if (sign == "<<" || sign == ">>") {
      constexpr std::int64_t kMostBits = 62;
      if (b < 0 || b > kMostBits || a < 0) fail(node, "a shift by this number has no value");
      is_wide = sign == "<<" && a > (INT64_MAX >> b);
      if (!is_wide) value = sign == "<<" ? a << b : a >> b;
    } else {
      value = sign == "&" ? (a & b) : sign == "|" ? (a | b) : (a ^ b);
    }
    if (is_wide) fail(node, "the result does not fit in 64 bits");
    return {value};
  }

  double reals(const PythonNode& node, double a, double b, std::string_view sign) const {
    const bool divides = sign == "/" || sign == "//" || sign == "%";
    if (divides && b == 0) fail(node, "division by zero");
    if (sign == "+") return a + b;
    if (sign == "-") return a - b;
    if (sign == "*") return a * b;
    if (sign == "/") return a / b;
    if (sign == "//") return std::floor(a / b);
    if (sign == "%") return a - b * std::floor(a / b);
    if (sign == "**") return std::pow(a, b);
    fail(node, fmt::format("\"{}\" does not fit numbers of type float", sign));
  }

  PythonValue joined(const PythonNode& node) {
    PythonValue last{node.kind == NodeKind::both};
    for (const auto& part : node.parts) {
      last = value_of(part);
      if (is_true(last) != (node.kind == NodeKind::both)) break;
    }
    return last;
  }

  bool holds(const PythonNode& node) {
    PythonValue left = value_of(node.parts[0]);
    for (std::size_t i = 0; i < node.signs.size(); ++i) {
      PythonValue right = value_of(node.parts[i + 1]);
      if (!compares(node, left, node.signs[i], right)) return false;
      left = std::move(right);
    }
    return true;
  }

  bool compares(const PythonNode& node, const PythonValue& a, std::string_view sign,
                const PythonValue& b) const {
    if (sign == "==") return is_equal(a, b);
    if (sign == "!=") return !is_equal(a, b);
    if (sign == "in" || sign == "not in") {
      const auto& list = elements(node, b);
      const bool is_there = std::any_of(list.begin(), list.end(),
                                        [&](const auto& each) { return is_equal(a, each); });
      return is_there == (sign == "in");
    }
    const auto x = number(a), y = number(b);
    if (!x || !y) {
      fail(node, fmt::format("\"{}\" does not fit the types {} and {}", sign, type_name(a),
                             type_name(b)));
    }
    const auto left = whole(a), right = whole(b);
    const int order = left && right ? (*left > *right) - (*left < *right) : (*x > *y) - (*x < *y);
    return sign == "<"    ? order < 0
           : sign == "<=" ? order <= 0
           : sign == ">"  ? order > 0
                          : order >= 0;
  }

  PythonValue element(const PythonNode& node) {
    const PythonValue list = value_of(node.parts[0]);
    const auto& of_list = elements(node, list);
    auto index = whole(value_of(node.parts[1]));
    const auto size = static_cast<std::int64_t>(of_list.size());
    if (index && *index < 0) *index += size;
    if (!index || *index < 0 || *index >= size) fail(node, "the list has no such element");
    return of_list[static_cast<std::size_t>(*index)];
  }

  PythonValue called(const PythonNode& node) {
    PythonList arguments;
    for (const auto& part : node.parts) arguments.push_back(value_of(part));
    const std::string_view name = node.text;
    if (name == "range") return range(node, arguments);
    if ((name == "list" || name == "tuple") && arguments.size() == 1) {
      return {elements(node, arguments[0])};
    }
    if (name == "len" && arguments.size() == 1) {
      return {static_cast<std::int64_t>(elements(node, arguments[0]).size())};
    }
    if (name == "sorted" || name == "min" || name == "max" || name == "sum") {
      return of_list(node, arguments);
    }
    if (arguments.size() == 1) {
      if (name == "bool") return {is_true(arguments[0])};
      const auto real = number(arguments[0]);
      if (name == "float" && real) return {*real};
      if (name == "int" && real) return rounded(node, arguments[0], std::trunc(*real));
      if (name == "round" && real) return rounded(node, arguments[0], std::nearbyint(*real));
      const bool is_plain = !name.starts_with("math.") && !name.starts_with("np.");
      const auto last = is_plain ? name : name.substr(name.find('.') + 1);
      if (last == "ceil" && real) return rounded(node, arguments[0], std::ceil(*real));
      if (last == "floor" && real) return rounded(node, arguments[0], std::floor(*real));
      if (name == "abs" && real) {
        if (*real >= 0) return arguments[0];
        const auto integer = whole(arguments[0]);
        return integer ? binary(node, {std::int64_t{0}}, {*integer}, "-") : PythonValue{-*real};
      }
    }
    fail(node, fmt::format("adopt does not know the function \"{}\" with {} argument{}", name,
                           arguments.size(), arguments.size() == 1 ? "" : "s"));
  }

  PythonValue rounded(const PythonNode& node, const PythonValue& value, double real) const {
    if (const auto integer = whole(value)) return {*integer};
    constexpr double kMost = 9.0e18;
    if (!(std::abs(real) < kMost)) fail(node, "the result does not fit in 64 bits");
    return {static_cast<std::int64_t>(real)};
  }

  PythonValue range(const PythonNode& node, const PythonList& arguments) const {
    std::vector<std::int64_t> numbers;
    for (const auto& each : arguments) {
      const auto integer = whole(each);
      if (!integer) {
        fail(node,
             fmt::format("range needs integers, but found a value of type {}", type_name(each)));
      }
      numbers.push_back(*integer);
    }
    if (numbers.empty() || numbers.size() > 3) fail(node, "range needs one to three integers");
    const std::int64_t first = numbers.size() == 1 ? 0 : numbers[0];
    const std::int64_t last = numbers.size() == 1 ? numbers[0] : numbers[1];
    const std::int64_t step = numbers.size() == 3 ? numbers[2] : 1;
    if (step == 0) fail(node, "the step of range must not be 0");
    PythonList list;
    for (std::int64_t i = first; step > 0 ? i < last : i > last;) {
      if (list.size() >= kMostElements) {
        fail(node, fmt::format("the list has more than {} elements", kMostElements));
      }
      list.push_back({i});
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return {std::move(list)};
  }

  /// sorted, min, max, sum.
  PythonValue of_list(const PythonNode& node, const PythonList& arguments) {
    const bool is_one = arguments.size() == 1;
    if (!is_one && (node.text == "sorted" || node.text == "sum")) {
      fail(node, fmt::format("{} needs one list", node.text));
    }
    PythonList list = is_one ? elements(node, arguments[0]) : arguments;
    if (node.text == "sum") {
      PythonValue sum{std::int64_t{0}};
      for (const auto& each : list) sum = binary(node, sum, each, "+");
      return sum;
    }
    for (const auto& each : list) (void)compares(node, each, "<", each);
    std::stable_sort(list.begin(), list.end(),
                     [&](const auto& a, const auto& b) { return compares(node, a, "<", b); });
    if (node.text == "sorted") return {std::move(list)};
    if (list.empty()) fail(node, fmt::format("{} of an empty list has no value", node.text));
    return node.text == "min" ? list.front() : list.back();
  }

  const std::string& place_;
  PythonNames names_;
  std::size_t steps_ = 0;
};

}  // namespace

PythonValue evaluate_python(const PythonNode& node, const std::string& place,
                            const PythonNames& names) {
  return PythonEvaluator(place, names).value_of(node);
}

std::string python_text(const PythonValue& value) {
  if (const auto* const truth = as<bool>(value)) return *truth ? "True" : "False";
  if (const auto* const integer = as<std::int64_t>(value)) return std::to_string(*integer);
  if (const auto* const real = as<double>(value)) {
    std::string text = fmt::format("{}", *real);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  }
  if (const auto* const text = as<std::string>(value)) return "'" + *text + "'";
  std::vector<std::string> parts;
  for (const auto& each : std::get<PythonList>(value.value)) parts.push_back(python_text(each));
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace kiln::tools
