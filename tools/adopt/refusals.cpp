// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/adopt/refusals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kiln/error.hpp"
#include "templates/check/texture_check.hpp"
#include "templates/render/code_scanner.hpp"
#include "tools/adopt/reach.hpp"

namespace kiln::tools {
namespace {

class Refuser {
 public:
  Refuser(const std::string& file, const SourceModel& model, const SourceKernel& kernel)
      : file_(file), model_(model), kernel_(kernel) {}

  void run() const {
    for (const auto& parameter : kernel_.parameters) {
      if (is_texture(parameter.type)) refuse_texture(parameter.line, type_and_name(parameter));
      refuse_shape(parameter);
    }
    refuse_references(model_.code.tokens);
    const ReachedCode code(model_, kernel_);
    const auto& tokens = code.tokens();
    refuse_references(tokens);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (!is_texture_type(tokens[i].text)) continue;
      const bool has_name = i + 1 < tokens.size() && tokens[i + 1].is_word();
      refuse_texture(tokens[i].line,
                     joined_text(tokens, i, std::min(i + (has_name ? 2 : 1), tokens.size())));
    }
    // What is fetched may come as a number.
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      if (!fetches_texture(tokens, i)) continue;
      refuse_texture(tokens[i].line, fmt::format("{}(...)", tokens[i].text));
    }
  }

 private:
  [[noreturn]] void refuse(int line, const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: {}", file_, line, why));
  }
  [[noreturn]] void refuse_texture(int line, const std::string& what) const {
    refuse(line, texture_advice(what));
  }

  static std::string type_and_name(const SourceParameter& parameter) {
    return parameter.type +
           (parameter.pointers > 0 ? std::string(static_cast<std::size_t>(parameter.pointers), '*')
                                   : "") +
           " " + parameter.name;
  }

  /// Directly or by aliases.
  [[nodiscard]] bool is_texture(std::string_view type) const {
    constexpr int kMostHops = 8;
    for (int i = 0; i < kMostHops; ++i) {
      if (is_texture_type(type)) return true;
      const auto alias = model_.type_aliases.find(type);
      if (alias == model_.type_aliases.end()) return false;
      type = alias->second;
    }
    return false;
  }

  /// The texture and surface references of CUDA 11 and before.
  void refuse_references(const std::vector<CodeToken>& tokens) const {
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const bool is_reference = tokens[i].is("texture") || tokens[i].is("surface");
      if (!is_reference || !tokens[i + 1].is("<")) continue;
      if (model_.declared.contains(tokens[i].text)) continue;
      refuse_texture(tokens[i].line, fmt::format("{}<...>", tokens[i].text));
    }
  }

  [[nodiscard]] bool fetches_texture(const std::vector<CodeToken>& tokens, std::size_t i) const {
    constexpr std::array<std::string_view, 8> kBegins{"tex1D",  "tex2D",  "tex3D",  "texCubemap",
                                                      "surf1D", "surf2D", "surf3D", "surfCubemap"};
    const std::string_view name = tokens[i].text;
    const bool is_fetch = std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view begin) {
      return name.starts_with(begin);
    });
    const bool is_call = tokens[i + 1].is("(") || tokens[i + 1].is("<");
    const bool is_member = i > 0 && (tokens[i - 1].is(".") || tokens[i - 1].is("->"));
    return is_fetch && is_call && !is_member && !model_.definitions.contains(name) &&
           !model_.declared.contains(name);
  }

  /// What no operand and no number is.
  void refuse_shape(const SourceParameter& parameter) const {
    const std::string& name = parameter.name;
    const std::string type = (parameter.is_const ? "const " : "") + parameter.type;
    if (parameter.shape == SourceParameter::Shape::function) {
      refuse(parameter.line,
             fmt::format(
                 "the parameter {} is a function, which cannot be passed to a kernel. Next: make "
                 "the function a template parameter of the kernel, or call the function by name",
                 name));
    }
    if (parameter.shape == SourceParameter::Shape::array_pointer) {
      refuse(parameter.line,
             fmt::format(
                 "the parameter {0} points to arrays, but the elements of an operand are numbers. "
                 "Next: take \"{1}* {0}\" instead, and write {0}[i * {2} + j] for {0}[i][j]",
                 name, type, parameter.row.empty() ? "COLUMNS" : parameter.row));
    }
    constexpr int kMostPointers = 2;
    if (parameter.pointers > kMostPointers) {
      refuse(
          parameter.line,
          fmt::format("the parameter {0} is a \"{1}{2}\", but an operand has at most two levels of "
                      "pointers. Next: take \"{1}** {0}\" instead, and write {0}[i * COLUMNS + j] "
                      "for {0}[i][j]",
                      name, type, std::string(static_cast<std::size_t>(parameter.pointers), '*')));
    }
  }

  const std::string& file_;
  const SourceModel& model_;
  const SourceKernel& kernel_;
};

}  // namespace

void refuse_unsupported(const std::string& file, const SourceModel& model,
                        const SourceKernel& kernel) {
  Refuser(file, model, kernel).run();
}

}  // namespace kiln::tools
