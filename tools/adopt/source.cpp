// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The outer structure of a file: namespaces, functions, variables, macros.
#include "tools/adopt/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kiln/error.hpp"
#include "templates/front_matter/front_matter_lines.hpp"

namespace kiln::tools {
namespace {

/// Words before a parenthesis that does not hold a function's parameters.
constexpr std::array<std::string_view, 11> kNoFunctions{
    "__launch_bounds__", "__cluster_dims__", "__maxnreg__", "__block_size__",
    "__attribute__",     "__declspec",       "alignas",     "__align__",
    "noexcept",          "requires",         "decltype"};

constexpr std::array<std::string_view, 12> kHostHeaders{
    "iostream", "vector", "string", "chrono",    "random",  "memory",
    "fstream",  "map",    "thread", "stdexcept", "sstream", "filesystem"};

/// Operands, scalars and sizes that an operation may have, and as many values beside them.
constexpr std::size_t kMostParameters = 128;

template <std::size_t N>
bool lists_word(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class SourceReader {
 public:
  SourceReader(const std::string& file, std::string_view source) : file_(file) {
    model_.code = read_code(source);
    expand_macro_calls(model_.code);
    model_.conditions = SourceConditions(model_.code.directives);
  }

  SourceModel run() {
    read_directives();
    while (at_ < count()) step();
    if (!scopes_.empty()) fail(scopes_.back().open, "is not closed");
    read_named_values(model_);
    for (auto& kernel : model_.kernels) {
      for (auto& parameter : kernel.parameters) resolve_declarator(parameter, model_);
    }
    for (auto& function : model_.functions) {
      for (auto& parameter : function.second.parameters) resolve_declarator(parameter, model_);
    }
    collect_names();
    return std::move(model_);
  }

 private:
  struct Scope {
    std::string name;  ///< of a namespace
    std::size_t open = 0;
    bool is_linkage = false;  ///< extern "C" {
  };

  [[nodiscard]] const std::vector<CodeToken>& tokens() const { return model_.code.tokens; }
  [[nodiscard]] std::size_t count() const { return tokens().size(); }
  [[nodiscard]] bool sees(std::size_t i, std::string_view text) const {
    return i < count() && tokens()[i].is(text);
  }

  [[noreturn]] void fail(std::size_t token, std::string_view what) const {
    throw Error(
        ErrorKind::template_,
        fmt::format("{}:{}: this \"{}\" {}. Next: make the brackets match. adopt reads only "
                    "the first branch of each #if (after `#if 0`: the second). The brackets must "
                    "match within the text that adopt reads",
                    file_, tokens()[token].line, tokens()[token].text, what));
  }

  std::size_t close_of(std::size_t open) const {
    const auto close = closing_bracket(tokens(), open, count());
    if (close == count()) fail(open, "is not closed");
    return close;
  }

  /// One step through the tokens outside of all functions and classes.
  void step() {
    const CodeToken& token = tokens()[at_];
    if (token.is_alternative) {
      ++at_;
      return;
    }
    if (token.is(";")) {
      const bool declares_function =
          parameters_ > 0 && !has_value_ && !is_cpp_keyword(tokens()[parameters_ - 1].text);
      if (declares_function && is_for_host(at_)) {
        model_.host_functions.emplace_back(item_, at_);
      }
      read_declaration(item_, at_);
      begin_item(at_ + 1);
    } else if (token.is("}")) {
      if (scopes_.empty()) fail(at_, "closes nothing");
      scopes_.pop_back();
      begin_item(at_ + 1);
    } else if (token.is("template") && sees(at_ + 1, "<")) {
      const auto close = closing_angle_bracket(tokens(), at_ + 1, count());
      template_open_ = at_ + 1;
      template_close_ = close;
      at_ = close < count() ? close + 1 : at_ + 2;
    } else if (token.is("(") || token.is("[")) {
      const auto close = close_of(at_);
      const bool is_first_word = at_ == item_ || !tokens()[at_ - 1].is_word();
      if (token.is("(") && !is_first_word && !lists_word(kNoFunctions, tokens()[at_ - 1].text)) {
        parameters_ = at_;
      }
      at_ = close + 1;
    } else if (token.is("{")) {
      read_brace();
    } else {
      has_value_ = has_value_ || token.is("=");
      ++at_;
    }
  }

  void begin_item(std::size_t at) {
    at_ = item_ = at;
    parameters_ = template_open_ = template_close_ = 0;
    has_value_ = false;
  }

  /// A namespace, a function's body, or something within a declaration.
  void read_brace() {
    bool is_namespace = sees(item_, "namespace") || sees(item_ + 1, "namespace");
    std::string name;
    for (std::size_t i = item_; is_namespace && i < at_; ++i) {
      const bool is_part =
          tokens()[i].is("::") || (tokens()[i].is_word() && !is_cpp_keyword(tokens()[i].text));
      if (is_part) name += tokens()[i].text;
    }
    const bool is_linkage = at_ == item_ + 2 && sees(item_, "extern");
    if (is_namespace || is_linkage) {
      scopes_.push_back({name, at_, is_linkage});
      begin_item(at_ + 1);
      return;
    }
    const auto close = close_of(at_);
    if (parameters_ == 0 || has_value_) {
      at_ = close + 1;
      return;
    }
    read_function(close);
    begin_item(close + 1);
  }

  /// Itself, or as a part of a macro, such as `#define DEVICE __device__ __forceinline__`.
  [[nodiscard]] bool item_has(std::string_view word, std::size_t end) const {
    for (std::size_t i = item_; i < end; ++i) {
      if (tokens()[i].is(word)) return true;
      const auto macro = model_.macros.find(tokens()[i].text);
      if (macro == model_.macros.end()) continue;
      const auto& body = macro->second.body;
      if (std::any_of(body.begin(), body.end(),
                      [&](const auto& token) { return token.is(word); })) {
        return true;
      }
    }
    return false;
  }

  /// Whether the function of the item, which ends at `end`, is no kernel and none of the device.
  [[nodiscard]] bool is_for_host(std::size_t end) const {
    return !item_has("__global__", end) && !item_has("__device__", end) &&
           !item_has("__shared__", end) && !item_has("__constant__", end) &&
           !item_has("typedef", end) && !item_has("using", end);
  }

  /// Whether a word such as HOST_DEVICE, which a header may define, stands before the function.
  [[nodiscard]] bool has_foreign_macro() const {
    for (std::size_t i = item_; i + 1 < parameters_; ++i) {
      const std::string_view text = tokens()[i].text;
      const bool is_upper =
          std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
      if (tokens()[i].is_word() && is_upper && text.size() > 1) return true;
    }
    return false;
  }

  void read_function(std::size_t close) {
    const bool is_kernel = item_has("__global__", at_);
    if (is_for_host(at_)) {
      model_.host_functions.emplace_back(item_, close);
      const CodeToken& name = tokens()[parameters_ - 1];
      if (model_.conditions.is_left_out(name.offset)) return;
      if (!item_has("constexpr", at_) && template_open_ == 0 && !has_foreign_macro()) {
        model_.host_definitions.push_back({std::string(name.text), name.line});
      }
      for (std::size_t i = at_; i < close; ++i) {
        if (tokens()[i].is("<<<")) read_host_launch(i, close);
      }
      return;
    }
    const CodeToken& name = tokens()[parameters_ - 1];
    if (is_cpp_keyword(name.text)) return;
    if (!is_kernel) {
      model_.functions.emplace(name.text, SourceFunction{read_parameters(tokens(), parameters_ + 1,
                                                                         close_of(parameters_)),
                                                         at_ + 1, close});
      return;
    }
    SourceKernel kernel;
    for (const Scope& scope : scopes_) {
      if (!scope.name.empty()) kernel.name += scope.name + "::";
    }
    kernel.plain_name = name.text;
    kernel.name += name.text;
    kernel.line = name.line;
    kernel.begin = item_;
    kernel.body_begin = at_ + 1;
    kernel.body_end = close;
    kernel.parameters = read_parameters(tokens(), parameters_ + 1, close_of(parameters_));
    if (kernel.parameters.size() > kMostParameters) {
      throw Error(ErrorKind::template_,
                  fmt::format("{}:{}:1: the kernel \"{}\" has {} parameters, but an operation can "
                              "pass at most {}. Next: pass related values in one array",
                              file_, name.line, name.text.substr(0, kMostNameCharacters),
                              kernel.parameters.size(), kMostParameters));
    }
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      auto& parameter = kernel.parameters[i];
      if (parameter.name.empty()) parameter.name = fmt::format("parameter{}", i + 1);
    }
    read_launch_bounds(kernel);
    if (template_open_ > 0) read_template_parameters(kernel);
    const bool is_known =
        std::any_of(model_.kernels.begin(), model_.kernels.end(),
                    [&](const SourceKernel& other) { return other.name == kernel.name; });
    if (!is_known) model_.kernels.push_back(std::move(kernel));
  }

  /// `kernel<float><<<grid, block>>>(x, y.data(), n)`.
  void read_host_launch(std::size_t open, std::size_t end) {
    if (!model_.host_launch_line) model_.host_launch_line = tokens()[open].line;
    std::size_t name = open - 1;
    if (tokens()[name].is(">")) {
      while (name > at_ && !tokens()[name].is("<")) --name;
      --name;
    }
    std::size_t arguments = open;
    while (arguments < end && !tokens()[arguments].is(">>>")) ++arguments;
    if (!tokens()[name].is_word() || !sees(arguments + 1, "(")) return;
    const auto close = close_of(arguments + 1);
    std::vector<std::string> passed(1);
    int depth = 0;
    std::size_t words = 0;
    for (std::size_t i = arguments + 2; i < close; ++i) {
      const CodeToken& token = tokens()[i];
      depth += (token.is("(") ? 1 : 0) - (token.is(")") ? 1 : 0);
      if (token.is(",") && depth == 0) {
        passed.emplace_back();
        words = 0;
      } else {
        // Anything but a name is another value each time.
        passed.back() = words++ == 0 && token.is_word() ? std::string(token.text) : "";
      }
    }
    const auto [known, is_new] =
        model_.host_launches.emplace(tokens()[name].text, std::move(passed));
    if (!is_new) known->second.clear();
  }

  /// `__launch_bounds__(threads, blocks)`.
  void read_launch_bounds(SourceKernel& kernel) const {
    for (std::size_t i = item_; i + 2 < at_; ++i) {
      if (!tokens()[i].is("__launch_bounds__") || !sees(i + 1, "(")) continue;
      const auto close = close_of(i + 1);
      kernel.bounds_begin = kernel.bounds_end = i + 2;
      while (kernel.bounds_end < close && !sees(kernel.bounds_end, ",")) {
        const bool opens = sees(kernel.bounds_end, "(");
        kernel.bounds_end = opens ? close_of(kernel.bounds_end) + 1 : kernel.bounds_end + 1;
      }
      return;
    }
  }

  void read_template_parameters(SourceKernel& kernel) const {
    std::size_t first = template_open_ + 1;
    for (std::size_t i = first; i <= template_close_ && i < count(); ++i) {
      const CodeToken& token = tokens()[i];
      if (token.is("(") || token.is("{")) i = close_of(i);
      if (token.is("<")) {
        const auto close = closing_angle_bracket(tokens(), i, template_close_);
        if (close < template_close_) i = close;
      }
      if (!token.is(",") && i != template_close_) continue;
      if (i > first) kernel.template_parameters.push_back(template_parameter(first, i));
      first = i + 1;
    }
  }

  [[nodiscard]] SourceTemplateParameter template_parameter(std::size_t begin,
                                                           std::size_t end) const {
    using Kind = SourceTemplateParameter::Kind;
    constexpr std::array<std::string_view, 9> kIntegers{"int",         "unsigned", "long",
                                                        "short",       "size_t",   "unsigned int",
                                                        "std::size_t", "auto",     "unsigned long"};
    SourceTemplateParameter parameter;
    std::size_t value = begin;
    while (value < end && !tokens()[value].is("=")) ++value;
    if (value < end) parameter.default_text = joined_text(tokens(), value + 1, end);
    std::size_t type_end = value;
    if (value > begin + 1 && tokens()[value - 1].is_word()) {
      parameter.name = tokens()[value - 1].text;
      type_end = value - 1;
    }
    if (sees(begin, "const")) ++begin;
    const std::string type = joined_text(tokens(), begin, type_end);
    if (type == "typename" || type == "class") {
      parameter.kind = Kind::type;
    } else if (type == "bool") {
      parameter.kind = Kind::flag;
    } else if (lists_word(kIntegers, type)) {
      parameter.kind = Kind::integer;
    }
    return parameter;
  }

  void read_declaration(std::size_t begin, std::size_t end) {
    const bool names_type = sees(begin, "using") || sees(begin, "typedef");
    if (!names_type && item_has("__constant__", end)) read_constant(begin, end);
  }

  void read_constant(std::size_t begin, std::size_t end) {
    for (auto& constant :
         read_constants(model_, template_open_ > 0 ? template_close_ + 1 : begin, end)) {
      constant.is_hidden = item_has("static", end);
      constant.is_template = template_open_ > 0;
      for (const Scope& scope : scopes_) {
        if (!scope.name.empty()) constant.qualified_name += scope.name + "::";
        constant.is_hidden = constant.is_hidden || (scope.name.empty() && !scope.is_linkage);
      }
      constant.qualified_name += constant.name;
      if (model_.constants.size() >= kMostParameters) {
        throw Error(
            ErrorKind::template_,
            fmt::format("{}:{}:1: {} is one variable too many: an operation can have at most {} "
                        "variables in constant memory. Next: put related values into one array",
                        file_, constant.line, constant.name, kMostParameters));
      }
      // With its value there is nothing to fill in.
      if (!constant.has_value) model_.constants.push_back(std::move(constant));
    }
  }

  void read_directives() {
    // Of two definitions the one that kernels are compiled with comes first.
    for (const bool is_never : {false, true}) {
      for (const CodeDirective& directive : model_.code.directives) {
        const bool defines = directive.name == "define" && !directive.tokens.empty();
        if (defines && model_.conditions.is_never(directive.offset) == is_never) {
          read_define(directive);
        }
        if (directive.name == "include" && !is_never) read_include(directive);
      }
    }
    // What stands below the guard of another default goes with that one.
    for (auto& each : model_.macros) {
      const auto absent = model_.conditions.absent_at(each.second.offset);
      for (const auto other : absent) {
        const auto guarded = model_.macros.find(other);
        const bool is_default = guarded != model_.macros.end() && guarded->second.is_default &&
                                !guarded->second.body.empty();
        each.second.is_default = each.second.is_default || is_default;
      }
    }
  }

  void read_define(const CodeDirective& directive) {
    const CodeToken& name = directive.tokens.front();
    if (directive.has_parameters) {
      model_.declared.emplace(name.text);
      return;
    }
    SourceMacro macro;
    macro.body.assign(directive.tokens.begin() + 1, directive.tokens.end());
    macro.offset = name.offset;
    macro.line = directive.line;
    macro.is_default = model_.conditions.yields_to(name.text, directive.offset);
    macro.misspelt_guard = model_.conditions.misspelt(name.text, directive.offset);
    const bool is_type =
        !macro.body.empty() && std::all_of(macro.body.begin(), macro.body.end(),
                                           [](const CodeToken& token) { return token.is_word(); });
    if (is_type) {
      model_.type_aliases.emplace(name.text, joined_text(macro.body, 0, macro.body.size()));
    }
    model_.macros.try_emplace(std::string(name.text), std::move(macro));
  }

  void read_include(const CodeDirective& directive) {
    if (model_.conditions.is_left_out(directive.offset)) return;
    if (directive.tokens.size() == 1 && directive.tokens.front().text.size() > 2 &&
        directive.tokens.front().kind == CodeToken::Kind::text) {
      const auto quoted = directive.tokens.front().text;
      model_.own_headers.push_back(
          {std::string(quoted.substr(1, quoted.size() - 2)), directive.line});
    }
    if (directive.tokens.size() < 3 || !directive.tokens.front().is("<")) return;
    std::string name;
    for (std::size_t i = 1; i + 1 < directive.tokens.size(); ++i) name += directive.tokens[i].text;
    const bool is_for_host = lists_word(kHostHeaders, name);
    (is_for_host ? model_.host_headers : model_.angled_headers).push_back({name, directive.line});
  }

  /// Names of the file but those that only host functions declare.
  void collect_names() {
    std::size_t begin = 0;
    for (const auto& [open, close] : model_.host_functions) {
      collect_declared_names(tokens(), begin, open, model_.declared);
      begin = close + 1;
    }
    collect_declared_names(tokens(), begin, count(), model_.declared);
    for (const auto& kernel : model_.kernels) {
      for (const auto& parameter : kernel.parameters) model_.declared.insert(parameter.name);
      for (const auto& parameter : kernel.template_parameters) {
        model_.declared.insert(parameter.name);
      }
    }
  }

  const std::string& file_;
  SourceModel model_;
  std::size_t at_ = 0;
  std::size_t item_ = 0;            ///< where the current declaration begins
  std::size_t parameters_ = 0;      ///< its last parenthesis after a name, 0: none
  std::size_t template_open_ = 0;   ///< '<' of its template parameters, 0: none
  std::size_t template_close_ = 0;  ///< and '>'
  bool has_value_ = false;
  std::vector<Scope> scopes_;
};

}  // namespace

bool SourceModel::is_host_token(std::size_t index) const {
  return std::any_of(host_functions.begin(), host_functions.end(), [&](const auto& range) {
    return index >= range.first && index <= range.second;
  });
}

bool SourceModel::is_host_offset(std::size_t offset) const {
  return std::any_of(host_functions.begin(), host_functions.end(), [&](const auto& range) {
    return offset >= code.tokens[range.first].offset && offset < code.tokens[range.second].offset;
  });
}

SourceModel read_source(const std::string& file, std::string_view source) {
  return SourceReader(file, source).run();
}

}  // namespace kiln::tools
