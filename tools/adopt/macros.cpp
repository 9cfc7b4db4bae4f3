// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Calls of macros with parameters, as the compiler sees them.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tools/adopt/source.hpp"

namespace kiln::tools {
namespace {

using Tokens = std::vector<CodeToken>;

constexpr std::size_t kMostNesting = 8;
/// Macros within macros may multiply: what would grow beyond this is left as it is.
constexpr std::size_t kMostGrowth = 200'000;

struct FunctionMacro {
  std::vector<std::string_view> parameters;
  Tokens body;
};
using FunctionMacros = std::map<std::string_view, FunctionMacro>;

/// Nothing for one whose text depends on more than its arguments' tokens.
std::optional<FunctionMacro> read_macro(const CodeDirective& directive) {
  const Tokens& tokens = directive.tokens;
  FunctionMacro macro;
  const auto close = closing_bracket(tokens, 1, tokens.size());
  for (std::size_t i = 2; i < close; ++i) {
    if (tokens[i].is("...")) return std::nullopt;
    if (tokens[i].is_word()) macro.parameters.push_back(tokens[i].text);
  }
  for (std::size_t i = close + 1; i < tokens.size(); ++i) {
    if (tokens[i].is("#")) return std::nullopt;
    macro.body.push_back(tokens[i]);
  }
  return macro;
}

/// The arguments between the parentheses at `open` and `close`.
std::vector<Tokens> call_arguments(const Tokens& tokens, std::size_t open, std::size_t close) {
  std::vector<Tokens> arguments(1);
  for (std::size_t i = open + 1; i < close; ++i) {
    if (tokens[i].is(",")) {
      arguments.emplace_back();
      continue;
    }
    const bool opens = tokens[i].is("(") || tokens[i].is("[") || tokens[i].is("{");
    const auto end = opens ? std::min(closing_bracket(tokens, i, close), close - 1) : i;
    for (; i < end; ++i) arguments.back().push_back(tokens[i]);
    arguments.back().push_back(tokens[i]);
  }
  return arguments;
}

class MacroExpander {
 public:
  explicit MacroExpander(FunctionMacros macros) : macros_(std::move(macros)) {}

  [[nodiscard]] Tokens expanded(const Tokens& tokens) {
    Tokens result;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto macro = macros_.find(tokens[i].text);
      const bool is_call = macro != macros_.end() && i + 1 < tokens.size() &&
                           tokens[i + 1].is("(") && !open_.contains(tokens[i].text) &&
                           open_.size() < kMostNesting && added_ < kMostGrowth;
      const auto close = is_call ? closing_bracket(tokens, i + 1, tokens.size()) : tokens.size();
      if (close == tokens.size()) {
        result.push_back(tokens[i]);
        continue;
      }
      const Tokens body = call(macro->second, tokens, i, close);
      open_.insert(tokens[i].text);
      const Tokens inner = expanded(body);
      open_.erase(tokens[i].text);
      result.insert(result.end(), inner.begin(), inner.end());
      i = close;
    }
    return result;
  }

 private:
  /// The macro's text with the arguments of the call at `name`.
  Tokens call(const FunctionMacro& macro, const Tokens& tokens, std::size_t name,
              std::size_t close) {
    const auto arguments = call_arguments(tokens, name + 1, close);
    Tokens body;
    for (const CodeToken& token : macro.body) {
      const auto place = std::find(macro.parameters.begin(), macro.parameters.end(), token.text);
      const auto index = static_cast<std::size_t>(place - macro.parameters.begin());
      if (place == macro.parameters.end()) {
        body.push_back(token);
      } else if (index < arguments.size()) {
        body.insert(body.end(), arguments[index].begin(), arguments[index].end());
      }
    }
    for (CodeToken& token : body) {
      token.offset = tokens[name].offset;
      token.line = tokens[name].line;
      token.is_alternative = tokens[name].is_alternative;
    }
    added_ += body.size();
    return body;
  }

  FunctionMacros macros_;
  std::set<std::string_view> open_;  ///< those that are being expanded
  std::size_t added_ = 0;
};

/// Functions of CUDA that are operators by other names.
constexpr std::string_view kOperators =
    "#define __mul24(a, b) ((a) * (b))\n#define __umul24(a, b) ((a) * (b))\n";

void read_macros(const CodeText& code, FunctionMacros& macros) {
  for (const CodeDirective& directive : code.directives) {
    if (directive.name != "define" || !directive.has_parameters) continue;
    if (auto macro = read_macro(directive)) {
      macros.try_emplace(directive.tokens.front().text, std::move(*macro));
    }
  }
}

}  // namespace

void expand_macro_calls(CodeText& code) {
  FunctionMacros macros;
  read_macros(code, macros);
  read_macros(read_code(kOperators), macros);
  code.tokens = MacroExpander(std::move(macros)).expanded(code.tokens);
}

}  // namespace kiln::tools
