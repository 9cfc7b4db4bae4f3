// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/ptx_digest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/compile/register_note.hpp"
#include "templates/digest.hpp"

namespace kiln {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '%';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

/// Words (names, numbers, parts of opcodes), texts in quotes, and single characters; no comments.
/// False for a text or comment without an end.
bool split(std::string_view ptx, std::vector<std::string_view>& tokens) {
  std::size_t at = 0;
  while (at < ptx.size()) {
    std::size_t end = at + 1;
    if (is_space(ptx[at])) {
      at = end;
      continue;
    }
    const std::string_view start = ptx.substr(at, 2);
    if (start == "//") {
      at = std::min(ptx.find('\n', at), ptx.size());
      continue;
    }
    if (start == "/*") {
      end = ptx.find("*/", at + 2);
      if (end == std::string_view::npos) return false;
      at = end + 2;
      continue;
    }
    if (ptx[at] == '"') {
      end = ptx.find('"', end);
      if (end == std::string_view::npos) return false;
      ++end;
    } else if (is_word(ptx[at])) {
      while (end < ptx.size() && is_word(ptx[end])) ++end;
    }
    tokens.push_back(ptx.substr(at, end - at));
    at = end;
  }
  return true;
}

/// Passes on the tokens that count, with numbers for names that hold a configuration.
class Text {
 public:
  Text(std::vector<std::string_view> tokens, const std::vector<std::string>& kernels,
       PtxRegisters registers)
      : tokens_(std::move(tokens)),
        kernels_(kernels.begin(), kernels.end()),
        registers_(registers) {}

  /// False when something is not understood.
  [[nodiscard]] bool add_all() {
    while (at_ < tokens_.size()) {
      if (is_directive("section") && peek(2) == "." && peek(3).starts_with("debug_")) {
        if (!skip_braces()) return false;
      } else if (is_directive("loc")) {
        add_place();
      } else if (is_directive("file")) {
        add_file();
      } else if (registers_ == PtxRegisters::noted && is_directive("minnctapersm")) {
        at_ += 3;
      } else {
        add(tokens_[at_++]);
      }
    }
    return true;
  }
  /// Which name it was among those with numbers. False for one that did not appear.
  [[nodiscard]] bool add_name(const std::string& name, int registers) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) return false;
    digest_.add(fmt::format("#{} {}", found->second, registers));
    return true;
  }
  [[nodiscard]] std::string hex() const { return digest_.hex(); }

 private:
  [[nodiscard]] std::string_view peek(std::size_t ahead) const {
    return at_ + ahead < tokens_.size() ? tokens_[at_ + ahead] : std::string_view();
  }
  [[nodiscard]] bool is_directive(std::string_view name) const {
    return peek(0) == "." && peek(1) == name;
  }

  /// A mangled name means nothing but what it names: the module has all that it refers to, and
  /// Kiln looks up none but the kernels.
  void add(std::string_view token) {
    if (!token.starts_with("_Z") && !kernels_.contains(token)) {
      digest_.add(token);
      return;
    }
    const auto number = numbers_.try_emplace(token, numbers_.size()).first->second;
    digest_.add(fmt::format("#{}", number));
  }

  /// `.loc 1 17 3, function_name $L__info_string0+12, inlined_at 2 40 9`: the name of the function
  /// is left out.
  void add_place() {
    constexpr std::size_t kDirectiveAndPlace = 5;
    add_next(kDirectiveAndPlace);
    while (peek(0) == "," && (peek(1) == "function_name" || peek(1) == "inlined_at")) {
      if (peek(1) == "function_name") {
        at_ += peek(3) == "+" ? 5 : 3;
      } else {
        add_next(kDirectiveAndPlace);
      }
    }
  }
  /// `.file 1 "/home/me/kernels/softmax.cu"`: the folder is left out.
  void add_file() {
    constexpr std::size_t kDirectiveAndNumber = 3;
    add_next(kDirectiveAndNumber);
    if (at_ == tokens_.size()) return;
    const std::string_view path = tokens_[at_++];
    const std::size_t last = path.size() - 1;  // its quote
    digest_.add(path.substr(path.find_last_of("/\"", last > 0 ? last - 1 : 0) + 1));
  }
  void add_next(std::size_t count) {
    for (; count > 0 && at_ < tokens_.size(); --count) add(tokens_[at_++]);
  }

  [[nodiscard]] bool skip_braces() {
    while (at_ < tokens_.size() && tokens_[at_] != "}") ++at_;
    return at_++ < tokens_.size();
  }

  std::vector<std::string_view> tokens_;
  std::set<std::string, std::less<>> kernels_;
  PtxRegisters registers_;
  std::size_t at_ = 0;
  std::map<std::string_view, std::size_t> numbers_;
  DigestBuilder digest_;
};

}  // namespace

std::string ptx_digest(std::string_view ptx, const std::vector<std::string>& kernels,
                       PtxRegisters registers_are) {
  std::vector<std::string_view> tokens;
  if (!split(ptx, tokens)) return "";
  Text text(std::move(tokens), kernels, registers_are);
  if (!text.add_all()) return "";
  // The notes are comments, in the order of the names.
  const KernelRegisters registers = noted_registers(ptx);
  for (const std::string& kernel : kernels) {
    const auto noted = registers.find(kernel);
    if (!text.add_name(kernel, noted == registers.end() ? 0 : noted->second)) return "";
  }
  return text.hex();
}

}  // namespace kiln
