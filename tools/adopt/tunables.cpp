// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/tunables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

using Kind = TunableGuess::Kind;

bool is_upper_letter(char c) {
  return c >= 'A' && c <= 'Z';
}

bool has_part(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

bool begins_with(std::string_view name, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return name.starts_with(part); });
}

/// Names that CUDA and its headers have.
bool is_of_cuda(std::string_view name) {
  constexpr std::array<std::string_view, 34> kNames{
      "threadIdx", "blockIdx",    "blockDim",
      "gridDim",   "warpSize",    "std",
      "cuda",      "cub",         "thrust",
      "cg",        "wmma",        "nvcuda",
      "half",      "half2",       "dim3",
      "INFINITY",  "NAN",         "NULL",
      "INT_MAX",   "INT_MIN",     "UINT_MAX",
      "FLT_MAX",   "FLT_MIN",     "FLT_EPSILON",
      "DBL_MAX",   "DBL_MIN",     "SIZE_MAX",
      "M_PI",      "M_PI_F",      "HUGE_VALF",
      "CHAR_BIT",  "DBL_EPSILON", "cooperative_groups",
      "final"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  if (begins_with(name, {"__", "CUDA", "cuda", "KILN", "CUB_", "nv"}) || name.ends_with("_t")) {
    return true;
  }
  return element_type(name, {}).has_value() || integer_type(name, {}).has_value();
}

/// The places of names in device code, by where they are in the file.
class UseFinder {
 public:
  explicit UseFinder(const SourceModel& model) : model_(model), tokens_(model.code.tokens) {}

  std::vector<std::string> run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const bool is_attribute =
          tokens_[i].is("[") && i + 1 < tokens_.size() && tokens_[i + 1].is("[");
      if (is_attribute)
        i = std::min(closing_bracket(tokens_, i, tokens_.size()), tokens_.size() - 1);
      if (!model_.is_host_token(i)) visit(tokens_, i);
    }
    for (const auto& directive : model_.code.directives) {
      if (model_.is_host_offset(directive.offset)) continue;
      const bool decides = directive.name == "if" || directive.name == "elif";
      const bool unrolls = directive.name == "pragma" && !directive.tokens.empty() &&
                           directive.tokens.front().is("unroll");
      if (!decides && !unrolls) continue;
      for (std::size_t i = unrolls ? 1 : 0; i < directive.tokens.size(); ++i) {
        const bool is_asked = i > 0 && (directive.tokens[i - 1].is("defined") ||
                                        (i > 1 && directive.tokens[i - 2].is("defined")));
        if (!is_asked && !directive.tokens[i].is("defined")) visit(directive.tokens, i);
      }
    }
    std::vector<std::string> names;
    for (const auto& [offset, name] : places_) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
  }

 private:
  void visit(const std::vector<CodeToken>& tokens, std::size_t i) {
    const CodeToken& token = tokens[i];
    if (!token.is_word() || is_cpp_keyword(token.text) || is_of_cuda(token.text)) return;
    const auto next_is = [&](std::size_t at, std::string_view sign) {
      return at < tokens.size() && tokens[at].is(sign);
    };
    if (i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->") || tokens[i - 1].is("::"))) {
      return;
    }
    if (next_is(i + 1, "::") || next_is(i + 1, "(")) return;
    if (next_is(i + 1, "<")) {
      if (closing_angle_bracket(tokens, i + 1, tokens.size()) < tokens.size()) return;
    }
    // The type of a cast, or of a template argument.
    std::size_t star = i + 1;
    while (next_is(star, "*")) ++star;
    if (star > i + 1 && (next_is(star, ")") || next_is(star, ">"))) return;
    visit_name(token.text, token.offset);
  }

  void visit_name(std::string_view name, std::size_t offset) {
    const auto macro = model_.macros.find(name);
    if (macro == model_.macros.end()) {
      if (!model_.declared.contains(name)) places_.emplace(offset, name);
      return;
    }
    if (macro->second.offset == offset) return;
    const auto& body = macro->second.body;
    if (macro->second.is_default && constant_number(body, model_)) {
      places_.emplace(offset, name);
    } else if (expanded_.insert(std::string(name)).second) {
      // What a macro consists of is used where the macro is.
      for (std::size_t i = 0; i < body.size(); ++i) visit(body, i);
    }
  }

  const SourceModel& model_;
  const std::vector<CodeToken>& tokens_;
  std::multimap<std::size_t, std::string> places_;
  std::set<std::string> expanded_;
};

/// Numbers that `#if NAME == 2` asks for.
std::set<std::int64_t> asked_values(const SourceModel& model, std::string_view name) {
  std::set<std::int64_t> values;
  for (const auto& directive : model.code.directives) {
    if (directive.name != "if" && directive.name != "elif") continue;
    const auto& tokens = directive.tokens;
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
      if (!tokens[i].is(name) || (!tokens[i + 1].is("==") && !tokens[i + 1].is("!="))) continue;
      if (const auto value = integer_literal(tokens[i + 2].text)) values.insert(*value);
    }
  }
  return values;
}

/// `true` or `false`.
bool is_truth(const std::vector<CodeToken>& body) {
  return body.size() == 1 && (body.front().is("true") || body.front().is("false"));
}

int dimension_of_name(std::string_view lower) {
  if (lower.ends_with("_y") || lower.ends_with("sizey") || lower.ends_with("dimy")) return 1;
  if (lower.ends_with("_z") || lower.ends_with("sizez") || lower.ends_with("dimz")) return 2;
  return 0;
}

Kind kind_of_name(const std::string& lower) {
  const bool is_per = has_part(lower, {"per_", "tile", "unroll"});
  if (begins_with(lower, {"use_", "enable_", "do_", "is_", "has_", "with_"}) ||
      has_part(lower, {"flag", "padding"})) {
    return Kind::flag;
  }
  if (!is_per && has_part(lower, {"grid", "blocks", "nblock"})) return Kind::grid;
  if (!is_per && has_part(lower, {"block", "threads", "nthread"})) return Kind::block;
  if (is_per || has_part(lower, {"coarsen", "vec", "items", "factor", "work"})) return Kind::tile;
  return is_size_name(lower) ? Kind::size : Kind::other;
}

/// The values with a star behind the usual one, which is added if it is not among them.
std::string starred(std::set<std::int64_t> values, std::int64_t usual) {
  values.insert(usual);
  std::string text;
  for (const auto value : values) {
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", value, value == usual ? "*" : "");
  }
  return text;
}

}  // namespace

std::string snake_case(std::string_view name) {
  std::string text;
  // "kTile" is a tile.
  if (name.size() > 2 && name[0] == 'k' && is_upper_letter(name[1])) name.remove_prefix(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_upper = is_upper_letter(name[i]);
    const bool begins_word =
        is_upper && i > 0 && name[i - 1] != '_' && !is_upper_letter(name[i - 1]);
    if (begins_word) text += '_';
    text += is_upper ? static_cast<char>(name[i] - 'A' + 'a') : name[i];
  }
  return text;
}

bool is_size_name(std::string_view name) {
  const std::string lower = snake_case(name);
  constexpr std::array<std::string_view, 24> kNames{
      "n",  "m",  "k",  "h",  "w",   "d",   "c",    "b",    "nx",   "ny",    "nz",     "len",
      "ni", "nj", "nk", "np", "num", "dim", "size", "rows", "cols", "count", "length", "batch"};
  if (std::find(kNames.begin(), kNames.end(), lower) != kNames.end()) return true;
  return has_part(lower, {"width", "height", "depth", "rows", "cols", "columns", "length"}) ||
         begins_with(lower, {"n_", "num_", "nr_", "dim_", "size_"}) || lower.ends_with("_size") ||
         lower.ends_with("_count") || lower.ends_with("_n") || lower.ends_with("_len");
}

int block_dimensions(const SourceModel& model) {
  int dimensions = 1;
  const auto& tokens = model.code.tokens;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!tokens[i].is("threadIdx") || model.is_host_token(i)) continue;
    if (tokens[i + 2].is("y")) dimensions = std::max(dimensions, 2);
    if (tokens[i + 2].is("z")) dimensions = 3;
  }
  return dimensions;
}

TunableGuess guess_tunable(const std::string& name, std::optional<std::int64_t> usual,
                           int dimensions) {
  const std::string lower = snake_case(name);
  TunableGuess guess;
  guess.name = name;
  guess.kind = kind_of_name(lower);
  switch (guess.kind) {
    case Kind::block: {
      guess.dimension = dimension_of_name(lower);
      static const std::array<std::set<std::int64_t>, 3> kFlat{
          {{32, 64, 128, 256, 512, 1024}, {1, 2, 4, 8, 16}, {1, 2, 4, 8}}};
      // Of a block of several dimensions the first has a warp.
      static const std::array<std::int64_t, 3> kUsual{32, 4, 1};
      const auto dimension = static_cast<std::size_t>(guess.dimension);
      const bool is_wide = dimensions > 1 && dimension == 0;
      guess.usual = usual.value_or(dimensions == 1 ? 128 : kUsual[dimension]);
      guess.values = starred(
          is_wide ? std::set<std::int64_t>{16, 32, 64, 128, 256} : kFlat[dimension], guess.usual);
      break;
    }
    case Kind::grid:
      guess.dimension = dimension_of_name(lower);
      guess.usual = usual.value_or(256);
      guess.values = starred({64, 128, 256, 512, 1024, 2048}, guess.usual);
      break;
    case Kind::tile:
      guess.usual = usual.value_or(1);
      guess.values = starred({1, 2, 4, 8}, guess.usual);
      break;
    case Kind::flag:
      guess.usual = usual.value_or(0);
      guess.values = starred({0, 1}, guess.usual);
      break;
    case Kind::size:
    case Kind::other:
      guess.usual = usual.value_or(1);
      break;
  }
  return guess;
}

std::vector<TunableGuess> find_tunables(const SourceModel& model) {
  const int dimensions = block_dimensions(model);
  std::vector<TunableGuess> guesses;
  for (const auto& name : UseFinder(model).run()) {
    std::optional<std::int64_t> usual;
    const auto macro = model.macros.find(name);
    if (macro != model.macros.end()) usual = constant_number(macro->second.body, model);
    TunableGuess guess = guess_tunable(name, usual, dimensions);
    guess.is_of_file = macro != model.macros.end();
    // What is compiled differently for different numbers has those.
    auto asked = asked_values(model, name);
    if (usual && is_truth(macro->second.body)) asked = {0, 1};
    const bool is_choice =
        guess.kind == Kind::flag || guess.kind == Kind::other || guess.kind == Kind::size;
    if (!asked.empty() && is_choice) {
      const bool is_flag = *asked.begin() >= 0 && *asked.rbegin() <= 1;
      auto values = asked;
      if (is_flag) values = {0, 1};
      guess.kind = Kind::flag;
      guess.usual = usual.value_or(*values.begin());
      guess.values = starred(values, guess.usual);
      if (!is_flag) guess.comment = "CHECK: add the values that select the #else branch";
    }
    // The file's own number is as good as any for what is no tunable.
    if (guess.kind == Kind::size && guess.is_of_file) continue;
    guesses.push_back(std::move(guess));
  }
  std::stable_sort(guesses.begin(), guesses.end(), [](const auto& a, const auto& b) {
    const auto rank = [](const TunableGuess& guess) {
      return guess.kind == Kind::block ? guess.dimension : 3;
    };
    return rank(a) < rank(b);
  });
  return guesses;
}

}  // namespace kiln::tools
