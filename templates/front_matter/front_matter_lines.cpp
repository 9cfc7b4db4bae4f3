// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/front_matter_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "templates/source_error.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::string_view kMark = "//@";
constexpr std::string_view kOperators = "+-*/%<>=&|?:,!().";

std::string_view first_word(std::string_view text) {
  return text.substr(0, text.find_first_of(kLineSpace));
}

/// Calls `visit(line, number)` for each line, without its end.
template <class Visit>
void for_each_line(std::string_view source, const Visit& visit) {
  int number = 1;
  while (!source.empty()) {
    const auto end = source.find('\n');
    visit(source.substr(0, end), number++);
    if (end == std::string_view::npos) return;
    source.remove_prefix(end + 1);
  }
}

/// Text and comment; the text points into `body` even if it is empty.
std::pair<std::string_view, std::string_view> split_comment(std::string_view body) {
  const auto slashes = body.find("//");
  if (slashes == std::string_view::npos) return {body, {}};
  const auto text = trimmed(body.substr(0, slashes));
  return {text.empty() ? body.substr(0, 0) : text, trimmed(body.substr(slashes + 2))};
}

/// The operators of expressions that are words.
bool is_operator_word(std::string_view word) {
  constexpr std::array<std::string_view, 4> kWords{"and", "or", "not", "in"};
  return std::ranges::find(kWords, word) != kWords.end();
}

/// Whether what follows must still belong to the statement. The star of a tunable's default is not
/// an operator.
bool is_incomplete(const FrontMatterLine& line) {
  if (line.key == "purpose" || line.key == "tune" || line.text.empty()) return false;
  if (line.key == "launch") {
    // Its brackets are those of template arguments.
    return line.text.back() == ',' || std::count(line.text.begin(), line.text.end(), '<') >
                                          std::count(line.text.begin(), line.text.end(), '>');
  }
  constexpr std::string_view kOpenEnd = "+-*/%<>=&|?:,;!(";
  const auto open = std::count(line.text.begin(), line.text.end(), '(') -
                    std::count(line.text.begin(), line.text.end(), ')');
  return open > 0 || kOpenEnd.find(line.text.back()) != std::string_view::npos ||
         is_operator_word(line.text.substr(line.text.find_last_of(kLineSpace) + 1));
}

/// Where FILL_IN stands in a statement, as a word of its own.
std::vector<std::size_t> places_to_fill_in(const FrontMatterLine& line) {
  const std::string_view text = line.text;
  const auto is_part = [](char c) { return is_identifier(std::string_view(&c, 1)); };
  std::vector<std::size_t> places;
  for (auto at = text.find(kFillInWord); at != std::string_view::npos;
       at = text.find(kFillInWord, at + 1)) {
    const auto end = at + kFillInWord.size();
    if ((at > 0 && is_part(text[at - 1])) || (end < text.size() && is_part(text[end]))) continue;
    places.push_back(at);
  }
  return places;
}

/// `kiln adopt` writes FILL_IN for what it cannot know, and what that is into the comment. The
/// error is at the first place and says how many there are.
void check_filled_in(const std::vector<FrontMatterLine>& lines) {
  std::size_t count = 0;
  for (const FrontMatterLine& line : lines) count += places_to_fill_in(line).size();
  for (const FrontMatterLine& line : lines) {
    const auto places = places_to_fill_in(line);
    if (places.empty()) continue;
    line.fail(places.front(),
              fmt::format("replace this {}{}{}{}", kFillInWord,
                          count > 1 ? fmt::format(", the first of {} in this file", count) : "",
                          line.comment.empty() ? "" : ": ", line.comment));
  }
}

/// Names become part of keys in the database. What a kernel is called is the compiler's concern.
void check_names(const FrontMatterLine& line) {
  const auto fail = [&](const SourcePlace& place, std::string_view text, std::size_t offset) {
    throw_at(place, text, offset,
             fmt::format("the name has more than {} characters; choose a shorter name",
                         kMostNameCharacters));
  };
  if (line.declaration.name.size() > kMostNameCharacters) {
    fail(line.declaration.place, line.declaration.name, 0);
  }
  constexpr std::array<std::string_view, 5> kOfKernels{"purpose", "launch", "args", "reference",
                                                       "checker"};
  if (std::ranges::find(kOfKernels, line.key) != kOfKernels.end()) return;
  const std::string_view text = line.text;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_identifier(text.substr(begin, 1)) &&
           (is_identifier(text.substr(end, 1)) || (text[end] >= '0' && text[end] <= '9'))) {
      ++end;
    }
    if (end - begin > kMostNameCharacters) fail(line.text_place, text, begin);
    begin = std::max(end, begin + 1);
  }
}

/// `int`, `bool`, or an enumeration such as `kiln::Copy`.
bool is_type_name(std::string_view text) {
  const auto colons = text.find("::");
  if (colons == std::string_view::npos) return is_identifier(text);
  return is_identifier(text.substr(0, colons)) && is_type_name(text.substr(colons + 2));
}

/// "SplitK, kiln::Repack" are the bases SplitK and Repack.
std::vector<std::string> names_of_bases(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto base = trimmed(text.substr(0, comma));
    const auto colon = base.rfind(':');
    names.emplace_back(colon == std::string_view::npos ? base : base.substr(colon + 1));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return names;
}

/// What no statement begins with.
bool continues(std::string_view body) {
  const char first = body.front();
  return (first >= '0' && first <= '9') || kOperators.find(first) != std::string_view::npos ||
         first_word(body).find('=') != std::string_view::npos || is_operator_word(first_word(body));
}

class Reader {
 public:
  Reader(const std::string& file, std::string_view source, const std::vector<std::string>& keys)
      : file_(file), keys_(keys) {
    refuse_nul(file, source);
    for_each_line(source, [this](std::string_view line, int number) { read(line, number); });
  }
  [[nodiscard]] std::vector<FrontMatterLine> take() { return std::move(lines_); }

 private:
  void read(std::string_view line, int number) {
    const auto mark = line.find(kMark);
    const auto code = trimmed(line.substr(0, std::min(mark, line.find("//"))));
    if (mark != std::string_view::npos && !trimmed(line.substr(mark + kMark.size())).empty()) {
      if (code.empty()) {
        if (mark == 0 || !struct_.empty()) read_statement(line, mark, number);
      } else {
        read_declaration(line, mark, code, number);
      }
    }
    follow_braces(code);
  }

  void read_statement(std::string_view line, std::size_t mark, int number) {
    const auto body = trimmed(line.substr(mark + kMark.size()));
    count(line, body, number);
    const bool is_next = !lines_.empty() && last_number_ + 1 == number;
    last_number_ = number;
    if (is_next && lines_.back().key != "purpose" &&
        (continues(body) || (is_incomplete(lines_.back()) && !begins_statement(body)))) {
      append(line, body, number);
      return;
    }
    lines_.push_back(take_apart(line, body, number));
  }

  /// `struct Name {` or `int name;` followed by a mark.
  void read_declaration(std::string_view line, std::size_t mark, std::string_view code,
                        int number) {
    const auto body = trimmed(line.substr(mark + kMark.size()));
    const auto key = first_word(body);
    const bool is_of_field = key == "tune" || key == "let";
    // Anything else is some other use of the mark, in a string for instance.
    if (!is_of_field && body != "config" && body != "at launch") return;
    count(line, body, number);
    FrontMatterLine statement = take_apart(line, body, number);
    auto declaration = declaration_of(line, code, number);
    if (!declaration) {
      statement.fail_at_key(
          is_of_field
              ? fmt::format(
                    "write \"{0}\" after the declaration of one field: int name;  //@ {0} ...", key)
              : fmt::format("write \"{0}\" at the end of the first line of a struct: struct Name "
                            "{{  //@ {0}",
                            body));
    }
    statement.declaration = std::move(*declaration);
    if (statement.declaration.type == "struct") struct_ = statement.declaration.name;
    last_number_ = number;
    lines_.push_back(std::move(statement));
  }

  [[nodiscard]] std::optional<Declaration> declaration_of(std::string_view line,
                                                          std::string_view code, int number) const {
    const auto type = first_word(code);
    auto name = trimmed(code.substr(type.size()));
    std::vector<std::string> bases;
    if (type == "struct") {
      if (name.ends_with('{')) name = trimmed(name.substr(0, name.size() - 1));
      const auto colon = name.find(':');
      if (colon != std::string_view::npos) {
        bases = names_of_bases(name.substr(colon + 1));
        name = trimmed(name.substr(0, colon));
      }
    } else if (is_type_name(type) && name.ends_with(';')) {
      name = trimmed(name.substr(0, name.size() - 1));
    } else {
      return std::nullopt;
    }
    if (!is_identifier(name)) return std::nullopt;
    return Declaration{std::string(type), std::string(name), type == "struct" ? "" : struct_,
                       place(line, name, number), std::move(bases)};
  }

  /// A marked struct ends where its brace is closed.
  void follow_braces(std::string_view code) {
    if (struct_.empty()) return;
    const auto opened = std::count(code.begin(), code.end(), '{');
    const auto closed = std::count(code.begin(), code.end(), '}');
    depth_ += opened - closed;
    if (closed > 0 && depth_ <= 0) {
      struct_.clear();
      depth_ = 0;
    }
  }

  void append(std::string_view line, std::string_view body, int number) {
    FrontMatterLine& statement = lines_.back();
    const auto [text, comment] = split_comment(body);
    // A line that only goes on with the comment adds nothing to the text.
    if (!text.empty()) {
      if (!statement.text.empty()) statement.text += ' ';
      statement.text_place.continuations.push_back({statement.text.size(), number,
                                                    static_cast<int>(offset_in(line, text)) + 1,
                                                    std::string(line)});
      statement.text += text;
    }
    if (!statement.comment.empty() && !comment.empty()) statement.comment += ' ';
    statement.comment += comment;
  }

  [[nodiscard]] SourcePlace place(std::string_view line, std::string_view part, int number) const {
    return {file_, number, static_cast<int>(offset_in(line, part)) + 1, std::string(line)};
  }

  /// Key, text and comment, with the columns at which they begin.
  [[nodiscard]] FrontMatterLine take_apart(std::string_view line, std::string_view body,
                                           int number) const {
    const auto key = first_word(body);
    auto rest = trimmed(body.substr(key.size()));
    if (rest.empty()) rest = line.substr(offset_in(line, body) + body.size(), 0);
    // A purpose is prose and may contain anything, a URL for instance.
    const auto [text, comment] =
        key == "purpose" ? std::pair(rest, std::string_view()) : split_comment(rest);
    return {std::string(key), std::string(text), std::string(comment), place(line, key, number),
            place(line, text, number)};
  }

  /// `require -x < 3` begins a statement, `block * 2` continues one: a key is followed by an
  /// operand, a name by an operator.
  [[nodiscard]] bool begins_statement(std::string_view body) const {
    const auto word = first_word(body);
    if (std::find(keys_.begin(), keys_.end(), word) == keys_.end()) return false;
    const auto rest = trimmed(body.substr(word.size()));
    if (rest.empty()) return true;
    constexpr std::string_view kPrefixes = "(!-";
    return kPrefixes.find(rest.front()) != std::string_view::npos ||
           kOperators.find(rest.front()) == std::string_view::npos;
  }

  void count(std::string_view line, std::string_view body, int number) {
    if (++count_ <= kMostFrontMatterLines) return;
    throw_at(place(line, body, number), body, 0,
             fmt::format("the front matter has more than {} lines", kMostFrontMatterLines));
  }

  std::string file_;
  const std::vector<std::string>& keys_;
  std::vector<FrontMatterLine> lines_;
  std::string struct_;  ///< the marked one that is open
  std::ptrdiff_t depth_ = 0;
  int last_number_ = 0;  ///< line of the last statement
  std::size_t count_ = 0;
};

}  // namespace

void FrontMatterLine::fail_at_key(std::string_view message) const {
  throw_at(key_place, key, 0, message);
}

void FrontMatterLine::fail(std::size_t offset, std::string_view message) const {
  throw_at(text_place, text, offset, message);
}

const std::vector<std::string>& template_keys() {
  static const std::vector<std::string> keys{
      "template", "purpose", "operation", "config",   "at",       "arch",        "types",
      "tune",     "let",     "require",   "prefer",   "priority", "launch",      "grid",
      "block",    "cluster", "smem",      "when",     "map",      "workspace",   "cost",
      "epilogue", "overlap", "args",      "constant", "usual",    "cooperative", "include",
      "allow",    "use",     "repeat",    "scratch"};
  return keys;
}

bool has_front_matter(std::string_view source) {
  return source.starts_with(kMark) || source.find("\n//@") != std::string_view::npos;
}

std::vector<FrontMatterLine> read_front_matter(const std::string& file, std::string_view source,
                                               const std::vector<std::string>& keys) {
  auto lines = Reader(file, source, keys).take();
  check_filled_in(lines);
  for (auto& line : lines) {
    check_names(line);
    // What its user was to check means nothing to others.
    line.comment = trimmed(std::string_view(line.comment).substr(0, line.comment.find(kCheckWord)));
  }
  return lines;
}

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace kiln
