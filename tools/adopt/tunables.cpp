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

#include "tools/adopt/reach.hpp"
#include "tools/adopt/types.hpp"
#include "tools/adopt/uses.hpp"

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
  if (begins_with(name, {"__", "CUDA", "cuda", "KILN", "CUB_", "nv"})) return true;
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
    // Types of headers have such names, but directives do not mention types.
    if (token.text.ends_with("_t") && &tokens == &tokens_) return;
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

/// `true` or `false`.
bool is_truth(const std::vector<CodeToken>& body) {
  return body.size() == 1 && (body.front().is("true") || body.front().is("false"));
}

int dimension_of_name(std::string_view lower) {
  if (lower.ends_with("_y") || lower.ends_with("_rows") || lower.ends_with("sizey") ||
      lower.ends_with("dimy"))
    return 1;
  if (lower.ends_with("_z") || lower.ends_with("sizez") || lower.ends_with("dimz")) return 2;
  return 0;
}

Kind kind_of_name(const std::string& lower) {
  const bool is_per = has_part(lower, {"per_", "tile", "unroll"});
  const bool is_length = has_part(lower, {"width", "height", "depth", "length"});
  if (begins_with(lower, {"use_", "enable_", "do_", "is_", "has_", "with_"}) ||
      has_part(lower, {"flag", "padding"})) {
    return Kind::flag;
  }
  const bool is_grid = has_part(lower, {"grid", "blocks", "nblock"});
  if (!is_per && !is_length && is_grid) return Kind::grid;
  const bool is_group = has_part(
      lower, {"work_group", "workgroup", "wg_size", "group_size", "local_size", "localsize"});
  if (!is_per && (is_group || has_part(lower, {"block", "threads", "nthread"}))) {
    return Kind::block;
  }
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

/// Finds tunables, and tells from their names and uses what they may be.
class TunableFinder {
 public:
  explicit TunableFinder(const SourceModel& model) : model_(model) {
    for (const auto& kernel : model_.kernels) {
      const ReachedCode code(model_, kernel);
      int dimensions = 1;
      std::set<std::string_view> words;
      const auto& tokens = code.tokens();
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        words.insert(tokens[i].text);
        if (!tokens[i].is("threadIdx") || i + 2 >= tokens.size()) continue;
        if (tokens[i + 2].is("y")) dimensions = std::max(dimensions, 2);
        if (tokens[i + 2].is("z")) dimensions = 3;
      }
      kernels_.emplace_back(std::move(words), dimensions);
    }
  }

  std::vector<TunableGuess> run() {
    const auto names = UseFinder(model_).run();
    uses_ = read_uses(model_, {names.begin(), names.end()});
    for (const auto& name : names) add(name);
    find_blocks();
    for (TunableGuess& guess : guesses_) {
      if (guess.values.empty()) guess_by_use(guess);
    }
    // The file's own number is as good as any for what is no tunable.
    std::erase_if(guesses_, [&](const TunableGuess& guess) {
      const bool is_length = guess.kind == Kind::other && guess.values.empty() &&
                             uses_.names.at(guess.name).extends_constant;
      return guess.is_of_file && (guess.kind == Kind::size || is_length);
    });
    std::stable_sort(guesses_.begin(), guesses_.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const TunableGuess& guess) {
        return guess.kind == Kind::block ? guess.dimension : 3;
      };
      return rank(a) < rank(b);
    });
    return std::move(guesses_);
  }

 private:
  void add(const std::string& name) {
    std::optional<std::int64_t> usual;
    const auto macro = model_.macros.find(name);
    if (macro != model_.macros.end()) usual = constant_number(macro->second.body, model_);
    TunableGuess guess = guess_tunable(name, usual, dimensions_of(name));
    guess.is_of_file = macro != model_.macros.end();
    const bool is_truth_macro = usual && is_truth(macro->second.body);
    if (is_truth_macro || is_choice(guess)) set_choice(usual, is_truth_macro, guess);
    if (guess.kind == Kind::tile && uses_.names.at(name).may_be_zero) {
      guess.values = starred({0, 1, 2, 4, 8}, guess.usual);
    }
    guesses_.push_back(std::move(guess));
  }

  /// The dimensions of the blocks of kernels that make use of a name.
  [[nodiscard]] int dimensions_of(std::string_view name) const {
    int dimensions = 0;
    for (const auto& [words, of_kernel] : kernels_) {
      if (words.contains(name)) dimensions = std::max(dimensions, of_kernel);
    }
    return dimensions == 0 ? block_dimensions(model_) : dimensions;
  }

  /// Whether numbers select code, and do nothing else.
  [[nodiscard]] bool is_choice(const TunableGuess& guess) const {
    const NameUses& use = uses_.names.at(guess.name);
    if (guess.kind == Kind::block || guess.kind == Kind::grid) return false;
    const bool is_only_asked = !use.is_in_code && !use.is_in_unroll;
    const bool asks_for_zero = use.asked.size() == 1 && use.asked.contains(0);
    return is_only_asked || (!use.asked.empty() && !(asks_for_zero && guess.kind == Kind::tile));
  }

  void set_choice(std::optional<std::int64_t> usual, bool is_truth_macro,
                  TunableGuess& guess) const {
    const NameUses& use = uses_.names.at(guess.name);
    auto values = is_truth_macro ? std::set<std::int64_t>{0, 1} : use.asked;
    const bool is_flag = values.empty() || (*values.begin() >= 0 && *values.rbegin() <= 1);
    if (is_flag) values = {0, 1};
    guess.kind = Kind::flag;
    guess.usual = usual.value_or(*values.begin());
    if (use.has_else && !is_flag) {
      const bool is_power = std::all_of(values.begin(), values.end(), [](std::int64_t value) {
        return value > 0 && (value & (value - 1)) == 0;
      });
      const std::int64_t last = *values.rbegin();
      constexpr std::int64_t kMost = 1 << 30;
      const std::int64_t next = last >= kMost ? last : is_power ? 2 * last : last + 1;
      values.insert(next);
      guess.comment = fmt::format("CHECK: {} selects the #else branch", next);
    }
    guess.values = starred(values, guess.usual);
  }

  [[nodiscard]] bool is_taken(int dimension) const {
    return std::any_of(guesses_.begin(), guesses_.end(), [&](const TunableGuess& guess) {
      return guess.kind == Kind::block &&
             (guess.dimension == dimension || (guess.is_square && dimension == 1));
    });
  }

  /// The threads of a block by what the code does, where no name says them.
  void find_blocks() {
    for (TunableGuess& guess : guesses_) {
      const NameUses& use = uses_.names.at(guess.name);
      const bool is_square = guess.kind == Kind::block && guess.dimension == 0 &&
                             use.scales_block[0] && use.scales_block[1] && !is_taken(1);
      if (is_square) set_square(guess);
    }
    for (int dimension = 0; dimension < block_dimensions(model_); ++dimension) {
      const auto axis = static_cast<std::size_t>(dimension);
      set_block(dimension, [&](const NameUses& use) { return use.is_thread_stride[axis]; });
      set_block(dimension, [&](const NameUses& use) { return use.is_in_launch_bounds; });
      set_block(dimension, [&](const NameUses& use) { return use.scales_block[axis]; });
    }
  }

  template <class Test>
  void set_block(int dimension, Test test) {
    if (is_taken(dimension)) return;
    TunableGuess* found = nullptr;
    for (TunableGuess& guess : guesses_) {
      const bool may_be = guess.kind == Kind::other || guess.kind == Kind::tile;
      if (!may_be || !test(uses_.names.at(guess.name))) continue;
      if (found != nullptr) return;
      found = &guess;
    }
    if (found == nullptr) return;
    const NameUses& use = uses_.names.at(found->name);
    const auto usual = found->is_of_file ? std::optional(found->usual) : std::nullopt;
    constexpr std::array<const char*, 3> kNames{"block_x", "block_y", "block_z"};
    const std::string name = found->name;
    const bool is_of_file = found->is_of_file;
    *found =
        guess_tunable(kNames.at(static_cast<std::size_t>(dimension)), usual, dimensions_of(name));
    found->name = name;
    found->is_of_file = is_of_file;
    if (dimension == 0 && use.scales_block[0] && use.scales_block[1]) {
      set_square(*found);
    } else if (use.is_divisor && dimensions_of(name) > 1) {
      // The tile of a block is a multiple of it.
      found->usual = usual.value_or(16);
      found->values = starred({8, 16, 32}, found->usual);
    }
  }

  static void set_square(TunableGuess& guess) {
    guess.is_square = true;
    if (!guess.is_of_file) guess.usual = 16;
    guess.values = starred({4, 8, 16, 32}, guess.usual);
  }

  void guess_by_use(TunableGuess& guess) const {
    if (guess.kind != Kind::other) return;
    const NameUses& use = uses_.names.at(guess.name);
    const bool is_divided =
        std::any_of(uses_.quotients.begin(), uses_.quotients.end(),
                    [&](const auto& quotient) { return quotient.first == guess.name; });
    std::set<std::int64_t> values{1, 2, 4, 8};
    std::int64_t usual = 1;
    if (is_divided) {
      values = {16, 32, 64, 128};
      usual = 64;
    } else if (use.extends_shared || use.is_divisor) {
      values = {8, 16, 32};
      usual = 16;
    } else if (use.extends_constant ||
               !(use.is_in_unroll || use.is_step || use.bounds_loop || use.scales_threads)) {
      return;
    } else if (use.may_be_zero) {
      values.insert(0);
    }
    guess.kind = Kind::tile;
    if (!guess.is_of_file) guess.usual = usual;
    guess.values = starred(values, guess.usual);
  }

  const SourceModel& model_;
  /// The words that kernels make use of, and the dimensions of their blocks.
  std::vector<std::pair<std::set<std::string_view>, int>> kernels_;
  SourceUses uses_;
  std::vector<TunableGuess> guesses_;
};

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
    case Kind::extent:
    case Kind::other:
      guess.usual = usual.value_or(1);
      break;
  }
  return guess;
}

std::vector<TunableGuess> find_tunables(const SourceModel& model) {
  return TunableFinder(model).run();
}

std::vector<std::pair<std::string, std::string>> divided_tunables(
    const SourceModel& model, const std::vector<TunableGuess>& tunables) {
  std::set<std::string, std::less<>> names;
  for (const auto& each : tunables) {
    const bool is_number = each.kind == Kind::block || each.kind == Kind::tile;
    if (is_number && each.template_parameter.empty()) names.insert(each.name);
  }
  const SourceUses uses = read_uses(model, names);
  return {uses.quotients.begin(), uses.quotients.end()};
}

}  // namespace kiln::tools
