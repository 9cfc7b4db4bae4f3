// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/front_matter.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "templates/nearest_name.hpp"
#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {

std::vector<TextPart> split_words(std::string_view text) {
  std::vector<TextPart> words;
  std::size_t at = text.find_first_not_of(kLineSpace);
  while (at != std::string_view::npos) {
    const auto end = std::min(text.find_first_of(kLineSpace, at), text.size());
    words.push_back({text.substr(at, end - at), at});
    at = text.find_first_not_of(kLineSpace, end);
  }
  return words;
}

// The end of the text counts as one more comma, so that the last part needs no code of its own.
std::vector<TextPart> split_arguments(std::string_view text) {
  std::vector<TextPart> parts;
  int open = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    open += (c == '(' || c == '{') - (c == ')' || c == '}');
    if (i < text.size() && (c != ',' || open > 0)) continue;
    const auto part = text.substr(begin, i - begin);
    const auto inner = trimmed(part);
    parts.push_back({inner, inner.empty() ? i : offset_in(text, inner)});
    begin = i + 1;
  }
  return parts;
}

std::vector<TextPart> split_clauses(std::string_view text) {
  std::vector<TextPart> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(';', begin), text.size());
    const auto inner = trimmed(text.substr(begin, end - begin));
    parts.push_back({inner, inner.empty() ? begin : offset_in(text, inner)});
    begin = end + 1;
  }
  return parts;
}

// Three checks: each word, then that no slot is missing, then that the row names any type at all.
TypeRow parse_type_row(const FrontMatterLine& line, const Operation& operation) {
  const auto& slots = operation.type_slots();
  const auto lists = [&](std::string_view slot, DType type) {
    const auto at = std::find(slots.begin(), slots.end(), slot) - slots.begin();
    const auto& listed = operation.slots[static_cast<std::size_t>(at)].types;
    return listed.empty() || std::find(listed.begin(), listed.end(), type) != listed.end();
  };
  const auto is_slot = [&](std::string_view name) {
    return std::find(slots.begin(), slots.end(), name) != slots.end();
  };
  TypeRow row;
  for (const auto [word, offset] : split_words(line.text)) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      line.fail(offset, "write types as \"slot=type|type\", without spaces around '=' and '|'");
    }
    TypeRow::Slot slot{std::string(word.substr(0, equals)), {}, {}};
    if (!is_slot(slot.name)) {
      line.fail(offset, fmt::format("{} has no type slot \"{}\"{}", operation.name, slot.name,
                                    did_you_mean(slot.name, slots)));
    }
    if (std::any_of(row.slots.begin(), row.slots.end(),
                    [&](const TypeRow::Slot& s) { return s.name == slot.name; })) {
      line.fail(offset, fmt::format("\"{}\" is given twice", slot.name));
    }
    for (std::size_t at = equals + 1; at <= word.size();) {
      const auto bar = std::min(word.find('|', at), word.size());
      const auto name = word.substr(at, bar - at);
      if (const auto type = parse_dtype(name)) {
        if (!lists(slot.name, *type)) {
          line.fail(offset + at,
                    fmt::format("the operation {} does not allow the type {} for \"{}\"; \"kiln "
                                "operations {}\" shows the allowed types",
                                operation.name, name, slot.name, operation.name));
        }
        slot.allowed.push_back(*type);
      } else if (is_slot(name)) {
        slot.same_as.emplace_back(name);
      } else {
        line.fail(offset + at,
                  fmt::format("\"{}\" is neither an element type nor a type slot", name));
      }
      at = bar + 1;
    }
    row.slots.push_back(std::move(slot));
  }
  for (const auto& name : slots) {
    if (std::none_of(row.slots.begin(), row.slots.end(),
                     [&](const TypeRow::Slot& s) { return s.name == name; })) {
      line.fail(line.text.size(), fmt::format("the type of \"{}\" is missing", name));
    }
  }
  // Slots that only refer to each other would accept anything, so grow the set of the others.
  std::vector<std::string> grounded;
  const auto is_grounded = [&](const std::string& name) {
    return std::find(grounded.begin(), grounded.end(), name) != grounded.end();
  };
  for (std::size_t round = 0; round < row.slots.size(); ++round) {
    for (const auto& slot : row.slots) {
      const bool anchored = !slot.allowed.empty() ||
                            std::any_of(slot.same_as.begin(), slot.same_as.end(), is_grounded);
      if (anchored && !is_grounded(slot.name)) grounded.push_back(slot.name);
    }
  }
  for (const auto& slot : row.slots) {
    if (!is_grounded(slot.name)) {
      line.fail(0,
                fmt::format("the slots in this line refer only to each other, so the slot \"{0}\" "
                            "has no types; write types for a slot, as in \"{0}=f16|bf16\"",
                            slot.name));
    }
  }
  return row;
}

std::pair<std::string_view, TextPart> name_and_value(const FrontMatterLine& line,
                                                     std::size_t skipped) {
  const std::string_view text = line.text;
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) {
    line.fail(0, fmt::format("write the line as \"{} name = {}\"", line.key,
                             line.key == "tune" ? "64 128* 256" : "expression"));
  }
  auto name = text.substr(0, equals);
  name.remove_prefix(std::min(skipped, name.size()));
  name = name.substr(0, name.find_last_not_of(" \t") + 1);
  if (!is_identifier(name)) line.fail(skipped, "expected before '=': a name");
  const auto begin = std::min(text.find_first_not_of(" \t", equals + 1), text.size());
  return {name, {text.substr(begin), begin}};
}

}  // namespace kiln
