// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace kiln {
namespace {

/// One character of UTF-8; `bytes` is 0 if the text is malformed.
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

std::uint32_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// Refuses what a decoder must: overlong forms, surrogates, beyond U+10FFFF, truncated ones.
Character first_character(std::string_view text) {
  const std::uint32_t lead = byte_at(text, 0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  const std::uint32_t least = bytes == 4 ? 0x10000 : bytes == 3 ? 0x800 : 0x80;
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (code < least || surrogate || code > 0x10ffff) return {};
  return {code, bytes};
}

/// Whether a terminal does anything with it but display it in its place.
bool is_control(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

}  // namespace

std::string printable(std::string_view text, LineBreaks breaks) {
  // Most text contains nothing of the kind, and kernels are long.
  const auto plain = [&](char c) {
    return (c >= ' ' && c <= '~') || (breaks == LineBreaks::keep && (c == '\n' || c == '\t'));
  };
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto odd = std::find_if_not(text.begin(), text.end(), plain);
    const auto run = static_cast<std::size_t>(odd - text.begin());
    result += text.substr(0, run);
    text.remove_prefix(run);
    if (text.empty()) break;
    const Character next = first_character(text);
    if (next.bytes == 0) {
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", byte_at(text, 0));
    } else if (is_control(next.code)) {
      fmt::format_to(std::back_inserter(result), "\\u{:04x}", next.code);
    } else {
      result += text.substr(0, next.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return result;
}

std::string shell_word(const std::string& value) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (!value.empty() && value.find_first_not_of(kPlain) == std::string::npos) return value;
  std::string quoted = "'";
  for (const char c : value) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace kiln
