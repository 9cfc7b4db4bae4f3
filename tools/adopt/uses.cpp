// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/uses.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

using CodeTokens = std::vector<CodeToken>;

bool sees_token(const CodeTokens& tokens, std::size_t i, std::string_view text) {
  return i < tokens.size() && tokens[i].is(text);
}

/// The dimension of `threadIdx.x` that begins at `i`, or nothing.
std::optional<std::size_t> builtin_at(const CodeTokens& tokens, std::size_t i,
                                      std::string_view name) {
  if (!sees_token(tokens, i, name) || !sees_token(tokens, i + 1, ".") || i + 2 >= tokens.size()) {
    return std::nullopt;
  }
  const auto axis = std::string_view("xyz").find(tokens[i + 2].text);
  return tokens[i + 2].text.size() == 1 && axis != std::string_view::npos ? std::optional(axis)
                                                                          : std::nullopt;
}

class UseReader {
 public:
  UseReader(const SourceModel& model, const std::set<std::string, std::less<>>& names)
      : model_(model) {
    for (const auto& name : names) uses_.names[name];
  }

  SourceUses run() {
    const auto& tokens = model_.code.tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (model_.is_host_token(i)) continue;
      follow_statement(tokens[i]);
      if (NameUses* const use = use_of(tokens[i].text)) read_code_use(i, *use);
    }
    for (const auto& each : model_.macros) read_quotients(each.second.body);
    read_quotients(tokens);
    for (const auto& each : model_.macros) {
      for (const auto& token : each.second.body) {
        NameUses* const use = use_of(token.text);
        if (use != nullptr && each.first != token.text) use->is_in_code = true;
      }
    }
    read_strides();
    for (const auto& kernel : model_.kernels) read_launch_bounds(kernel);
    read_directives();
    return std::move(uses_);
  }

 private:
  NameUses* use_of(std::string_view name) {
    const auto found = uses_.names.find(name);
    return found == uses_.names.end() ? nullptr : &found->second;
  }

  void read_code_use(std::size_t i, NameUses& use) {
    const auto& tokens = model_.code.tokens;
    use.is_in_code = true;
    use.is_step = use.is_step || sees_token(tokens, i - 1, "+=");
    use.bounds_loop = use.bounds_loop || sees_token(tokens, i - 1, "<");
    const bool is_factor = sees_token(tokens, i - 1, "*") || sees_token(tokens, i + 1, "*");
    if (is_factor) read_factor(i, use);
    if (depth_ <= 0) return;
    use.extends_shared = use.extends_shared || declares_shared_;
    use.extends_constant = use.extends_constant || declares_constant_;
  }

  /// What the statement declares, up to its extents.
  void follow_statement(const CodeToken& token) {
    if (token.is(";") || token.is("{") || token.is("}")) {
      declares_shared_ = declares_constant_ = false;
      depth_ = 0;
    }
    declares_shared_ = declares_shared_ || token.is("__shared__");
    declares_constant_ = declares_constant_ || token.is("__constant__");
    depth_ += (token.is("[") ? 1 : 0) - (token.is("]") ? 1 : 0);
  }

  /// `threadIdx.y * NAME`, `threadIdx.x + i * NAME`, `blockIdx.x * NAME + threadIdx.x`.
  void read_factor(std::size_t i, NameUses& use) {
    const auto& tokens = model_.code.tokens;
    // The other factors: names, or builtins with their members.
    std::size_t first = i, last = i;  // of the product
    std::optional<std::size_t> of_thread, of_block;
    const auto see = [&](std::size_t at) {
      of_thread = of_thread ? of_thread : builtin_at(tokens, at, "threadIdx");
      of_block = of_block ? of_block : builtin_at(tokens, at, "blockIdx");
      use.scales_threads = use.scales_threads || of_thread || of_block ||
                           builtin_at(tokens, at, "blockDim").has_value();
    };
    std::size_t factors = 1;
    for (; first >= 2 && sees_token(tokens, first - 1, "*"); ++factors) {
      first -= first >= 4 && sees_token(tokens, first - 3, ".") ? 4 : 2;
      see(first);
    }
    for (; sees_token(tokens, last + 1, "*"); ++factors) {
      last += 2;
      see(last);
      if (sees_token(tokens, last + 1, ".")) last += 2;
    }
    if (factors != 2) return;
    // The threads of a row lie before those of the next.
    if (of_thread == 1U) use.is_thread_stride[0] = true;
    // What is added to the product: `threadIdx.x +` before it, `+ threadIdx.x` behind it.
    std::optional<std::size_t> added = builtin_at(tokens, last + 2, "threadIdx");
    if (!sees_token(tokens, last + 1, "+")) added = std::nullopt;
    if (!added && first >= 4 && sees_token(tokens, first - 1, "+")) {
      added = builtin_at(tokens, first - 4, "threadIdx");
    }
    if (!added || of_thread) return;
    (of_block ? use.scales_block : use.is_thread_stride)[*added] = !of_block || *of_block == *added;
  }

  /// `for (int i = threadIdx.x; i < n; i += NAME)`.
  void read_strides() {
    const auto& tokens = model_.code.tokens;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is("for") || !tokens[i + 1].is("(") || model_.is_host_token(i)) continue;
      const auto close = closing_bracket(tokens, i + 1, tokens.size());
      std::optional<std::size_t> axis;
      for (std::size_t at = i + 2; at < close && !tokens[at].is(";"); ++at) {
        if (const auto found = builtin_at(tokens, at, "threadIdx"); found && !axis) axis = found;
        // A thread's number in all of the block, or the grid, has no single dimension.
        if (tokens[at].is("blockIdx") || tokens[at].is("*")) axis = std::nullopt;
        if (tokens[at].is("blockIdx") || tokens[at].is("*")) break;
      }
      if (!axis || close < 2 || !sees_token(tokens, close - 2, "+=")) continue;
      if (NameUses* const use = use_of(tokens[close - 1].text)) {
        use->is_thread_stride[*axis] = true;
        use->is_step = false;
      }
    }
  }

  void read_quotients(const CodeTokens& tokens) {
    for (std::size_t i = 1; i + 1 < tokens.size(); ++i) {
      if (!tokens[i].is("/") && !tokens[i].is("%")) continue;
      NameUses* const divisor = use_of(tokens[i + 1].text);
      if (divisor == nullptr) continue;
      divisor->is_divisor = true;
      const bool is_whole = tokens[i].is("/") && use_of(tokens[i - 1].text) != nullptr &&
                            !(i >= 2 && (tokens[i - 2].is("*") || tokens[i - 2].is("/")));
      if (is_whole) {
        uses_.quotients.emplace(tokens[i - 1].text, tokens[i + 1].text);
      }
    }
  }

  void read_launch_bounds(const SourceKernel& kernel) {
    for (std::size_t i = kernel.bounds_begin; i < kernel.bounds_end; ++i) {
      if (NameUses* const use = use_of(model_.code.tokens[i].text)) use->is_in_launch_bounds = true;
    }
  }

  /// Conditions of one group of branches that are open.
  struct Branches {
    std::set<std::string, std::less<>> asked;  ///< names that all of them compare by ==
    bool is_plain = true;
  };

  void read_directives() {
    std::vector<Branches> open;
    for (const auto& directive : model_.code.directives) {
      if (model_.is_host_offset(directive.offset)) continue;
      if (directive.name == "pragma") {
        for (std::size_t i = 1; i < directive.tokens.size(); ++i) {
          NameUses* const use = use_of(directive.tokens[i].text);
          if (use != nullptr && directive.tokens.front().is("unroll")) use->is_in_unroll = true;
        }
      } else if (directive.name.starts_with("if")) {
        open.emplace_back();
        if (directive.name == "if") read_condition(directive.tokens, open.back());
      } else if (directive.name == "elif" && !open.empty()) {
        read_condition(directive.tokens, open.back());
      } else if (directive.name == "else" && !open.empty()) {
        for (const auto& name : open.back().asked) {
          if (NameUses* const use = use_of(name); use != nullptr && open.back().is_plain) {
            use->has_else = true;
          }
        }
      } else if (directive.name == "endif" && !open.empty()) {
        open.pop_back();
      }
    }
  }

  void read_condition(const CodeTokens& tokens, Branches& branches) {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      NameUses* const use = use_of(tokens[i].text);
      if (use == nullptr) continue;
      const bool is_compared = i + 2 < tokens.size();
      const auto value = is_compared ? integer_literal(tokens[i + 2].text) : std::nullopt;
      const bool is_equal = is_compared && (tokens[i + 1].is("==") || tokens[i + 1].is("!="));
      const bool is_above = is_compared && (tokens[i + 1].is(">") || tokens[i + 1].is(">="));
      if (is_equal && value) {
        use->asked.insert(*value);
        branches.asked.emplace(tokens[i].text);
        use->may_be_zero = use->may_be_zero || *value == 0;
      } else {
        branches.is_plain = false;
        const bool asks_for_zero = !is_compared || (is_above && value && *value <= 1);
        use->may_be_zero = use->may_be_zero || asks_for_zero;
      }
    }
    branches.is_plain = branches.is_plain && branches.asked.size() == 1;
  }

  const SourceModel& model_;
  SourceUses uses_;
  bool declares_shared_ = false, declares_constant_ = false;  ///< the current statement
  int depth_ = 0;                                             ///< of its brackets
};

}  // namespace

SourceUses read_uses(const SourceModel& model, const std::set<std::string, std::less<>>& names) {
  return UseReader(model, names).run();
}

}  // namespace kiln::tools
