// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Restrictions of Python in the words of front matter.
#include "tools/adopt/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln::tools {
namespace {

using NodeKind = PythonNode::Kind;

/// How tightly operators of front matter bind.
enum Rank { kChoice, kOr, kAnd, kEqual, kLess, kSum, kProduct, kUnary, kAtom };

/// A text of front matter.
struct Piece {
  std::string text;
  Rank rank = kAtom;
};

/// A number: `above` divided by `below`, which is positive.
struct Fraction {
  Piece above;
  std::optional<Piece> below;  ///< nothing: 1
  bool is_positive = false;
  bool may_be_negative = false;
};

/// Why something cannot be translated.
struct NoTranslation {
  std::string why;
};

std::string within(const Piece& piece, Rank least) {
  return piece.rank >= least ? piece.text : "(" + piece.text + ")";
}

Piece product(const Piece& a, const Piece& b) {
  if (a.text == "0" || b.text == "0") return {"0", kAtom};
  if (a.text == "1") return b;
  if (b.text == "1") return a;
  return {within(a, kProduct) + " * " + within(b, kUnary), kProduct};
}

Piece product(const Piece& a, const std::optional<Piece>& b) {
  return b ? product(a, *b) : a;
}

/// Whether it depends on names that are not its own.
bool has_names(const PythonNode& node, std::set<std::string> own = {}) {
  if (node.kind == NodeKind::name) return !own.contains(node.text);
  for (const auto& part : node.parts) {
    if (part.kind == NodeKind::loop) own.insert(part.text);
  }
  return std::any_of(node.parts.begin(), node.parts.end(),
                     [&](const PythonNode& part) { return has_names(part, own); });
}

class Translator {
 public:
  Translator(const std::string& place, const TranslatedNames& names)
      : place_(place), names_(names) {}

  Piece condition(const PythonNode& node) {
    if (!has_names(node) && node.kind != NodeKind::list) {
      return {is_true(evaluate_python(node, place_)) ? "true" : "false", kAtom};
    }
    switch (node.kind) {
      case NodeKind::both:
        return joined(node, " && ", kAnd);
      case NodeKind::either:
        return joined(node, " || ", kOr);
      case NodeKind::negation:
        return {"!" + within(condition(node.parts[0]), kAtom), kUnary};
      case NodeKind::comparison:
        return comparison(node);
      case NodeKind::choice:
        return choice(condition(node.parts[1]), condition(node.parts[0]), condition(node.parts[2]));
      case NodeKind::binary:
        if (node.text == "&") return joined(node, " && ", kAnd);
        if (node.text == "|") return joined(node, " || ", kOr);
        break;
      default:
        break;
    }
    // A number holds unless it is 0, whatever it is divided by.
    return number(node).above;
  }

  Fraction number(const PythonNode& node) {
    if (!has_names(node)) return constant(evaluate_python(node, place_));
    switch (node.kind) {
      case NodeKind::name:
        return named(node);
      case NodeKind::sign: {
        Fraction value = number(node.parts[0]);
        if (node.text == "-") {
          value.above = {"-" + within(value.above, kAtom), kUnary};
          value.is_positive = false;
          value.may_be_negative = true;
        }
        return value;
      }
      case NodeKind::binary:
        return binary(node);
      case NodeKind::comparison:
      case NodeKind::both:
      case NodeKind::either:
      case NodeKind::negation:
        return {condition(node), std::nullopt, false, false};
      case NodeKind::choice: {
        const Fraction a = number(node.parts[0]), b = number(node.parts[2]);
        if (a.below || b.below) refuse("it chooses between fractions");
        return {choice(condition(node.parts[1]), a.above, b.above), std::nullopt,
                a.is_positive && b.is_positive, a.may_be_negative || b.may_be_negative};
      }
      case NodeKind::call:
        return called(node);
      default:
        refuse("front matter has no lists and no strings");
    }
  }

  /// Rounded up where it is a fraction.
  Piece whole(const Fraction& value, bool& is_rounded_up) {
    if (!value.below) return value.above;
    is_rounded_up = true;
    return {fmt::format("ceil_div({}, {})", value.above.text, value.below->text), kAtom};
  }

 private:
  [[noreturn]] static void refuse(std::string why) { throw NoTranslation{std::move(why)}; }

  static bool is_true(const PythonValue& value) {
    if (const auto* const truth = std::get_if<bool>(&value.value)) return *truth;
    if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) return *integer != 0;
    if (const auto* const real = std::get_if<double>(&value.value)) return *real != 0;
    if (const auto* const text = std::get_if<std::string>(&value.value)) return !text->empty();
    return !std::get<PythonList>(value.value).empty();
  }

  static Fraction constant(const PythonValue& value) {
    std::int64_t above = 0, below = 1;
    if (const auto* const truth = std::get_if<bool>(&value.value)) {
      above = *truth ? 1 : 0;
    } else if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
      above = *integer;
    } else if (const auto* const real = std::get_if<double>(&value.value)) {
      double scaled = *real;
      constexpr std::int64_t kMostBelow = 1'000'000'000;
      for (; scaled != std::nearbyint(scaled) && below < kMostBelow; scaled *= 10) below *= 10;
      constexpr double kMostAbove = 1e15;
      if (std::abs(scaled) > kMostAbove || scaled != std::nearbyint(scaled)) {
        refuse(fmt::format("{} has too many digits", python_text(value)));
      }
      above = static_cast<std::int64_t>(scaled);
      const std::int64_t divisor = std::gcd(above, below);
      above /= divisor;
      below /= divisor;
    } else {
      refuse(fmt::format("{} is not a number", python_text(value)));
    }
    Fraction fraction;
    fraction.above = {std::to_string(above), above < 0 ? kUnary : kAtom};
    if (below != 1) fraction.below = Piece{std::to_string(below), kAtom};
    fraction.is_positive = above > 0;
    fraction.may_be_negative = above < 0;
    return fraction;
  }

  Fraction named(const PythonNode& node) const {
    if (const auto words = names_.words.find(node.text); words != names_.words.end()) {
      refuse(fmt::format("the values of {} are {}", node.text,
                         words->second.empty() ? "fractions" : "names, not numbers"));
    }
    const auto found = names_.names.find(node.text);
    if (found == names_.names.end()) refuse(fmt::format("{} is not a tunable", node.text));
    const bool is_positive = names_.positive.contains(node.text);
    return {{found->second, kAtom},
            std::nullopt,
            is_positive,
            !is_positive && !names_.not_negative.contains(node.text)};
  }

  static Piece choice(const Piece& condition, const Piece& a, const Piece& b) {
    return {fmt::format("{} ? {} : {}", within(condition, kOr), within(a, kOr), within(b, kOr)),
            kChoice};
  }

  Piece joined(const PythonNode& node, std::string_view sign, Rank rank) {
    std::string text;
    for (const auto& part : node.parts) {
      text += (text.empty() ? "" : std::string(sign)) + within(condition(part), rank);
    }
    return {text, rank};
  }

  Fraction binary(const PythonNode& node) {
    const Fraction a = number(node.parts[0]);
    const std::string& sign = node.text;
    if (sign == "**") return power(node, a);
    const Fraction b = number(node.parts[1]);
    const bool is_signed = a.may_be_negative || b.may_be_negative;
    if (sign == "+" || sign == "-") return sum(a, b, sign);
    if (sign == "*") {
      Fraction result{product(a.above, b.above), a.below, a.is_positive && b.is_positive,
                      is_signed};
      if (b.below) result.below = result.below ? product(*result.below, *b.below) : *b.below;
      return result;
    }
    if (sign == "<<") refuse("front matter has no bit shifts");
    if (sign != "/" && sign != "//" && sign != "%") {
      refuse(fmt::format("front matter has no \"{}\"", sign));
    }
    if (!b.is_positive) {
      refuse(fmt::format("the divisor {} may be 0 or negative", within(b.above, kAtom)));
    }
    if (sign == "/") {
      Fraction result{product(a.above, b.below), product(b.above, a.below), a.is_positive,
                      a.may_be_negative};
      if (result.below->text == "1") result.below.reset();
      return result;
    }
    const Piece above = product(a.above, b.below);
    const Piece below = product(b.above, a.below);
    if (sign == "//") {
      if (a.may_be_negative) refuse("Python rounds quotients of negative numbers down");
      return {{within(above, kProduct) + " / " + within(below, kUnary), kProduct},
              std::nullopt,
              false,
              false};
    }
    Fraction result;
    result.above = {within(above, kProduct) + " % " + within(below, kUnary), kProduct};
    if (a.may_be_negative) {
      // The remainder of front matter has the sign of the dividend.
      const std::string divisor = within(below, kUnary);
      result.above = {
          fmt::format("({} + {}) % {}", result.above.text, within(below, kProduct), divisor),
          kProduct};
    }
    if (a.below) result.below = *a.below;
    if (b.below) result.below = result.below ? product(*result.below, *b.below) : *b.below;
    return result;
  }

  static Fraction sum(const Fraction& a, const Fraction& b, const std::string& sign) {
    Fraction result;
    const bool is_same = a.below && b.below && a.below->text == b.below->text;
    const Piece left = is_same ? a.above : product(a.above, b.below);
    const Piece right = is_same ? b.above : product(b.above, a.below);
    result.above = {fmt::format("{} {} {}", within(left, kSum), sign, within(right, kProduct)),
                    kSum};
    result.below = a.below;
    if (!is_same && b.below) result.below = a.below ? product(*a.below, *b.below) : *b.below;
    const bool is_signed = a.may_be_negative || b.may_be_negative;
    result.may_be_negative = sign == "-" || is_signed;
    result.is_positive = sign == "+" && !is_signed && (a.is_positive || b.is_positive);
    return result;
  }

  Fraction power(const PythonNode& node, const Fraction& base) {
    constexpr std::int64_t kMostPower = 8;
    const auto exponent = has_names(node.parts[1])
                              ? std::optional<PythonValue>()
                              : std::optional(evaluate_python(node.parts[1], place_));
    const auto* const count = exponent ? std::get_if<std::int64_t>(&exponent->value) : nullptr;
    if (count == nullptr || *count < 1 || *count > kMostPower || base.below) {
      refuse("front matter has no powers");
    }
    Fraction result = base;
    for (std::int64_t i = 1; i < *count; ++i) result.above = product(result.above, base.above);
    return result;
  }

  Fraction called(const PythonNode& node) {
    const std::string_view name = node.text;
    const auto dot = name.find('.');
    const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
    const bool is_one = node.parts.size() == 1;
    if (is_one && (last == "int" || last == "floor" || last == "ceil" || last == "round")) {
      Fraction value = number(node.parts[0]);
      if (!value.below) return value;
      if (last == "round") refuse("front matter does not round to the nearest integer");
      const Piece below = *value.below;
      value.below.reset();
      value.is_positive = value.is_positive && last == "ceil";
      if (last == "ceil") {
        value.above = {fmt::format("ceil_div({}, {})", value.above.text, below.text), kAtom};
        return value;
      }
      if (value.may_be_negative && last == "floor") {
        refuse("Python rounds quotients of negative numbers down");
      }
      value.above = {within(value.above, kProduct) + " / " + within(below, kUnary), kProduct};
      return value;
    }
    if (is_one && name == "bool") return {condition(node.parts[0]), std::nullopt, false, false};
    if ((name == "min" || name == "max" || name == "abs") && !node.parts.empty()) {
      if (node.parts.size() == 1 && name != "abs") refuse("front matter has no lists");
      std::string text;
      bool is_positive = true, may_be_negative = false;
      for (const auto& part : node.parts) {
        const Fraction value = number(part);
        if (value.below) refuse(fmt::format("{} is given a fraction", name));
        text += (text.empty() ? "" : ", ") + value.above.text;
        is_positive = is_positive && value.is_positive;
        may_be_negative = may_be_negative || value.may_be_negative;
      }
      return {{fmt::format("{}({})", name, text), kAtom},
              std::nullopt,
              is_positive,
              may_be_negative && name != "abs"};
    }
    refuse(fmt::format("front matter has no function {}", name));
  }

  Piece comparison(const PythonNode& node) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < node.signs.size(); ++i) {
      pieces.push_back(compared(node.parts[i], node.signs[i], node.parts[i + 1]));
    }
    if (pieces.size() == 1) return pieces.front();
    std::string text;
    for (const auto& piece : pieces) text += (text.empty() ? "" : " && ") + within(piece, kAnd);
    return {text, kAnd};
  }

  Piece compared(const PythonNode& left, const std::string& sign, const PythonNode& right) {
    if (sign == "in" || sign == "not in") return member(left, sign == "in", right);
    if (sign == "==" || sign == "!=") {
      if (auto piece = word_test(left, right, sign == "==")) return *piece;
      if (auto piece = word_test(right, left, sign == "==")) return *piece;
    }
    const Fraction a = number(left), b = number(right);
    // Neither side of a division by something positive changes its order.
    const Piece x = is_zero(b) ? a.above : product(a.above, b.below);
    const Piece y = is_zero(a) ? b.above : product(b.above, a.below);
    const Rank rank = sign == "==" || sign == "!=" ? kEqual : kLess;
    const auto least = static_cast<Rank>(rank == kEqual ? kLess : kSum);
    return {fmt::format("{} {} {}", within(x, least), sign, within(y, least)), rank};
  }

  static bool is_zero(const Fraction& value) { return value.above.text == "0"; }

  /// `method == "fast"`.
  std::optional<Piece> word_test(const PythonNode& name, const PythonNode& word, bool is_equal) {
    const auto found =
        name.kind == NodeKind::name ? names_.words.find(name.text) : names_.words.end();
    if (found == names_.words.end()) return std::nullopt;
    if (has_names(word)) refuse("it compares names that are not fixed");
    return word_test(name.text, found->second, evaluate_python(word, place_), is_equal);
  }

  [[nodiscard]] Piece word_test(const std::string& name, const std::set<std::string>& words,
                                const PythonValue& word, bool is_equal) const {
    if (words.empty()) refuse(fmt::format("the values of {} are fractions", name));
    const auto* const text = std::get_if<std::string>(&word.value);
    if (text == nullptr || !words.contains(*text)) return {is_equal ? "false" : "true", kAtom};
    const std::string test = fmt::format("{}.{}", names_.names.at(name), *text);
    return {is_equal ? test : "!" + test, is_equal ? kAtom : kUnary};
  }

  Piece member(const PythonNode& left, bool is_member, const PythonNode& right) {
    std::vector<Piece> tests;
    const auto words =
        left.kind == NodeKind::name ? names_.words.find(left.text) : names_.words.end();
    const std::string sign = is_member ? "==" : "!=";
    constexpr std::size_t kMostTests = 64;
    if (has_names(right)) {
      if (right.kind != NodeKind::list) refuse("front matter has no lists");
      for (const auto& part : right.parts) tests.push_back(compared(left, sign, part));
    } else {
      const PythonValue value = evaluate_python(right, place_);
      const auto* const list = std::get_if<PythonList>(&value.value);
      if (list == nullptr) refuse("front matter has no strings");
      if (list->size() > kMostTests) refuse("the list is too long");
      for (const auto& each : *list) {
        if (words != names_.words.end()) {
          tests.push_back(word_test(left.text, words->second, each, is_member));
          continue;
        }
        const Fraction a = number(left), b = constant(each);
        tests.push_back({fmt::format("{} {} {}", within(product(a.above, b.below), kLess), sign,
                                     within(product(b.above, a.below), kLess)),
                         kEqual});
      }
    }
    if (tests.empty()) return {is_member ? "false" : "true", kAtom};
    if (tests.size() == 1) return tests.front();
    std::string text;
    const Rank rank = is_member ? kOr : kAnd;
    for (const auto& test : tests) {
      text += (text.empty() ? "" : is_member ? " || " : " && ") + within(test, rank);
    }
    return {text, rank};
  }

  const std::string& place_;
  const TranslatedNames& names_;
};

}  // namespace

Translation translated_condition(const PythonNode& node, const std::string& place,
                                 const TranslatedNames& names) {
  try {
    return {Translator(place, names).condition(node).text, "", false};
  } catch (const NoTranslation& none) {
    return {"", none.why, false};
  }
}

Translation translated_number(const PythonNode& node, const std::string& place,
                              const TranslatedNames& names) {
  try {
    Translator translator(place, names);
    Translation result;
    result.text = translator.whole(translator.number(node), result.is_rounded_up).text;
    return result;
  } catch (const NoTranslation& none) {
    return {"", none.why, false};
  }
}

bool is_value_word(const std::string& word) {
  constexpr std::size_t kMostCharacters = 64;
  return word.size() <= kMostCharacters && is_identifier(word) && word != "true" && word != "false";
}

std::string printed_values(const std::vector<PythonValue>& values, const PythonValue& usual) {
  std::string text;
  bool has_words = false, has_numbers = false;
  for (const auto& value : values) {
    std::string part;
    if (const auto* const truth = std::get_if<bool>(&value.value)) {
      part = *truth ? "1" : "0";
      has_numbers = true;
    } else if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) {
      part = std::to_string(*integer);
      has_numbers = true;
    } else if (std::get_if<double>(&value.value) != nullptr) {
      part = python_text(value);
      has_numbers = true;
    } else if (const auto* const word = std::get_if<std::string>(&value.value)) {
      if (!is_value_word(*word)) return "";
      part = *word;
      has_words = true;
    } else {
      return "";
    }
    const bool is_usual = python_text(value) == python_text(usual);
    text += (text.empty() ? "" : " ") + part + (is_usual ? "*" : "");
  }
  return has_words && has_numbers ? "" : text;
}

}  // namespace kiln::tools
