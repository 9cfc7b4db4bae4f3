// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/judge.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/digest.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/operation/operation_lines.hpp"
#include "templates/operation/typed_operation.hpp"
#include "templates/render/header_inliner.hpp"
#include "templates/render/header_names.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

/// Increment it when the verifier, or what compares, fills or computes on the device for it, may
/// come to another verdict than before: every stored verdict becomes history.
constexpr std::string_view kVerifierVersion = "verifier 1";
constexpr std::string_view kFirstVerifierVersion = "verifier 1";

/// What an operation says of itself that no verdict depends on.
constexpr std::array<std::string_view, 4> kUnjudgedKeys{"purpose", "flops", "bytes", "metric"};

/// What names mean in templates, and what kernels get.
constexpr std::array<std::string_view, 7> kInterfaceKeys{"operation", "size",  "let",    "type",
                                                         "scalar",    "trait", "operand"};

std::vector<FrontMatterLine> lines_of(const Operation& operation) {
  return read_front_matter(operation.origin.file, operation.origin.source, declaration_keys());
}

/// An operand's line without its fills, which are the judge's.
std::string without_fill(std::string text) {
  auto clauses = split_clauses(text);
  std::ranges::reverse(clauses);  // so that those to come stay where they are
  std::vector<std::pair<std::size_t, std::size_t>> parts;
  for (const TextPart& clause : clauses) {
    const auto words = split_words(clause.text);
    if (clause.offset == 0 || words.empty() || words[0].text != "fill") continue;
    const auto begin = text.rfind(';', clause.offset);
    parts.emplace_back(begin, clause.offset + clause.text.size() - begin);
  }
  for (const auto& [begin, length] : parts) text.erase(begin, length);
  return text;
}

/// A scalar's line without its default: kernels get the value at a launch, and whether results are
/// right with it is the judge's.
std::string without_default(std::string text) {
  return text.substr(0, text.find('='));
}

std::string built_in_judge(std::string_view version, std::string_view operation) {
  return DigestBuilder().add(version).add("built in").add(operation).hex();
}

bool is_token_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '\\' ||
         static_cast<unsigned char>(c) > 0x7F;
}

/// Whether two tokens would be others without a space between these ends of them.
bool must_be_apart(char left, char right) {
  const auto joins = [](char c) { return is_token_char(c) || c == '.' || c == '"' || c == '\''; };
  if (joins(left) && joins(right)) return true;
  constexpr std::string_view kPairs =
      "++ -- -> << >> <= >= == != && || += -= *= /= %= &= |= ^= :: ## <: :> <% %> %: >* => // /* "
      "*/";
  const std::array<char, 2> pair{left, right};
  return kPairs.find(std::string_view(pair.data(), pair.size())) != std::string_view::npos;
}

/// Appends text without the spaces that tokens can do without. Directives keep a line each, and
/// one space for any number, since a macro with parameters has none behind its name.
class CodeText {
 public:
  void add(char c) {
    if (kLineSpace.find(c) != std::string_view::npos) {
      is_apart_ = true;
    } else if (c == '\n') {
      end_line();
    } else {
      if (c == '#' && begins_line_) begin_directive();
      put_apart(c);
      text_ += c;
    }
  }
  /// A literal, space included.
  void add(std::string_view literal) {
    put_apart(literal.front());
    text_ += literal;
  }
  [[nodiscard]] char last() const { return is_apart_ || text_.empty() ? ' ' : text_.back(); }
  [[nodiscard]] std::string take() {
    end_line();
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    return std::move(text_);
  }

 private:
  void put_apart(char next) {
    const char before = text_.empty() ? '\n' : text_.back();
    const bool counts = is_directive_ ? before != '#' : must_be_apart(before, next);
    if (is_apart_ && before != '\n' && counts) text_ += ' ';
    is_apart_ = begins_line_ = false;
  }
  void begin_directive() {
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    is_directive_ = true;
    is_apart_ = false;
  }
  void end_line() {
    begins_line_ = is_apart_ = true;
    const bool goes_on = !text_.empty() && text_.back() == '\\';
    if (!is_directive_ || goes_on) return;
    is_directive_ = is_apart_ = false;
    const auto begin = text_.rfind('\n') + 1;  // 0 if there is none
    const bool is_place = std::string_view(text_).substr(begin).starts_with("#line ");
    if (is_place) text_.resize(begin);
    if (!is_place) text_ += '\n';
  }

  std::string text_;
  bool is_apart_ = false;    ///< what comes next, from the last token
  bool begins_line_ = true;  ///< nothing has come yet
  bool is_directive_ = false;
};

/// Behind the comment that begins at `at`; `at` if none does.
std::size_t behind_comment(std::string_view code, std::size_t at) {
  if (code.substr(at, 2) == "/*") {
    const auto end = code.find("*/", at + 2);
    return end == std::string_view::npos ? code.size() : end + 2;
  }
  if (code.substr(at, 2) != "//") return at;
  // A backslash at the end of the line continues it; the end itself is not part of the comment.
  for (std::size_t end = at;;) {
    end = code.find('\n', end);
    if (end == std::string_view::npos) return code.size();
    if (code[end - 1] != '\\') return end;
    ++end;
  }
}

/// Behind the literal that begins at `at`; `at` if none does. `before` is the character before it.
std::size_t behind_literal(std::string_view code, std::size_t at, char before) {
  const char quote = code[at];
  if (quote == '"' && before == 'R') {
    const auto open = std::min(code.find('(', at), code.size());
    const std::string end = ")" + std::string(code.substr(at + 1, open - at - 1)) + "\"";
    const auto found = code.find(end, open);
    return found == std::string_view::npos ? code.size() : found + end.size();
  }
  const bool separates_digits = quote == '\'' && std::isxdigit(static_cast<unsigned char>(before));
  if ((quote != '"' && quote != '\'') || separates_digits) return at;
  std::size_t end = at + 1;
  while (end < code.size() && code[end] != quote && code[end] != '\n') {
    end += code[end] == '\\' ? 2 : 1;
  }
  // An apostrophe without a partner, in text that no compiler reads, must not hide the next line.
  if (end < code.size() && code[end] == '\n') return end;
  return std::min(end + 1, code.size());
}

/// The kernels that judge, with every header that they include and that is not CUDA's.
std::string judges_code(const Operation& operation) {
  const Operation::Origin& origin = operation.origin;
  try {
    HeaderInliner inliner(origin.headers, HeaderInliner::Mode::rendered);
    inliner.add(origin.path.empty() ? origin.file : origin.path, origin.source);
    std::string text = code_without_comments(inliner.text());
    for (const std::string& include : inliner.system_includes()) text += include + '\n';
    if (inliner.uses_supplied()) text += supplied_headers_digest();
    return text;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::template_) throw;
    // It does not compile, so no verdict can have come from it; whoever verifies is told why.
    return "unreadable\n" + origin.source;
  }
}

}  // namespace

std::string code_without_comments(std::string_view code) {
  CodeText text;
  for (std::size_t at = 0; at < code.size();) {
    if (const auto end = behind_comment(code, at); end != at) {
      text.add(' ');
      at = end;
    } else if (const auto behind = behind_literal(code, at, text.last()); behind != at) {
      text.add(code.substr(at, behind - at));
      at = behind;
    } else {
      text.add(code[at++]);
    }
  }
  return text.take();
}

std::string judge_digest(const Operation& operation) {
  if (!operation.is_declared()) return built_in_judge(kVerifierVersion, operation.name);
  DigestBuilder digest;
  digest.add(kVerifierVersion).add("declared");
  for (const FrontMatterLine& line : lines_of(operation)) {
    if (std::ranges::find(kUnjudgedKeys, line.key) != kUnjudgedKeys.end()) continue;
    digest.add(line.key).add(code_without_comments(line.text));
  }
  return digest.add(judges_code(operation)).hex();
}

std::string kernel_interface(const Operation& operation) {
  std::string text;
  for (const FrontMatterLine& line : lines_of(operation)) {
    if (std::ranges::find(kInterfaceKeys, line.key) == kInterfaceKeys.end()) continue;
    std::string said = line.text;
    if (line.key == "operand") said = without_fill(std::move(said));
    if (line.key == "scalar") said = without_default(std::move(said));
    text += line.key + ' ' + code_without_comments(said);
  }
  return text;
}

std::string judge_before_digests(std::string_view operation) {
  if (find_typed_operation(operation) == nullptr) return "";
  return built_in_judge(kFirstVerifierVersion, operation);
}

}  // namespace kiln
