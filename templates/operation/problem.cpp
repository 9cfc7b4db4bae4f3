// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

constexpr std::string_view kKindEnd = " | ";
constexpr std::string_view kEpilogue = "epilogue";

[[noreturn]] void reject(std::string_view field, std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("problem text: \"{}\" {}", field, why));
}

/// Appends "name=value" for each entry, separated by spaces. Keys and digests are made of these
/// texts, thousands for a list, so it does without formatting.
template <class Entry>
void append_fields(std::string& text, const std::vector<Entry>& entries) {
  for (const auto& entry : entries) {
    if (!text.empty()) text += ' ';
    if constexpr (std::is_same_v<Entry, NamedType>) {
      text.append(entry.slot).append(1, '=').append(to_string(entry.type));
    } else {
      text.append(entry.name).append(1, '=').append(fmt::format_int(entry.value).str());
    }
  }
}

/// Problems have a handful of fields; a linear search beats any index.
std::optional<std::int64_t> find_value(const std::vector<NamedValue>& values,
                                       std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const NamedValue& v) { return v.name == name; });
  if (found == values.end()) return std::nullopt;
  return found->value;
}

/// The words of a line of canonical text: exactly one space between them. Each has a name that no
/// other one has, for which all are searched.
std::vector<std::string_view> canonical_words(std::string_view text) {
  constexpr std::size_t kMostWords = 256;
  std::vector<std::string_view> words;
  while (true) {
    const auto space = text.find(' ');
    const auto word = text.substr(0, space);
    if (word.empty()) reject(text, "has an empty field; put exactly one space between two fields");
    if (words.size() == kMostWords) reject(word, fmt::format("is field {}", kMostWords + 1));
    words.push_back(word);
    if (space == std::string_view::npos) return words;
    text.remove_prefix(space + 1);
  }
}

struct Field {
  std::string_view name;
  std::string_view value;
};

Field split_field(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) reject(word, "has no '='");
  if (equals == 0) reject(word, "has no name before '='");
  return {word.substr(0, equals), word.substr(equals + 1)};
}

/// The whole of `digits`, or an error that shows the field it belongs to.
std::int64_t parse_integer(std::string_view word, std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || end != digits.data() + digits.size()) {
    reject(word, "is neither an element type nor a 64-bit integer");
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> Problem::size(std::string_view name) const {
  return find_value(sizes, name);
}

std::optional<std::int64_t> Problem::trait(std::string_view name) const {
  return find_value(traits, name);
}

std::optional<DType> Problem::type(std::string_view slot) const {
  const auto found =
      std::find_if(types.begin(), types.end(), [&](const NamedType& t) { return t.slot == slot; });
  if (found == types.end()) return std::nullopt;
  return found->type;
}

std::string Problem::sizes_text() const {
  std::string text;
  append_fields(text, sizes);
  return text;
}

std::string Problem::kind_text() const {
  std::string text = operation;
  append_fields(text, types);
  append_fields(text, traits);
  if (!epilogue.empty()) text.append(" ").append(kEpilogue).append("=").append(epilogue);
  return text;
}

std::string Problem::canonical() const {
  return kind_text().append(kKindEnd).append(sizes_text());
}

Problem Problem::parse(std::string_view canonical) {
  const auto kind_end = canonical.find(kKindEnd);
  if (kind_end == std::string_view::npos) {
    reject(canonical, "has no \" | \" before the sizes");
  }
  Problem problem;
  bool first = true;
  for (const auto word : canonical_words(canonical.substr(0, kind_end))) {
    if (first) {
      if (word.find('=') != std::string_view::npos) reject(word, "is not the name of an operation");
      problem.operation = word;
      first = false;
      continue;
    }
    const auto [name, value] = split_field(word);
    if (!problem.epilogue.empty())
      reject(word, "comes after the epilogue, which must be the last field");
    if (name == kEpilogue) {
      if (value.empty()) reject(word, "has no expression");
      problem.epilogue = value;
      continue;
    }
    if (problem.type(name) || problem.trait(name)) reject(word, "repeats a name");
    // No element type's name is an integer, so the value shows what kind of field it is.
    if (const auto type = parse_dtype(value)) {
      if (!problem.traits.empty())
        reject(word, "is an element type; element types must come before the traits");
      problem.types.push_back({std::string(name), *type});
    } else {
      problem.traits.push_back({std::string(name), parse_integer(word, value)});
    }
  }
  const auto sizes = canonical.substr(kind_end + kKindEnd.size());
  if (sizes.empty()) return problem;
  for (const auto word : canonical_words(sizes)) {
    const auto [name, value] = split_field(word);
    if (problem.size(name)) reject(word, "repeats a name");
    problem.sizes.push_back({std::string(name), parse_integer(word, value)});
  }
  return problem;
}

Work work_of(const Problem& problem) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation != nullptr && operation->has_no_results(problem)) return Work::none;
  const TypedOperation* const typed = find_typed_operation(problem.operation);
  return typed != nullptr && !typed->why_trivial(problem).empty() ? Work::trivial : Work::all;
}

std::string_view no_results_text(const Problem& problem) {
  const TypedOperation* const typed = find_typed_operation(problem.operation);
  return typed == nullptr ? "every output has 0 elements" : typed->no_results;
}

std::string why_nothing_to_tune(const Problem& problem) {
  switch (work_of(problem)) {
    case Work::none:
      return fmt::format("nothing to tune: {}, so a launch does nothing", no_results_text(problem));
    case Work::trivial:
      return fmt::format("nothing to tune: {}",
                         find_typed_operation(problem.operation)->why_trivial(problem));
    case Work::all:
      break;
  }
  return "";
}

std::optional<std::pair<Storage, Storage>> parse_layout(std::string_view letters) {
  const auto storage = [](char letter) -> std::optional<Storage> {
    if (letter == 'n') return Storage::n;
    if (letter == 't') return Storage::t;
    return std::nullopt;
  };
  if (letters.size() != 2) return std::nullopt;
  const auto a = storage(letters[0]);
  const auto b = storage(letters[1]);
  if (!a || !b) return std::nullopt;
  return std::pair{*a, *b};
}

std::string layout_text(Storage a, Storage b) {
  const auto letter = [](Storage storage) { return storage == Storage::n ? 'n' : 't'; };
  return {letter(a), letter(b)};
}

}  // namespace kiln
