// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/value_macros.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "templates/render/code_scanner.hpp"
#include "templates/source_error.hpp"
#include "templates/space/tunable_value.hpp"

namespace kiln {
namespace {

bool has_names(const Tunable& tunable) {
  return std::ranges::all_of(tunable.values, [](std::int64_t value) {
    return is_named_value(value) && !is_boolean_value(value);
  });
}

/// Names of values, in the order in which they are listed, with the tunables that have them.
struct NamedValues {
  explicit NamedValues(std::span<const Tunable> tunables) {
    for (const Tunable& tunable : tunables) {
      if (!has_names(tunable)) continue;
      for (const std::int64_t value : tunable.values) {
        const std::string name = value_text(value);
        if (!owners.contains(name)) names.push_back(name);
        owners[name].insert(tunable.name);
      }
    }
  }
  [[nodiscard]] bool has(std::string_view name) const { return owners.find(name) != owners.end(); }
  /// Whether the word is the name of a value beside a tunable that has it.
  [[nodiscard]] bool is_compared(const ScannedWord& word) const {
    const auto& of_name = owners.find(word.text)->second;
    return of_name.contains(word.left) || of_name.contains(word.right);
  }

  std::vector<std::string> names;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> owners;
};

/// What sources do with the name of a value.
struct Uses {
  bool is_compared = false;
  bool is_own = false;
  bool is_macro = false;
  const ScannedWord* condition = nullptr;  ///< a comparison in an #if
};

using UsesByName = std::map<std::string_view, Uses>;

void add_uses(const std::vector<ScannedWord>& words, const NamedValues& named, UsesByName& uses) {
  for (const ScannedWord& word : words) {
    if (!named.has(word.text)) continue;
    Uses& of_word = uses[word.text];
    if (!named.is_compared(word)) {
      of_word.is_own = true;
      of_word.is_macro = of_word.is_macro || word.is_defined;
      continue;
    }
    of_word.is_compared = true;
    if (word.in_condition && of_word.condition == nullptr) of_word.condition = &word;
  }
}

[[noreturn]] void refuse_word(const std::string& file, std::string_view source,
                              const ScannedWord& word, std::string_view message) {
  const auto at = static_cast<std::size_t>(word.text.data() - source.data());
  const std::size_t begin = source.rfind('\n', at) + 1;  // npos + 1 is the beginning
  const auto line = source.substr(begin, source.find('\n', at) - begin);
  throw_at({file, word.line, static_cast<int>(at - begin) + 1, std::string(line)}, word.text, 0,
           message);
}

}  // namespace

std::vector<ValueMacro> value_macros(std::span<const Tunable> tunables,
                                     std::span<const std::string_view> sources) {
  const NamedValues named(tunables);
  if (named.names.empty()) return {};
  std::vector<std::vector<ScannedWord>> words;
  UsesByName uses;
  for (const std::string_view source : sources) {
    words.push_back(find_words(source));
    add_uses(words.back(), named, uses);
  }
  std::vector<ValueMacro> macros;
  for (std::size_t i = 0; i < named.names.size(); ++i) {
    const auto found = uses.find(named.names[i]);
    if (found == uses.end() || found->second.is_own) continue;
    macros.push_back({named.names[i], static_cast<int>(i) + 1});
  }
  return macros;
}

void refuse_unknown_values(const std::string& file, std::string_view source,
                           std::span<const Tunable> tunables, std::span<const std::string> macros) {
  const NamedValues named(tunables);
  if (named.names.empty()) return;
  const std::vector<ScannedWord> words = find_words(source);
  UsesByName uses;
  add_uses(words, named, uses);
  for (const auto& [name, of_name] : uses) {
    if (of_name.condition == nullptr) continue;
    if (std::ranges::find(macros, name) != macros.end()) {
      refuse_word(
          file, source, *of_name.condition,
          fmt::format("\"{0}\" is the name of a value, but a \"tune\" or \"let\" line declares "
                      "the macro {0}, too. Next: choose another name for one of the two",
                      name));
    }
    if (!of_name.is_own || of_name.is_macro) continue;
    refuse_word(
        file, source, *of_name.condition,
        fmt::format("the preprocessor does not know what the code declares as \"{0}\", so it would "
                    "read 0 in place of the name, and this comparison would hold for every "
                    "value. Next: write \"if constexpr\" instead of #if, or choose another "
                    "name for the value",
                    name));
  }
}

}  // namespace kiln
