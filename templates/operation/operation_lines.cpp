// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/operation_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/space/tunable_value.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max();
constexpr std::array kFillKinds{FillSpec::Kind::normal,   FillSpec::Kind::uniform,
                                FillSpec::Kind::positive, FillSpec::Kind::integers,
                                FillSpec::Kind::sorted,   FillSpec::Kind::kernel};

/// The operation's names, and behind them the figures of a run, which are real numbers.
NameTable metric_names(const FrontMatterLine& line, const Operation& operation) {
  NameTable names = operation.names();
  const std::int64_t real = value_of_double(0.5).value();
  for (const std::string_view figure : kMetricFigures) {
    if (names.find(figure) >= 0) {
      line.fail(0, fmt::format("metrics know \"{0}\" as a figure of a run, but the operation "
                               "declares another \"{0}\"; rename that one",
                               figure));
    }
    names.set_values(names.intern(figure), std::span(&real, 1));
  }
  return names;
}

/// Decimal, with an exponent or without: what a double can be read from.
double decimal_part(const FrontMatterLine& line, TextPart part) {
  double value = 0.0;
  const char* const last = part.text.data() + part.text.size();
  const auto [end, status] = std::from_chars(part.text.data(), last, value);
  if (part.text.empty() || status != std::errc{} || end != last || !std::isfinite(value)) {
    line.fail(part.offset, fmt::format("\"{}\" is not a decimal number such as 1e-5", part.text));
  }
  return value;
}

/// The words between spaces that are not inside parentheses.
std::vector<TextPart> split_outer_words(TextPart whole) {
  std::vector<TextPart> words;
  int open = 0;
  bool in_word = false;
  for (std::size_t i = 0; i < whole.text.size(); ++i) {
    const char c = whole.text[i];
    open += (c == '(') - (c == ')');
    const bool is_space = kLineSpace.find(c) != std::string_view::npos && open <= 0;
    if (!is_space && !in_word) words.push_back({whole.text.substr(i, 0), whole.offset + i});
    in_word = !is_space;
    if (in_word) {
      const auto begin = words.back().offset - whole.offset;
      words.back().text = whole.text.substr(begin, i + 1 - begin);
    }
  }
  return words;
}

/// The `16 of f32` of a bound.
void read_bound(const FrontMatterLine& line, TextPart rest, const Operation& operation,
                RightSpec& right) {
  const auto words = split_outer_words(rest);
  if (words.size() < 3 || words[words.size() - 2].text != "of") {
    line.fail(rest.offset,
              "expected here: \"bound E of T\", which allows an error of E unit roundoffs of T; T "
              "is an element type or a type slot");
  }
  const TextPart type = words.back();
  const auto factor = rest.text.substr(0, words[words.size() - 2].offset - rest.offset);
  right.factor =
      Expression::parse(trimmed(factor), operation.names(), line.text_place.at(rest.offset));
  right.roundoff_of = type.text;
  const auto& slots = operation.type_slots();
  if (std::ranges::find(slots, type.text) != slots.end()) return;
  const auto named = parse_dtype(type.text);
  if (!named) {
    std::vector<std::string> known(kDTypeNames.begin(), kDTypeNames.end());
    known.insert(known.end(), slots.begin(), slots.end());
    line.fail(type.offset, fmt::format("\"{}\" is neither an element type nor a type slot{}",
                                       type.text, did_you_mean(type.text, known)));
  }
  constexpr std::array kRounding{DType::f16,  DType::bf16, DType::tf32, DType::f32, DType::f64,
                                 DType::e4m3, DType::e5m2, DType::cf32, DType::cf64};
  if (std::ranges::find(kRounding, *named) == kRounding.end()) {
    line.fail(type.offset, fmt::format("{} is an integer type, and integers are not rounded; "
                                       "name a floating-point type, or write \"exact\"",
                                       type.text));
  }
}

void read_within(const FrontMatterLine& line, TextPart rest, RightSpec& right) {
  const auto words = split_words(rest.text);
  if (words.size() != 2) {
    line.fail(rest.offset,
              "after \"within\", write the relative error and the absolute error, as in "
              "\"within 1e-5 1e-6\"");
  }
  right.relative = decimal_part(line, {words[0].text, rest.offset + words[0].offset});
  right.absolute = decimal_part(line, {words[1].text, rest.offset + words[1].offset});
  if (right.relative < 0.0 || right.absolute < 0.0) {
    line.fail(rest.offset, "the relative and the absolute error must not be negative");
  }
}

}  // namespace

std::int64_t parse_integer_part(const FrontMatterLine& line, TextPart part) {
  std::int64_t value = 0;
  const char* const last = part.text.data() + part.text.size();
  const auto [end, status] = std::from_chars(part.text.data(), last, value);
  if (part.text.empty() || status != std::errc{} || end != last) {
    line.fail(part.offset, fmt::format("\"{}\" is not an integer", part.text));
  }
  return value;
}

TextPart inner_part(TextPart whole, std::string_view inner) {
  const auto text = trimmed(inner);
  return {text, whole.offset + offset_in(whole.text, text.empty() ? inner : text)};
}

MetricSpec parse_metric(const FrontMatterLine& line, const Operation& operation) {
  const std::string_view text = line.text;
  const auto equals = text.find('=');
  const auto name = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || !is_identifier(name)) {
    line.fail(0, "write a metric as \"metric points_per_s = points / time_s\"");
  }
  const NameTable names = metric_names(line, operation);
  if (names.find(name) >= 0) {
    line.fail(0, fmt::format("the name \"{}\" is already used in this operation", name));
  }
  if (std::ranges::find(operation.metrics, name, &MetricSpec::name) != operation.metrics.end()) {
    line.fail(0, fmt::format("the operation has two metrics \"{}\"; rename one of them", name));
  }
  const TextPart part = inner_part({text, 0}, text.substr(equals + 1));
  MetricSpec metric{
      std::string(name),
      Expression::parse(part.text, names, line.text_place.at(part.offset), Expression::Real::kept)};
  const int first = names.size() - static_cast<int>(kMetricFigures.size());
  for (const int slot : metric.value.names_used()) {
    if (slot >= first + 2) metric.needs_energy = true;
  }
  metric.comment = line.comment;
  metric.line = line.key_place.line;
  return metric;
}

SizeSpec parse_size(const FrontMatterLine& line, const NameTable& names) {
  const std::string_view whole = line.text;
  const auto equals = whole.find('=');
  const auto words = split_words(whole.substr(0, equals));
  SizeSpec size{std::string(words[0].text), 1, kMostSize, line.comment};
  if (equals != std::string_view::npos) {
    const TextPart value = inner_part({whole, 0}, whole.substr(equals + 1));
    size.value = Expression::parse(value.text, names, line.text_place.at(value.offset));
  }
  if (words.size() == 1) return size;
  const auto [text, offset] = words[1];
  const auto dots = text.find("..");
  if (words.size() > 2 || dots == std::string_view::npos) {
    line.fail(offset, "write the range directly after the name, as in \"size n 1..4096 = 64\"");
  }
  size.least = parse_integer_part(line, {text.substr(0, dots), offset});
  size.most = parse_integer_part(line, {text.substr(dots + 2), offset + dots + 2});
  if (size.least < 0 || size.most > kMostSize || size.least > size.most) {
    line.fail(
        offset,
        fmt::format("the ends of a range must be between 0 and {}, with the smaller end first",
                    kMostSize));
  }
  return size;
}

TraitSpec parse_trait(const FrontMatterLine& line) {
  const auto words = split_words(line.text);
  TraitSpec trait{std::string(words[0].text), {}, line.comment};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (trait.values.size() == kMostValues) {
      line.fail(
          words[i].offset,
          fmt::format("the trait has more than {} values. Next: replace the trait with a size. "
                      "If the tuner should choose the value, use a tunable instead",
                      kMostValues));
    }
    const auto value = parse_integer_part(line, words[i]);
    if (std::ranges::find(trait.values, value) != trait.values.end()) {
      line.fail(words[i].offset, fmt::format("{} is listed twice", value));
    }
    trait.values.push_back(value);
  }
  if (trait.values.empty()) {
    line.fail(line.text.size(), "write the values of the trait after its name");
  }
  return trait;
}

std::vector<DType> parse_slot_types(const FrontMatterLine& line) {
  const auto words = split_words(line.text);
  std::vector<DType> types;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto type = parse_dtype(words[i].text);
    if (!type) {
      const std::vector<std::string> known(kDTypeNames.begin(), kDTypeNames.end());
      line.fail(words[i].offset,
                fmt::format("\"{}\" is not an element type{}; the types are: {}", words[i].text,
                            did_you_mean(words[i].text, known), fmt::join(known, " ")));
    }
    if (std::ranges::find(types, *type) != types.end()) {
      line.fail(words[i].offset, fmt::format("{} is listed twice", words[i].text));
    }
    types.push_back(*type);
  }
  return types;
}

ScalarSpec parse_scalar(const FrontMatterLine& line) {
  const std::string_view text = line.text;
  const auto equals = text.find('=');
  const auto head = split_words(text.substr(0, equals));
  if (equals == std::string_view::npos || head.size() != 2) {
    line.fail(0, "write a scalar with its type and default: scale f32 = 1");
  }
  const auto type = parse_number_type(head[1].text);
  if (!type) {
    const std::vector<std::string> known = number_type_names();
    line.fail(head[1].offset,
              fmt::format("\"{}\" is not a scalar type{}; the types are: {}", head[1].text,
                          did_you_mean(head[1].text, known), fmt::join(known, " ")));
  }
  ScalarSpec scalar;
  scalar.name = head[0].text;
  scalar.type = *type;
  scalar.comment = line.comment;
  const TextPart value = inner_part({text, 0}, text.substr(equals + 1));
  const auto number = read_scalar(scalar.type, value.text);
  if (!number) {
    line.fail(value.offset,
              fmt::format("\"{}\" is not a number such as 1e-5 or 0x9e3779b9", value.text));
  }
  scalar.value = *number;
  const std::string why = why_not_of_type(scalar.type, scalar.value, value.text);
  if (!why.empty()) line.fail(value.offset, why);
  return scalar;
}

FillSpec parse_fill(const FrontMatterLine& line, TextPart part, const NameTable& names) {
  const auto words = split_outer_words(part);
  std::vector<std::string> known;
  for (const auto each : kFillKinds) known.emplace_back(to_string(each));
  known.emplace_back("file");  // parse_fill_file() reads it
  const auto kind =
      words.empty() ? known.end() : std::ranges::find(known, std::string(words[0].text));
  if (kind == known.end()) {
    const std::string_view given = words.empty() ? std::string_view() : words[0].text;
    line.fail(part.offset, fmt::format("\"{}\" is not a way to fill an operand{}", given,
                                       meant_or_known(given, known)));
  }
  FillSpec fill;
  fill.kind = kFillKinds[static_cast<std::size_t>(kind - known.begin())];
  if (fill.kind == FillSpec::Kind::kernel) {
    if (words.size() != 2) {
      line.fail(part.offset,
                "after \"kernel\", write only the name of a kernel that a \"fill\" line of this "
                "file names, as in \"fill kernel slopes_of\"");
    }
    fill.kernel = words[1].text;
    return fill;
  }
  const bool has_range =
      fill.kind == FillSpec::Kind::integers || fill.kind == FillSpec::Kind::sorted;
  if (words.size() != (has_range ? 3U : 1U)) {
    line.fail(part.offset, has_range
                               ? fmt::format("write two numbers after \"{0}\": the smallest and "
                                             "the largest. If an expression contains spaces, put "
                                             "parentheses around it, as in \"{0} 0 (n - 1)\"",
                                             *kind)
                               : fmt::format("remove the text after \"{}\"", *kind));
  }
  if (!has_range) return fill;
  const auto bound = [&](TextPart word) {
    return Expression::parse(word.text, names, line.text_place.at(word.offset));
  };
  fill.low = bound(words[1]);
  fill.high = bound(words[2]);
  return fill;
}

std::string parse_fill_file(const FrontMatterLine& line, TextPart part) {
  const auto path = trimmed(part.text.substr(std::string_view("file").size()));
  if (path.empty()) {
    line.fail(part.offset,
              "after \"file\", write the path of a file with the operand's data, as in \"fill file "
              "points.npy\"; a relative path starts from the folder of this operation");
  }
  return std::string(path);
}

RightSpec parse_right(const FrontMatterLine& line, const Operation& operation) {
  static const std::vector<std::string> kinds{"exact", "bound", "within", "checker"};
  const auto words = split_words(line.text);
  const std::string_view name = words[0].text;
  const auto operand = std::ranges::find(operation.operands, name, &OperandSpec::name);
  if (operand == operation.operands.end()) {
    std::vector<std::string> known;
    for (const auto& each : operation.operands) known.push_back(each.name);
    line.fail(0, fmt::format("there is no operand \"{}\"{}", name, did_you_mean(name, known)));
  }
  if (operand->role == OperandRole::in) {
    line.fail(0, fmt::format("{} is an input; \"right\" lines are only for outputs", name));
  }
  RightSpec right;
  right.operand = static_cast<std::uint16_t>(operand - operation.operands.begin());
  right.line = line.text_place.line;
  const std::string kind(words.size() < 2 ? std::string_view() : words[1].text);
  if (std::ranges::find(kinds, kind) == kinds.end()) {
    line.fail(words.size() < 2 ? line.text.size() : words[1].offset,
              fmt::format("expected here: \"exact\", \"bound E of T\" (E unit roundoffs of T, e.g. "
                          "\"bound 16 of f32\"), \"within RELATIVE ABSOLUTE\" or \"checker\"{}",
                          did_you_mean(kind, kinds)));
  }
  const std::string_view text = line.text;
  const TextPart rest = inner_part({text, 0}, text.substr(words[1].offset + kind.size()));
  if (kind == "exact" || kind == "checker") {
    if (kind == "checker") right.kind = RightSpec::Kind::checker;
    if (!rest.text.empty()) {
      line.fail(rest.offset, fmt::format("remove the text after \"{}\"", kind));
    }
  } else if (kind == "bound") {
    right.kind = RightSpec::Kind::bound;
    read_bound(line, rest, operation, right);
  } else {
    right.kind = RightSpec::Kind::within;
    read_within(line, rest, right);
  }
  return right;
}

std::vector<NamedValue> parse_ragged(const FrontMatterLine& line, const Operation& operation) {
  std::vector<NamedValue> given;
  for (const auto& [word, offset] : split_words(line.text)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      line.fail(offset, "write sizes as \"rows=7 cols=33\", without spaces around '='");
    }
    const auto name = word.substr(0, equals);
    const auto size = std::ranges::find(operation.sizes, name, &SizeSpec::name);
    if (size == operation.sizes.end()) {
      line.fail(offset, fmt::format("there is no size \"{}\"{}", name,
                                    did_you_mean(name, operation.size_names())));
    }
    if (std::ranges::find(given, name, &NamedValue::name) != given.end()) {
      line.fail(offset, fmt::format("\"{}\" is given twice", name));
    }
    const auto value = parse_integer_part(line, {word.substr(equals + 1), offset + equals + 1});
    if (value < size->least || value > size->most) {
      line.fail(offset + equals + 1, fmt::format("{3} is {0}, but must be from {1} to {2}", value,
                                                 size->least, size->most, name));
    }
    given.push_back({std::string(name), value});
  }
  for (const SizeSpec& size : operation.sizes) {
    if (size.value || std::ranges::find(given, size.name, &NamedValue::name) != given.end()) {
      continue;
    }
    line.fail(
        line.text.size(),
        fmt::format("the size \"{}\" is missing; give a value to every size that has no default",
                    size.name));
  }
  auto sizes = operation.with_defaults(std::move(given));
  if (sizes.size() < operation.sizes.size()) {
    line.fail(0, fmt::format("with these sizes, the default of the size \"{0}\" is undefined "
                             "(division by zero or overflow); add \"{0}=...\" to this line",
                             operation.sizes[sizes.size()].name));
  }
  return sizes;
}

}  // namespace kiln
