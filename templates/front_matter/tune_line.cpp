// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/tune_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/front_matter/declaration_check.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

constexpr std::string_view kDefault = "default";

/// Numbers of a range as multiples of the same power of ten.
struct Scaled {
  std::vector<std::int64_t> numbers;
  int exponent = 0;
  bool is_real = false;
  bool is_float = false;
};

class TuneLine {
 public:
  explicit TuneLine(const FrontMatterLine& line) : line_(line), words_(split_words(line.text)) {
    tunable_.name = line.declaration.name;
    tunable_.comment = line.comment;
  }

  Tunable run() {
    for (; next_ < words_.size(); ++next_) read_word(words_[next_]);
    return std::move(tunable_);
  }

 private:
  void read_word(const TextPart& word) {
    if (word.text == kDefault) {
      read_default(word);
    } else if (word.text.find("..") != std::string_view::npos) {
      read_powers(word);
    } else if (word.text.find(':') != std::string_view::npos) {
      read_range(word);
    } else {
      read_single(word);
    }
  }

  void read_single(TextPart word) {
    const bool is_default = word.text.ends_with('*');
    if (is_default) word.text.remove_suffix(1);
    const std::int64_t value = value_of(word);
    add(value, word);
    if (!is_default) return;
    if (has_default_) {
      line_.fail(word.offset, "two values are marked as the default (*); remove one '*'");
    }
    tunable_.default_value = value;
    has_default_ = true;
  }

  /// `default V`, the end of the line.
  void read_default(const TextPart& word) {
    if (tunable_.values.empty()) {
      line_.fail(word.offset, "expected before \"default\": the values of the tunable");
    }
    if (next_ + 1 == words_.size()) {
      line_.fail(word.offset, "expected after \"default\": one of the values");
    }
    const TextPart chosen = words_[++next_];
    if (next_ + 1 != words_.size()) {
      line_.fail(words_[next_ + 1].offset,
                 "\"default VALUE\" is the end of a \"tune\" line; write this before it");
    }
    if (has_default_) {
      line_.fail(word.offset, "the line has two defaults; remove '*' or \"default\"");
    }
    const std::int64_t value = value_of(chosen);
    if (std::ranges::find(tunable_.values, value) == tunable_.values.end()) {
      line_.fail(
          chosen.offset,
          fmt::format("{} is not one of the values, so it cannot be the default", chosen.text));
    }
    tunable_.default_value = value;
    has_default_ = true;
  }

  [[nodiscard]] std::int64_t value_of(const TextPart& word) const {
    const auto value = parse_value(word.text);
    const bool is_small = value && (is_named_value(*value) || is_real_value(*value) ||
                                    std::in_range<std::int32_t>(*value));
    if (!is_small) {
      line_.fail(word.offset,
                 fmt::format("\"{}\" is neither a 32-bit integer, a decimal number of at most {} "
                             "digits, nor a name of at most {} letters, digits and underscores",
                             word.text, kMostDecimalDigits, kMostValueCharacters));
    }
    return *value;
  }

  // Ranges.

  [[noreturn]] void fail_range(const TextPart& word, std::string_view why) const {
    line_.fail(word.offset, fmt::format("the range {}: {}", word.text, why));
  }

  [[nodiscard]] Scaled scaled(const TextPart& word,
                              const std::vector<std::string_view>& texts) const {
    constexpr std::int64_t kMost = 999'999'999'999'999;
    std::vector<Decimal> decimals;
    Scaled result;
    for (const std::string_view text : texts) {
      const auto value = parse_value(text);
      if (!value || is_named_value(*value)) {
        fail_range(word, fmt::format("\"{}\" is not a number. Next: write first:last, "
                                     "first:last:step or first..last x2",
                                     text));
      }
      decimals.push_back(decimal_of(*value));
      result.exponent = std::min(result.exponent, decimals.back().exponent);
      result.is_real = result.is_real || is_real_value(*value);
      result.is_float = result.is_float || decimals.back().is_float;
    }
    for (const Decimal& decimal : decimals) {
      std::int64_t number = decimal.mantissa;
      for (int i = decimal.exponent; i > result.exponent; --i) {
        if (number > kMost / 10 || number < -kMost / 10) {
          fail_range(word, "its numbers have too many digits");
        }
        number *= 10;
      }
      result.numbers.push_back(number);
    }
    return result;
  }

  [[nodiscard]] std::int64_t value_in(const TextPart& word, const Scaled& of,
                                      std::int64_t number) const {
    const auto value = of.is_real ? value_of_decimal({number, of.exponent, of.is_float})
                       : std::in_range<std::int32_t>(number) ? std::optional(number)
                                                             : std::nullopt;
    if (!value) fail_range(word, "its values must be 32-bit integers or decimal numbers");
    return *value;
  }

  [[nodiscard]] std::string text_in(const TextPart& word, const Scaled& of,
                                    std::int64_t number) const {
    return value_text(value_in(word, of, number));
  }

  void refuse_star(const TextPart& word) const {
    if (!word.text.ends_with('*')) return;
    line_.fail(word.offset + word.text.size() - 1,
               "'*' marks a single value, not a range. Next: write \"default VALUE\" at the end of "
               "the line");
  }

  void add_range(const TextPart& word, const Scaled& of, const std::vector<std::int64_t>& numbers) {
    for (const std::int64_t number : numbers) add(value_in(word, of, number), word);
  }

  /// `first:last`, `first:last:step`.
  void read_range(const TextPart& word) {
    refuse_star(word);
    std::vector<std::string_view> texts;
    for (std::string_view rest = word.text;;) {
      const auto colon = rest.find(':');
      texts.push_back(rest.substr(0, colon));
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
    if (texts.size() > 3) fail_range(word, "expected: first:last or first:last:step");
    const bool has_step = texts.size() == 3;
    if (!has_step) texts.emplace_back("1");
    const Scaled range = scaled(word, texts);
    const std::int64_t first = range.numbers[0];
    const std::int64_t last = range.numbers[1];
    const std::int64_t step = range.numbers[2];
    if (step == 0) fail_range(word, "with the step 0, it would never end");
    if ((step > 0) != (last >= first) && last != first) {
      fail_range(word, fmt::format("it has no values. Next: {}",
                                   step > 0 ? fmt::format("write {}:{}, or a negative step",
                                                          texts[1], texts[0])
                                            : "write a positive step"));
    }
    const std::int64_t steps = (last - first) / step;
    if (std::cmp_greater_equal(steps, kMostValues)) {
      fail_range(word, fmt::format("it has {} values, but a tunable has at most {}. Next: write a "
                                   "larger step",
                                   steps + 1, kMostValues));
    }
    const std::int64_t end = first + steps * step;
    if (end != last) {
      fail_range(word,
                 fmt::format("it ends at {0}, because {1} is not a whole number of steps away from "
                             "{2}. Next: write {2}:{0}{3}{4}",
                             text_in(word, range, end), texts[1], texts[0], has_step ? ":" : "",
                             has_step ? texts[2] : ""));
    }
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i <= steps; ++i) numbers.push_back(first + i * step);
    add_range(word, range, numbers);
  }

  /// `first..last x2`.
  void read_powers(const TextPart& word) {
    refuse_star(word);
    const auto dots = word.text.find("..");
    const std::vector<std::string_view> texts{word.text.substr(0, dots),
                                              word.text.substr(dots + 2)};
    const Scaled range = scaled(word, texts);
    const std::int64_t factor = read_factor(word);
    const std::int64_t last = range.numbers[1];
    if (range.numbers[0] <= 0) {
      fail_range(word,
                 "its first value must be positive, because the other values are multiples of it");
    }
    if (last < range.numbers[0]) {
      fail_range(word, fmt::format("it has no values. Next: write {}..{} x{}", texts[1], texts[0],
                                   factor));
    }
    std::vector<std::int64_t> numbers{range.numbers[0]};
    while (numbers.back() <= last / factor) numbers.push_back(numbers.back() * factor);
    if (numbers.back() != last) {
      fail_range(word,
                 fmt::format("it ends at {0}, because multiplying {1} by {2} does not lead to "
                             "{3}. Next: write {1}..{0} x{2}",
                             text_in(word, range, numbers.back()), texts[0], factor, texts[1]));
    }
    add_range(word, range, numbers);
  }

  /// `x2`, the word behind.
  std::int64_t read_factor(const TextPart& range) {
    const TextPart word =
        next_ + 1 < words_.size() ? words_[next_ + 1] : TextPart{"", line_.text.size()};
    if (!word.text.starts_with('x')) {
      fail_range(range, fmt::format("the factor is missing. Next: write {} x2, or {}:{}:1 for all "
                                    "numbers between",
                                    range.text, range.text.substr(0, range.text.find("..")),
                                    range.text.substr(range.text.find("..") + 2)));
    }
    ++next_;
    const auto digits = word.text.substr(1);
    std::int32_t factor = 0;
    const auto [end, status] =
        std::from_chars(digits.data(), digits.data() + digits.size(), factor);
    if (status != std::errc{} || end != digits.data() + digits.size() || factor < 2) {
      line_.fail(word.offset,
                 "expected here: the factor of the range, an integer from 2, as in x2");
    }
    return factor;
  }

  // Checks of a value.

  void add(std::int64_t value, const TextPart& word) {
    auto& values = tunable_.values;
    const auto same = [&](std::int64_t other) {
      return other == value || (!is_named_value(value) && !is_named_value(other) &&
                                number_of(value) == number_of(other));
    };
    if (std::ranges::any_of(values, same)) {
      line_.fail(word.offset, fmt::format("{} is listed twice", value_text(value)));
    }
    if (!values.empty()) check_kind(value, word);
    check_type(value, word);
    if (values.size() == kMostValues) {
      line_.fail(word.offset,
                 fmt::format("the tunable has more than {} values. Next: list fewer values, "
                             "or combine two tunables in a \"let\" line",
                             kMostValues));
    }
    if (values.empty()) tunable_.default_value = value;
    values.push_back(value);
  }

  void check_kind(std::int64_t value, const TextPart& word) const {
    const std::int64_t first = tunable_.values.front();
    if (is_named_value(first) != is_named_value(value)) {
      line_.fail(
          word.offset,
          fmt::format("the values of {} mix names and numbers; use only names or only numbers",
                      tunable_.name));
    }
    if (is_boolean_value(first) != is_boolean_value(value)) {
      line_.fail(
          word.offset,
          fmt::format("the values of {} mix false or true with other names; use only names, or "
                      "only false and true",
                      tunable_.name));
    }
  }

  void check_type(std::int64_t value, const TextPart& word) const {
    const std::string& type = line_.declaration.type;
    const std::string& name = tunable_.name;
    const bool is_name = is_named_value(value);
    if (type == kMacro) return;
    if (type == "bool") {
      if (value == 0 || value == 1 || is_boolean_value(value)) return;
      line_.fail(
          word.offset,
          fmt::format("{} is a bool, so its values must be false and true, or 0 and 1", name));
    }
    if (type == "int") {
      if (is_boolean_value(value)) {
        line_.fail(word.offset, fmt::format("{0} is an int, but {1} is a truth value. Next: change "
                                            "the field to bool {0};",
                                            name, value_text(value)));
      }
      if (is_name) {
        line_.fail(word.offset, fmt::format("{0} is an int, but {1} is a name. Next: declare enum "
                                            "class Kind {{ {1}, ... }}; and change the field to "
                                            "Kind {0};",
                                            name, value_text(value)));
      }
      if (is_real_value(value)) {
        line_.fail(word.offset,
                   fmt::format("{0} is an int, but {1} is a decimal number. Next: change "
                               "the field to float {0};",
                               name, value_text(value)));
      }
      return;
    }
    if (type == "float" || type == "double") {
      if (!is_name) return;
      line_.fail(word.offset, fmt::format("{} is a {}, so its values must be numbers", name, type));
    }
    if (!is_name) {
      line_.fail(word.offset, fmt::format("{} has the type {}, so its values must be names; for "
                                          "numbers, change the type to int",
                                          name, type));
    }
    if (is_boolean_value(value)) {
      line_.fail(word.offset, fmt::format("{0} has the type {1}, but {2} is a truth value. Next: "
                                          "change the field to bool {0};",
                                          name, type, value_text(value)));
    }
  }

  const FrontMatterLine& line_;
  std::vector<TextPart> words_;
  std::size_t next_ = 0;
  Tunable tunable_;
  bool has_default_ = false;
};

}  // namespace

Tunable parse_tunable(const FrontMatterLine& line) {
  return TuneLine(line).run();
}

}  // namespace kiln
