// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/code_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <utility>

namespace kiln {
namespace {

struct Token {
  std::string_view text;
  int line = 0;
};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The end of what begins at `at` and has no tokens: a comment, a literal or a directive; `at`
/// itself if it is none of them.
std::size_t end_of_blank(std::string_view source, std::size_t at, bool begins_line) {
  const auto behind = [&](std::string_view mark, std::size_t from) {
    const auto found = source.find(mark, from);
    return found == std::string_view::npos ? source.size() : found + mark.size();
  };
  if (source.substr(at, 2) == "/*") return behind("*/", at + 2);
  if (source.substr(at, 2) == "//" || (source[at] == '#' && begins_line)) {
    std::size_t end = behind("\n", at);
    // A backslash at the end of the line continues it.
    while (end < source.size() && source.substr(0, end).ends_with("\\\n")) end = behind("\n", end);
    return end;
  }
  const char quote = source[at];
  if (quote != '"' && quote != '\'') return at;
  std::size_t end = at + 1;
  while (end < source.size() && source[end] != quote && source[end] != '\n') {
    end += source[end] == '\\' ? 2 : 1;
  }
  return std::min(end + 1, source.size());
}

enum class Directives : std::uint8_t { skip, read };

/// Words, and every other character by itself, until `is_enough` says so of those so far.
template <class IsEnough>
std::vector<Token> tokens_until(std::string_view source, IsEnough is_enough,
                                Directives directives = Directives::skip) {
  std::vector<Token> tokens;
  int line = 1;
  bool begins_line = directives == Directives::skip;
  for (std::size_t at = 0; at < source.size();) {
    std::size_t end = end_of_blank(source, at, begins_line);
    if (end == at) {
      end = at + 1;
      if (is_word(source[at])) {
        while (end < source.size() && is_word(source[end])) ++end;
      }
      if (std::isspace(static_cast<unsigned char>(source[at])) == 0) {
        tokens.push_back({source.substr(at, end - at), line});
        if (is_enough(tokens)) return tokens;
        begins_line = false;
      }
    }
    const auto text = source.substr(at, end - at);
    const auto breaks = std::count(text.begin(), text.end(), '\n');
    line += static_cast<int>(breaks);
    if (breaks > 0) begins_line = directives == Directives::skip;
    at = end;
  }
  return tokens;
}

std::vector<Token> tokens_of(std::string_view source, Directives directives = Directives::skip) {
  return tokens_until(
      source, [](const std::vector<Token>&) { return false; }, directives);
}

/// How much deeper in brackets it is behind the token than before it.
int depth_change(const Token& token) {
  const char c = token.text.front();
  if (c == '(' || c == '{' || c == '[') return 1;
  return c == ')' || c == '}' || c == ']' ? -1 : 0;
}

/// The index after the bracket that closes the one at `at`.
std::size_t behind_closing(const std::vector<Token>& tokens, std::size_t at) {
  int depth = 0;
  for (; at < tokens.size(); ++at) {
    const int change = depth_change(tokens[at]);
    depth += change;
    if (change < 0 && depth == 0) return at + 1;
  }
  return at;
}

/// Whether the struct or class of that name begins at `at`.
/// Where the body of the struct that `at` declares begins, behind its bases; 0: it is another one.
std::size_t body_of_struct(const std::vector<Token>& tokens, std::size_t at,
                           std::string_view name) {
  if (at + 2 >= tokens.size()) return 0;
  if (tokens[at].text != "struct" && tokens[at].text != "class") return 0;
  if (tokens[at + 1].text != name) return 0;
  std::size_t body = at + 2;
  if (tokens[body].text == ":") {
    while (body < tokens.size() && tokens[body].text != "{" && tokens[body].text != ";") ++body;
  }
  return body < tokens.size() && tokens[body].text == "{" ? body : 0;
}

/// The tokens up to the end of that struct; all, if there is none.
std::vector<Token> tokens_to_struct(std::string_view source, std::string_view name) {
  int depth = 0;  // inside of it
  std::size_t head = 0;
  return tokens_until(source, [&](const std::vector<Token>& tokens) {
    const std::size_t count = tokens.size();
    if (depth == 0) {
      if (tokens.back().text == name && count >= 2) head = count - 2;
      if (tokens.back().text == "{" && body_of_struct(tokens, head, name) + 1 == count) depth = 1;
      return false;
    }
    depth += depth_change(tokens.back());
    return depth == 0;
  });
}

/// A member's declarators: `int a = 1, b` has two. Empty for anything but a data member.
std::vector<std::string> declared(const std::vector<Token>& member) {
  constexpr std::array<std::string_view, 7> kNoData{"static", "using", "typedef", "friend",
                                                    "struct", "enum",  "template"};
  std::vector<std::string> names;
  if (member.empty() ||
      std::find(kNoData.begin(), kNoData.end(), member.front().text) != kNoData.end()) {
    return names;
  }
  std::string_view last;
  bool open = true;  // the name of the declarator may still come
  for (std::size_t i = 0; i < member.size();) {
    const std::string_view text = member[i].text;
    if (text == "(") return {};  // a function
    if (text == ",") {
      names.emplace_back(last);
      open = true;
    } else if (text == "=" || text == "{" || text == "[" || text == ":") {
      open = false;
    } else if (open && is_word(text.front())) {
      last = text;
    }
    i = text == "{" || text == "[" ? behind_closing(member, i) : i + 1;
  }
  if (!last.empty()) names.emplace_back(last);
  return names;
}

/// What is between `template <` and its `>`.
ScannedKernel template_head(const std::vector<Token>& tokens, std::size_t& at) {
  ScannedKernel head;
  int depth = 1;
  bool any = false;
  while (at < tokens.size() && depth > 0) {
    const std::string_view text = tokens[at].text;
    if (text == "(" || text == "{" || text == "[") {
      at = behind_closing(tokens, at);
      continue;
    }
    if (text == "<") ++depth;
    if (text == ">") --depth;
    if (depth == 1 && text == ",") ++head.parameters;
    if (depth == 1 && text == "=") ++head.defaults;
    if (text == ".") head.is_variadic = true;
    any = any || depth > 0;
    ++at;
  }
  if (any) ++head.parameters;
  return head;
}

bool is_attribute(std::string_view word) {
  constexpr std::array<std::string_view, 6> kAttributes{"__launch_bounds__", "__cluster_dims__",
                                                        "__maxnreg__",       "__block_size__",
                                                        "__attribute__",     "alignas"};
  return std::find(kAttributes.begin(), kAttributes.end(), word) != kAttributes.end();
}

/// The names that a declaration of constants between two tokens declares, with its scope before
/// each.
void read_constants(const std::vector<Token>& tokens, std::size_t begin, std::size_t end,
                    const ScannedConstant& scope, std::vector<ScannedConstant>& found) {
  bool hidden = scope.is_hidden;
  const Token* last = nullptr;  // of a declarator, the word before its extents and value
  bool open = true;
  for (std::size_t i = begin; i <= end && i < tokens.size();) {
    const std::string_view text = tokens[i].text;
    if (i == end || text == ",") {
      if (last != nullptr) {
        found.push_back({scope.name + std::string(last->text), hidden, last->line});
      }
      last = nullptr;
      open = true;
    } else if (text == "=" || text == "[" || text == "{" || text == "(") {
      // An attribute such as alignas(16) stands before the name.
      open = text == "(" && open;
    } else if (text == "static") {
      hidden = true;
    } else if (open && is_word(text.front())) {
      last = &tokens[i];
    }
    i = text == "[" || text == "{" || text == "(" ? behind_closing(tokens, i) : i + 1;
  }
}

/// Reads `namespace a::b`, of which `at` is the first word, up to its brace; false for an alias.
bool read_namespace(const std::vector<Token>& tokens, std::size_t& at, ScannedConstant& scope) {
  bool is_named = false;
  for (++at; at < tokens.size() && tokens[at].text != ";"; ++at) {
    const std::string_view text = tokens[at].text;
    if (text == "=") return false;
    if (text == "{") {
      if (!is_named) scope.is_hidden = true;
      ++at;
      return true;
    }
    if (!is_word(text.front()) || text == "inline") continue;
    scope.name += std::string(text) + "::";
    is_named = true;
  }
  return false;
}

bool is_qualifier(std::string_view word) {
  constexpr std::array<std::string_view, 6> kQualifiers{
      "const", "volatile", "__restrict__", "__restrict", "restrict", "__grid_constant__"};
  return std::find(kQualifiers.begin(), kQualifiers.end(), word) != kQualifiers.end();
}

bool is_type_word(std::string_view word) {
  constexpr std::array<std::string_view, 9> kWords{"unsigned", "signed", "char",   "short", "int",
                                                   "long",     "float",  "double", "bool"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// One parameter's type: "const float* __restrict__ x = nullptr" is "float*".
std::string argument_type(const std::vector<Token>& parameter) {
  std::vector<std::string_view> words;
  std::string stars;
  for (const Token& token : parameter) {
    if (token.text == "=") break;
    if (token.text == "*" || token.text == "&") {
      stars += token.text;
    } else if (token.text == "[") {
      stars += "*";
      break;
    } else if (!is_qualifier(token.text)) {
      words.push_back(token.text);
    }
  }
  // The last word is the name, unless nothing else says what it is or it can be none.
  if (words.size() > 1 && is_word(words.back().front()) && !is_type_word(words.back()) &&
      words[words.size() - 2] != ":") {
    words.pop_back();
  }
  std::string type;
  for (const std::string_view word : words) {
    const bool apart = !type.empty() && is_word(word.front()) && is_word(type.back());
    type += apart ? fmt::format(" {}", word) : std::string(word);
  }
  return type + stars;
}

/// The types of the parameters between the bracket at `at` and the one that closes it.
std::vector<std::string> argument_types(const std::vector<Token>& tokens, std::size_t at) {
  const std::size_t end = behind_closing(tokens, at) - 1;
  std::vector<std::string> types;
  std::vector<Token> parameter;
  int depth = 0;
  for (std::size_t i = at + 1; i < end && i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    depth += depth_change(tokens[i]) + (text == "<" ? 1 : text == ">" ? -1 : 0);
    if (text == "," && depth == 0) {
      types.push_back(argument_type(parameter));
      parameter.clear();
    } else {
      parameter.push_back(tokens[i]);
    }
  }
  if (!parameter.empty()) types.push_back(argument_type(parameter));
  return types;
}

/// Whether the token, or one before it but for stars, is one behind which only a declaration's name
/// or type can stand.
bool begins_declaration(const std::vector<Token>& tokens, std::size_t at) {
  constexpr std::array<std::string_view, 16> kWords{
      "auto",     "void",       "constexpr",    "constinit", "static", "inline",
      "mutable",  "extern",     "class",        "struct",    "union",  "enum",
      "typename", "__shared__", "__constant__", "using"};
  const std::string_view last = tokens[at].text;
  // By convention only types are called like this. A variable might be, but then a star multiplies.
  if (is_word(last.front()) && last.ends_with("_t")) return true;
  while (at > 0 && (tokens[at].text == "*" || tokens[at].text == "&")) --at;
  const std::string_view word = tokens[at].text;
  return is_qualifier(word) || is_type_word(word) ||
         std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

/// Where the enumerators of the `enum` at `at` stand that are among `names`.
void find_enumerators(const std::vector<Token>& tokens, std::size_t at,
                      std::span<const std::string> names, std::vector<ScannedDeclaration>& found) {
  while (at < tokens.size() && tokens[at].text != "{") {
    if (tokens[at].text == ";" || tokens[at].text == "(" || tokens[at].text == "=") return;
    ++at;
  }
  const std::size_t end = behind_closing(tokens, at);
  int angles = 0;
  bool expected = true;
  for (++at; at + 1 < end;) {
    const std::string_view text = tokens[at].text;
    if (expected && std::ranges::find(names, text) != names.end())
      found.push_back({text, tokens[at].line});
    angles += text == "<" ? 1 : text == ">" ? -1 : 0;
    expected = text == "," && angles == 0;
    at = depth_change(tokens[at]) > 0 ? behind_closing(tokens, at) : at + 1;
  }
}

}  // namespace

std::vector<ScannedDeclaration> find_declarations(std::string_view source,
                                                  std::span<const std::string> names) {
  const std::vector<Token> tokens = tokens_of(source);
  std::vector<ScannedDeclaration> found;
  std::size_t head_end = 0;  // of the parameters of a template
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "enum") find_enumerators(tokens, i, names, found);
    if (text == "template" && i + 1 < tokens.size() && tokens[i + 1].text == "<") {
      head_end = i + 2;
      static_cast<void>(template_head(tokens, head_end));
    }
    if (i == 0 || std::ranges::find(names, text) == names.end()) continue;
    if (begins_declaration(tokens, i - 1)) found.push_back({text, tokens[i].line, i < head_end});
  }
  return found;
}

std::vector<ScannedConstant> find_constants(std::string_view source) {
  const auto tokens = tokens_of(source);
  std::vector<ScannedConstant> found;
  std::vector<ScannedConstant> scopes(1);
  std::size_t item = 0;  // where the current declaration begins
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view text = tokens[i].text;
    if (text == "namespace" && (i == item || tokens[i - 1].text == "inline")) {
      ScannedConstant scope = scopes.back();
      if (read_namespace(tokens, i, scope)) scopes.push_back(std::move(scope));
      item = i;
    } else if (text == "extern" && i + 1 < tokens.size() && tokens[i + 1].text == "{") {
      scopes.push_back(scopes.back());
      item = i += 2;
    } else if (text == "}") {
      if (scopes.size() > 1) scopes.pop_back();
      item = ++i;
    } else if (text == "{") {
      i = behind_closing(tokens, i);
      // A body ends a declaration; behind a value comes its semicolon.
      if (i < tokens.size() && tokens[i].text != ";" && tokens[i].text != ",") item = i;
    } else if (text == ";") {
      const bool is_constant =
          std::any_of(tokens.begin() + static_cast<std::ptrdiff_t>(item),
                      tokens.begin() + static_cast<std::ptrdiff_t>(i),
                      [](const Token& token) { return token.text == "__constant__"; });
      if (is_constant) read_constants(tokens, item, i, scopes.back(), found);
      item = ++i;
    } else {
      ++i;
    }
  }
  return found;
}

std::optional<ScannedStruct> find_struct(std::string_view source, std::string_view name) {
  const auto tokens = tokens_to_struct(source, name);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const std::size_t body = body_of_struct(tokens, i, name);
    if (body == 0) continue;
    ScannedStruct found{tokens[i].line, {}};
    const std::size_t end = behind_closing(tokens, body) - 1;
    std::vector<Token> member;
    for (std::size_t at = body + 1; at < end;) {
      const bool is_body = tokens[at].text == "{" &&
                           std::any_of(member.begin(), member.end(),
                                       [](const Token& token) { return token.text == "("; });
      if (tokens[at].text == ";" || is_body) {
        for (auto& field : declared(member)) found.fields.push_back(std::move(field));
        member.clear();
        at = is_body ? behind_closing(tokens, at) : at + 1;
      } else {
        member.push_back(tokens[at++]);
      }
    }
    return found;
  }
  return std::nullopt;
}

bool is_texture_type(std::string_view type) {
  constexpr std::array<std::string_view, 6> kTypes{"cudaTextureObject_t",
                                                   "cudaSurfaceObject_t",
                                                   "CUtexObject",
                                                   "CUsurfObject",
                                                   "CUtexref",
                                                   "CUsurfref"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

std::vector<ScannedKernel> find_kernels(std::string_view source) {
  const auto tokens = tokens_of(source);
  std::vector<ScannedKernel> kernels;
  ScannedKernel head;  // of the current declaration
  for (std::size_t i = 0; i < tokens.size();) {
    const std::string_view text = tokens[i].text;
    if (text == ";" || text == "{" || text == "}") head = {};
    if (text == "template" && i + 1 < tokens.size() && tokens[i + 1].text == "<") {
      i += 2;
      head = template_head(tokens, i);
      continue;
    }
    ++i;
    if (text != "__global__") continue;
    while (i + 1 < tokens.size() && tokens[i].text != ";") {
      if (tokens[i + 1].text != "(") {
        ++i;
      } else if (is_attribute(tokens[i].text)) {
        i = behind_closing(tokens, i + 1);
      } else {
        // An explicit specialisation has its arguments before the parenthesis.
        head.name = tokens[i].text;
        head.line = tokens[i].line;
        const std::size_t end = behind_closing(tokens, i + 1);
        for (std::size_t at = i + 2; at < end && head.texture.empty(); ++at) {
          if (!is_texture_type(tokens[at].text)) continue;
          head.texture = tokens[at].text;
          head.texture_line = tokens[at].line;
        }
        head.arguments = argument_types(tokens, i + 1);
        if (is_word(head.name.front())) kernels.push_back(std::move(head));
        head = {};
        break;
      }
    }
  }
  return kernels;
}

namespace {

bool is_identifier_token(const Token& token) {
  const char first = token.text.front();
  return is_word(first) && std::isdigit(static_cast<unsigned char>(first)) == 0;
}

/// By token: whether it belongs to an #if or #elif.
std::vector<bool> tokens_in_conditions(const std::vector<Token>& tokens) {
  std::vector<bool> result(tokens.size(), false);
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool begins_line = i == 0 || tokens[i - 1].line != tokens[i].line;
    if (tokens[i].text != "#" || !begins_line) continue;
    if (tokens[i + 1].text != "if" && tokens[i + 1].text != "elif") continue;
    int line = tokens[i].line;
    for (std::size_t at = i + 2; at < tokens.size(); ++at) {
      const bool continues = tokens[at - 1].text == "\\" && tokens[at - 1].line == line;
      if (tokens[at].line != line && !continues) break;
      line = tokens[at].line;
      result[at] = true;
    }
  }
  return result;
}

}  // namespace

std::vector<ScannedWord> find_words(std::string_view source) {
  const std::vector<Token> tokens = tokens_of(source, Directives::read);
  const std::vector<bool> conditions = tokens_in_conditions(tokens);
  const auto is = [&](std::size_t at, std::string_view text) {
    return at < tokens.size() && tokens[at].text == text;
  };
  const auto compares = [&](std::size_t at) {
    return (is(at, "=") || is(at, "!")) && is(at + 1, "=");
  };
  std::vector<ScannedWord> words;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!is_identifier_token(tokens[i])) continue;
    const bool behind_directive =
        i >= 2 && is(i - 2, "#") && (is(i - 1, "define") || is(i - 1, "ifndef"));
    const std::size_t name = is(i - 1, "(") ? i - 1 : i;  // of `!defined name`, `!defined(name)`
    const bool is_negated = name >= 2 && is(name - 1, "defined") && is(name - 2, "!");
    ScannedWord word{tokens[i].text, tokens[i].line, behind_directive || is_negated};
    word.in_condition = conditions[i];
    if (i >= 3 && compares(i - 2) && is_identifier_token(tokens[i - 3])) {
      word.left = tokens[i - 3].text;
    }
    if (i + 3 < tokens.size() && compares(i + 1) && is_identifier_token(tokens[i + 3])) {
      word.right = tokens[i + 3].text;
    }
    words.push_back(word);
  }
  return words;
}

}  // namespace kiln
