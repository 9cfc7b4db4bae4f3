// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the lines of a declaration to an Operation.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "kiln/error.hpp"
#include "templates/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kMostSize = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMostExtents = 8;

const std::vector<std::string>& operation_keys() {
  static const std::vector<std::string> keys{"operation", "purpose", "size",  "type",
                                             "trait",     "operand", "flops", "bytes"};
  return keys;
}

std::int64_t integer(const FrontMatterLine& line, TextPart part) {
  std::int64_t value = 0;
  const char* const last = part.text.data() + part.text.size();
  const auto [end, status] = std::from_chars(part.text.data(), last, value);
  if (part.text.empty() || status != std::errc{} || end != last) {
    line.fail(part.offset, fmt::format("\"{}\" is not an integer", part.text));
  }
  return value;
}

/// The part without the spaces around it.
TextPart trimmed_part(std::string_view whole, std::string_view part) {
  const auto text = trimmed(part);
  return {text, text.empty() ? offset_in(whole, part) : offset_in(whole, text)};
}

}  // namespace

class OperationParser {
 public:
  OperationParser(const std::string& file, std::string_view source)
      : file_(file), source_(source), lines_(read_front_matter(file, source, operation_keys())) {}

  Operation run() {
    check_keys();
    const FrontMatterLine& name = need("operation");
    if (!is_identifier(name.text)) {
      name.fail(0, "an operation's name consists of letters, digits and underscores");
    }
    result_.name = name.text;
    result_.file = file_;
    result_.source = source_;
    result_.purpose = need("purpose").text;
    need("size");
    need("type");
    need("operand");
    // What expressions mention may stand anywhere; Operation::values() has the same order.
    for (const auto type : kDTypeNames) result_.names_.intern(fmt::format("type.{}", type));
    for_each("size", [this](const FrontMatterLine& line) { read_size(line); });
    for_each("trait", [this](const FrontMatterLine& line) { read_trait(line); });
    for_each("type", [this](const FrontMatterLine& line) { read_type(line); });
    for_each("operand", [this](const FrontMatterLine& line) { read_operand(line); });
    const FrontMatterLine& flops = need("flops");
    result_.flops_ = expression(flops, {flops.text, 0});
    result_.flops_text = flops.text;
    for_each("bytes", [this](const FrontMatterLine& line) {
      result_.bytes_ = expression(line, {line.text, 0});
      result_.bytes_text = line.text;
    });
    return std::move(result_);
  }

 private:
  template <class Visit>
  void for_each(std::string_view key, const Visit& visit) const {
    for (const auto& line : lines_) {
      if (line.key == key) visit(line);
    }
  }

  const FrontMatterLine& need(std::string_view key) const {
    const auto found = std::ranges::find(lines_, key, &FrontMatterLine::key);
    if (found != lines_.end()) return *found;
    throw Error(ErrorKind::template_, fmt::format("{}:1:1: the operation has no \"//@ {}\" line; "
                                                  "docs/writing-templates.md has the grammar",
                                                  file_, key));
  }

  void check_keys() const {
    constexpr std::array<std::string_view, 4> kOnce{"operation", "purpose", "flops", "bytes"};
    for (const auto& line : lines_) {
      if (std::ranges::find(operation_keys(), line.key) == operation_keys().end()) {
        line.fail_at_key(fmt::format("unknown key \"{}\" of an operation{}", line.key,
                                     did_you_mean(line.key, operation_keys())));
      }
      if (line.text.empty()) line.fail(0, fmt::format("\"{}\" needs a value", line.key));
      if (std::ranges::find(kOnce, line.key) != kOnce.end() && &need(line.key) != &line) {
        line.fail_at_key(fmt::format("a second \"{}\" line; one is allowed", line.key));
      }
    }
  }

  /// A name of the problem's, which no other part of it has.
  void declare(const FrontMatterLine& line, TextPart name, std::string_view shown) {
    if (!is_identifier(name.text)) {
      line.fail(name.offset, fmt::format("the name of a {} consists of letters, digits and "
                                         "underscores",
                                         line.key));
    }
    if (result_.names_.find(shown) >= 0) {
      line.fail(name.offset,
                fmt::format("\"{}\" already means something in this operation", shown));
    }
    result_.names_.intern(shown);
  }

  Expression expression(const FrontMatterLine& line, TextPart part) const {
    return Expression::parse(part.text, result_.names_, line.text_place.at(part.offset));
  }

  /// `m` or `m 0..4096`.
  void read_size(const FrontMatterLine& line) {
    const auto words = split_words(line.text);
    declare(line, words[0], words[0].text);
    SizeSpec size{std::string(words[0].text), 1, kMostSize, line.comment};
    if (words.size() > 1) {
      const auto [text, offset] = words[1];
      const auto dots = text.find("..");
      if (words.size() > 2 || dots == std::string_view::npos) {
        line.fail(offset, "the range of a size is written 1..4096");
      }
      size.least = integer(line, {text.substr(0, dots), offset});
      size.most = integer(line, {text.substr(dots + 2), offset + dots + 2});
      if (size.least < 0 || size.most > kMostSize || size.least > size.most) {
        line.fail(offset,
                  fmt::format("a range lies between 0 and {}, the smaller end first", kMostSize));
      }
    }
    result_.size_names.push_back(size.name);
    result_.sizes.push_back(std::move(size));
  }

  /// `align_a 1 2 4 8 16`.
  void read_trait(const FrontMatterLine& line) {
    const auto words = split_words(line.text);
    declare(line, words[0], words[0].text);
    TraitSpec trait{std::string(words[0].text), {}, line.comment};
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto value = integer(line, words[i]);
      if (std::ranges::find(trait.values, value) != trait.values.end()) {
        line.fail(words[i].offset, fmt::format("{} is listed twice", value));
      }
      trait.values.push_back(value);
    }
    if (trait.values.empty()) {
      line.fail(line.text.size(), "the values of the trait are expected after its name");
    }
    result_.trait_names.push_back(trait.name);
    result_.traits.push_back(std::move(trait));
  }

  void read_type(const FrontMatterLine& line) {
    const auto words = split_words(line.text);
    if (words.size() > 1) line.fail(words[1].offset, "one type slot a line is expected");
    const std::string slot(words[0].text);
    declare(line, words[0], slot + "_bytes");
    result_.names_.intern(slot + "_packed");
    result_.names_.intern(slot + "_type");
    result_.type_slots.push_back(slot);
    result_.slot_comments.push_back(line.comment);
  }

  /// `c in: m, n; when reads_c`.
  void read_operand(const FrontMatterLine& line) {
    const std::string_view text = line.text;
    const auto colon = text.find(':');
    const auto head = split_words(text.substr(0, colon));
    if (colon == std::string_view::npos || head.size() != 2) {
      line.fail(0, "an operand is written \"name in: rows, columns\", or out, or inout");
    }
    OperandSpec operand;
    operand.name = head[0].text;
    operand.comment = line.comment;
    if (std::ranges::find(result_.type_slots, operand.name) == result_.type_slots.end()) {
      line.fail(head[0].offset, fmt::format("there is no type slot \"{}\"{}", operand.name,
                                            did_you_mean(operand.name, result_.type_slots)));
    }
    if (result_.operand(operand.name) != nullptr) {
      line.fail(head[0].offset, fmt::format("a second operand \"{}\"", operand.name));
    }
    operand.role = role_of(line, head[1]);
    const auto semicolon = std::min(text.find(';', colon), text.size());
    read_extents(line, text.substr(colon + 1, semicolon - colon - 1), operand);
    if (semicolon < text.size()) {
      constexpr std::string_view kWhen = "when ";
      const TextPart part = trimmed_part(text, text.substr(semicolon + 1));
      if (!part.text.starts_with(kWhen)) {
        line.fail(part.offset, "\"when\" and a condition are expected after ';'");
      }
      operand.when = expression(line, {part.text.substr(kWhen.size()), part.offset + kWhen.size()});
    }
    result_.operands.push_back(std::move(operand));
  }

  static OperandRole role_of(const FrontMatterLine& line, TextPart word) {
    for (const auto role : {OperandRole::in, OperandRole::out, OperandRole::inout}) {
      if (to_string(role) == word.text) return role;
    }
    line.fail(word.offset, fmt::format("\"{}\" is none of in, out and inout", word.text));
  }

  void read_extents(const FrontMatterLine& line, std::string_view list, OperandSpec& operand) {
    const std::size_t begin = offset_in(line.text, list);
    for (const auto& [text, offset] : split_arguments(list)) {
      if (operand.extents.size() == kMostExtents) {
        line.fail(begin + offset, fmt::format("more than {} extents", kMostExtents));
      }
      operand.extents.push_back(expression(line, {text, begin + offset}));
    }
  }

  const std::string& file_;
  std::string_view source_;
  std::vector<FrontMatterLine> lines_;
  Operation result_;
};

Operation Operation::parse(const std::string& file, std::string_view source) {
  return OperationParser(file, source).run();
}

bool declares_operation(std::string_view source) {
  constexpr std::string_view kMark = "//@";
  bool found = false;
  for (std::size_t begin = 0; begin < source.size();) {
    const auto end = std::min(source.find('\n', begin), source.size());
    const auto line = source.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kMark)) continue;
    const auto words = split_words(trimmed(line.substr(kMark.size())));
    if (words.empty()) continue;
    if (words.front().text == "template") return false;
    found = found || words.front().text == "operation";
  }
  return found;
}

}  // namespace kiln
