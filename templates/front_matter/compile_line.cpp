// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/compile_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/source_error.hpp"
#include "templates/space/tunable_value.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::string_view kWhen = "when";
constexpr std::string_view kPtxas = "--ptxas-options=";

std::vector<std::string> words_of(const CompileOptionRule& rule) {
  std::vector<std::string> words;
  for (const TextPart& word : split_words(rule.words)) words.emplace_back(word.text);
  return words;
}

/// "--ftz" of "--ftz=true"; the option of ptxas belongs to the name.
std::string_view name_of(std::string_view text) {
  const std::size_t from = text.starts_with(kPtxas) ? kPtxas.size() : 0;
  return text.substr(0, std::min(text.find('=', from), text.size()));
}

/// Of "-ftz", "-O3" and the like; nullptr where there is none.
const CompileOptionRule* long_name_of(std::string_view name) {
  if (name.starts_with("--") || !name.starts_with('-')) return nullptr;
  if (name.starts_with("-O")) return find_compile_option(fmt::format("{}--opt-level", kPtxas));
  return find_compile_option(fmt::format("-{}", name));
}

[[noreturn]] void refuse_option(const FrontMatterLine& line, const TextPart& part) {
  const std::string_view name = name_of(part.text);
  if (const auto* const meant = long_name_of(name)) {
    line.fail(part.offset,
              fmt::format("a \"compile\" line takes the long names of options. Next: write {}{}",
                          meant->name, meant->value == OptionValue::none ? "" : "=VALUE"));
  }
  if (const std::string_view why = why_not_an_option(name); !why.empty()) {
    line.fail(part.offset, fmt::format("a \"compile\" line cannot give {}. Next: {}", name,
                                       why.starts_with("Kiln") || why.starts_with("a ")
                                           ? fmt::format("remove this option; {}", why)
                                           : std::string(why)));
  }
  std::vector<std::string> known;
  for (const CompileOptionRule& rule : compile_option_rules()) known.emplace_back(rule.name);
  line.fail(part.offset, fmt::format("\"{}\" is not an option of a \"compile\" line{}", name,
                                     meant_or_known(name, known)));
}

/// The value of an option that takes a word: one of the words, or a tunable with such values.
void read_word(const FrontMatterLine& line, const TextPart& value, const NameTable& names,
               CompileItem& item) {
  const std::vector<std::string> words = words_of(*item.rule);
  const auto is_word = [&](std::string_view text) {
    return std::ranges::find(words, text) != words.end();
  };
  const int slot = names.find(value.text);
  if (slot < 0) {
    if (!is_word(value.text)) {
      line.fail(value.offset,
                fmt::format("expected after \"{}=\": one of the words {}, or a tunable with such "
                            "values",
                            item.rule->name, fmt::join(words, ", ")));
    }
    item.word = value.text;
    return;
  }
  const auto values = names.named_values(slot);
  const bool fits =
      std::ranges::all_of(values, [&](std::int64_t each) { return is_word(value_text(each)); });
  if (values.empty() || !fits) {
    line.fail(value.offset,
              fmt::format("the values of \"{}\" must be some of the words {}. Next: "
                          "write tune {} = {}",
                          value.text, fmt::join(words, ", "), value.text, fmt::join(words, " ")));
  }
  item.slot = slot;
}

CompileItem read_item(const FrontMatterLine& line, const TextPart& part, const NameTable& names) {
  CompileItem item;
  const std::string_view name = name_of(part.text);
  item.rule = find_compile_option(name);
  if (item.rule == nullptr) refuse_option(line, part);
  item.text = part.text;
  item.place = line.text_place.at(part.offset);
  const std::string_view rest = part.text.substr(name.size());
  const TextPart value{rest.empty() ? rest : rest.substr(1), part.offset + name.size() + 1};
  if (item.rule->value == OptionValue::none) {
    if (!rest.empty()) {
      line.fail(part.offset + name.size(),
                fmt::format("{0} takes no value; write \"compile {0}\", or \"compile {0} when "
                            "CONDITION\"",
                            name));
    }
    return item;
  }
  if (value.text.empty()) {
    line.fail(
        part.offset,
        fmt::format("{0} needs a value; write \"{0}=VALUE\" without spaces around '='", name));
  }
  if (item.rule->value == OptionValue::truth && (value.text == "yes" || value.text == "no")) {
    line.fail(value.offset,
              fmt::format("{} is true or false; write {}={}", name, name, value.text == "yes"));
  }
  if (item.rule->value == OptionValue::word) {
    read_word(line, value, names, item);
  } else {
    item.value = Expression::parse(value.text, names, line.text_place.at(value.offset));
  }
  return item;
}

void refuse_late(const FrontMatterLine& line, std::size_t offset, const std::vector<int>& slots,
                 const NameTable& names, const std::function<bool(std::string_view)>& is_late) {
  for (const int slot : slots) {
    if (!is_late(names.name(slot))) continue;
    line.fail(offset, fmt::format("\"{}\" is known only at launch, so it cannot decide how the "
                                  "kernel is compiled. Next: use tunables, types, traits, or the "
                                  "device instead",
                                  names.name(slot)));
  }
}

/// The value that the option of the item gets.
std::string value_of(const CompileItem& item, std::span<const std::int64_t> bindings) {
  const CompileOptionRule& rule = *item.rule;
  if (rule.value == OptionValue::word) {
    return item.slot < 0 ? item.word : value_text(bindings[static_cast<std::size_t>(item.slot)]);
  }
  const auto value = item.value->evaluate(bindings);
  if (!value) {
    throw_at(item.place, item.text, 0,
             fmt::format("the value of {} is undefined for this configuration", rule.name));
  }
  if (rule.value == OptionValue::truth) return *value != 0 ? "true" : "false";
  if (*value < rule.least || *value > rule.most) {
    throw_at(item.place, item.text, 0,
             fmt::format("{} is {} for this configuration, but it must be from {} to {}. Next: "
                         "change the values, or add a condition: when ...",
                         rule.name, *value, rule.least, rule.most));
  }
  return fmt::format("{}", *value);
}

}  // namespace

void add_compile_line(const FrontMatterLine& line, const NameTable& names,
                      const std::function<bool(std::string_view)>& is_late,
                      std::vector<CompileItem>& items) {
  const std::string_view text = line.text;
  std::vector<TextPart> parts = split_words(text);
  const auto condition = std::ranges::find(parts, kWhen, &TextPart::text);
  std::optional<Expression> when;
  if (condition != parts.end()) {
    const std::size_t begin = condition->offset + kWhen.size();
    const std::string_view expression = trimmed(text.substr(begin));
    if (expression.empty()) line.fail(begin, "expected after \"when\": a condition");
    const std::size_t offset = offset_in(text, expression);
    when = Expression::parse(expression, names, line.text_place.at(offset));
    refuse_late(line, offset, when->names_used(), names, is_late);
    parts.erase(condition, parts.end());
  }
  if (parts.empty()) {
    line.fail(0, "expected before \"when\": an option, as in \"compile --ftz=true\"");
  }
  for (const TextPart& part : parts) {
    CompileItem item = read_item(line, part, names);
    if (item.value) refuse_late(line, part.offset, item.value->names_used(), names, is_late);
    if (item.slot >= 0) refuse_late(line, part.offset, {item.slot}, names, is_late);
    item.when = when;
    const bool is_second = std::ranges::any_of(items, [&](const CompileItem& other) {
      return other.rule == item.rule && !other.when && !item.when;
    });
    if (is_second) {
      line.fail(part.offset, fmt::format("{} is given twice without a condition. Next: remove one "
                                         "of the two, or add \"when CONDITION\"",
                                         item.rule->name));
    }
    items.push_back(std::move(item));
  }
}

CompileOptions options_of_lines(const std::vector<CompileItem>& items,
                                std::span<const std::int64_t> bindings) {
  CompileOptions options;
  for (const CompileOptionRule& rule : compile_option_rules()) {
    const CompileItem* last = nullptr;
    for (const CompileItem& item : items) {
      if (item.rule != &rule) continue;
      if (!item.when || item.when->evaluate(bindings).value_or(0) != 0) last = &item;
    }
    if (last == nullptr) continue;
    if (rule.value == OptionValue::none) {
      options.flags.emplace_back(rule.name);
      continue;
    }
    const std::string value = value_of(*last, bindings);
    if (rule.name == kRouteOption) {
      options.route = value == "ptx" ? CompileRoute::ptx : CompileRoute::cubin;
    } else {
      options.flags.push_back(fmt::format("{}={}", rule.name, value));
    }
  }
  return options;
}

bool gives_option(const std::vector<CompileItem>& items, std::string_view option) {
  return std::ranges::any_of(items,
                             [&](const CompileItem& item) { return item.rule->name == option; });
}

std::string compile_item_text(const CompileItem& item) {
  return item.when ? fmt::format("{} when {}", item.text, item.when->text()) : item.text;
}

}  // namespace kiln
