// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

#include "runtime/emulated/ptx/ptx_source_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace kiln::ptx {
namespace {

/// More calls than this in each other, all in headers, are none that a compiler made.
constexpr int kLongestChain = 64;

/// Whether a file came with CUDA, by its place below the folder of its headers.
bool is_header_of_cuda(std::string_view file) {
  constexpr std::string_view kFolder = "/include/";
  constexpr std::array<std::string_view, 10> kBelow{
      "cccl/", "cooperative_groups", "crt/", "cub/", "cuda/", "cuda_", "device_", "math_", "mma.h",
      "sm_"};
  const auto at = file.rfind(kFolder);
  if (at == std::string_view::npos) return false;
  const std::string_view below = file.substr(at + kFolder.size());
  return std::any_of(kBelow.begin(), kBelow.end(), [&](std::string_view start) {
    return below.substr(0, start.size()) == start;
  });
}

}  // namespace

int SourceLines::index_of(int number, const Token& where) {
  const auto [found, added] = index_of_number_.try_emplace(number, static_cast<int>(files_.size()));
  if (added) files_.push_back({number, {}, false, where});
  return found->second;
}

void SourceLines::read_file(Lexer& lexer) {
  const Token at = lexer.peek();
  const int index = index_of(lexer.expect_count("the number of a file"), at);
  const Token name = lexer.expect(Token::Kind::string, "the name of a file");
  File& file = files_[static_cast<std::size_t>(index)];
  if (file.named && file.name != name.text) {
    fail_at(at, fmt::format("two .file directives have the number {}, but different file names",
                            file.number));
  }
  file.name = name.text;
  file.named = true;
  // Time stamp and size.
  while (lexer.accept(",")) lexer.expect(Token::Kind::integer, "a number");
}

SourceLines::Place SourceLines::read_place(Lexer& lexer) {
  Place place;
  const Token at = lexer.peek();
  place.file = index_of(lexer.expect_count("the number of a file"), at);
  place.line = lexer.expect_count("a line");
  place.column = lexer.expect_count("a column");
  return place;
}

void SourceLines::read_loc(Lexer& lexer) {
  const Place place = read_place(lexer);
  // Line 0 is code of the compiler's own, which serves what stands around it.
  const bool known = place.line != 0 || origin_.line == 0;
  Origin origin;
  origin.file = place.file;
  origin.line = place.line;
  // The same place may have been inlined before and now be reached by itself.
  latest_.erase(place);
  while (lexer.accept(",")) {
    if (lexer.accept("function_name")) {
      lexer.expect(Token::Kind::word, "a label of .debug_str");
      if (lexer.accept("+")) lexer.expect(Token::Kind::integer, "an offset");
    } else if (lexer.accept("inlined_at")) {
      const Place caller = read_place(lexer);
      const auto found = latest_.find(caller);
      const int link = found != latest_.end() ? found->second : link_to(caller, 0);
      origin.caller = link;
      const Place& outermost = links_[static_cast<std::size_t>(link) - 1].outermost;
      origin.outer_file = outermost.file;
      origin.outer_line = outermost.line;
      latest_[place] = link_to(place, link);
    } else {
      lexer.fail_expected("function_name or inlined_at");
    }
  }
  if (known) origin_ = origin;
}

int SourceLines::link_to(const Place& place, int caller) {
  const auto [found, added] = numbers_.try_emplace({place, caller}, 0);
  if (added) {
    const Place outermost =
        caller == 0 ? place : links_[static_cast<std::size_t>(caller) - 1].outermost;
    links_.push_back({place, caller, outermost});
    found->second = static_cast<int>(links_.size());
  }
  return found->second;
}

void SourceLines::begin_function() {
  latest_.clear();
  origin_ = Origin{};
}

Origin SourceLines::origin_of(const Token& token) const {
  Origin origin = origin_;
  origin.ptx_line = token.line;
  return origin;
}

std::vector<std::string> SourceLines::files() const {
  std::vector<std::string> names;
  names.reserve(files_.size());
  for (const File& file : files_) {
    if (!file.named && !names.empty()) {
      fail_at(file.first_use, fmt::format("no .file directive defines file {}", file.number));
    }
    names.push_back(file.name);
  }
  return names;
}

void SourceLines::leave_headers(Origin& origin) const {
  const auto of_cuda = [&](int file) {
    return is_header_of_cuda(files_[static_cast<std::size_t>(file)].name);
  };
  int link = origin.caller;
  for (int steps = 0; steps < kLongestChain && link != 0 && of_cuda(origin.file); ++steps) {
    const Link& at = links_[static_cast<std::size_t>(link) - 1];
    origin.file = at.place.file;
    origin.line = at.place.line;
    link = at.caller;
  }
}

}  // namespace kiln::ptx
