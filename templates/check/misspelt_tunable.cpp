// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/misspelt_tunable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "templates/nearest_name.hpp"
#include "templates/render/code_scanner.hpp"
#include "templates/render/kernel_name.hpp"
#include "templates/source_error.hpp"

namespace kiln {
namespace {

bool is_tune(const FrontMatterLine& line) {
  return line.key == "tune";
}

bool contains_word(const std::vector<ScannedWord>& words, std::string_view text) {
  return std::ranges::find(words, text, &ScannedWord::text) != words.end();
}

/// What the front matter says of names: which it declares, mentions, and hands to kernels.
struct MentionedNames {
  MentionedNames(const std::vector<FrontMatterLine>& lines, const std::vector<ScannedWord>& words) {
    // Backwards: a derived value may depend on those above it.
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
      const std::string& name = line->declaration.name;
      if (line->is_declaration()) declared.insert(name);
      if (line->key == "purpose" || is_tune(*line)) continue;
      const bool passes =
          line->key == "launch" || line->key == "args" ||
          (line->key == "let" && (contains_word(words, name) || passed.contains(name)));
      for (const TextPart& used : free_names(line->text)) {
        mentioned.insert(used.text);
        if (passes) passed.insert(used.text);
      }
    }
  }
  std::set<std::string_view> declared;
  std::set<std::string_view> mentioned;
  std::set<std::string_view> passed;  ///< as an argument, or by a derived value
};

/// The word that the tunable may be meant to be: one that the front matter mentions, else one that
/// the text defines. Headers may use the tunable, so that there only a mention counts.
const ScannedWord* find_meant(const std::vector<ScannedWord>& words, const MentionedNames& names,
                              std::string_view tunable, bool has_headers) {
  const ScannedWord* defined = nullptr;
  for (const ScannedWord& word : words) {
    const bool is_mentioned = names.mentioned.contains(word.text);
    const bool is_default = word.is_defined && !has_headers && defined == nullptr;
    if ((!is_mentioned && !is_default) || names.declared.contains(word.text)) continue;
    if (!is_typo_of(word.text, tunable)) continue;
    if (is_mentioned) return &word;
    defined = &word;
  }
  return defined;
}

}  // namespace

void refuse_misspelt_tunables(std::string_view source, const std::vector<FrontMatterLine>& lines) {
  if (std::ranges::none_of(lines, is_tune)) return;
  const std::vector<ScannedWord> words = find_words(source);
  const MentionedNames names(lines, words);
  const bool has_headers = source.find("#include \"") != std::string_view::npos;
  for (const FrontMatterLine& line : lines) {
    const std::string& tunable = line.declaration.name;
    if (!is_tune(line) || names.passed.contains(tunable) || contains_word(words, tunable)) continue;
    const ScannedWord* const meant = find_meant(words, names, tunable, has_headers);
    if (meant == nullptr) continue;
    const bool mentioned = names.mentioned.contains(meant->text);
    const std::string_view what =
        mentioned
            ? "the kernel's code never uses the tunable \"{0}\"; line {1} of the code and "
              "other \"//@\" lines use \"{2}\". Next: write \"{2}\" in this \"tune\" line, too"
            : "the kernel's code never uses the tunable \"{0}\", so all candidates would have "
              "the same code; line {1} of the code uses the similar name \"{2}\". Next: use the "
              "same name in both lines";
    throw_at(line.declaration.place, tunable, 0,
             fmt::format(fmt::runtime(what), tunable, meant->line, meant->text));
  }
}

}  // namespace kiln
