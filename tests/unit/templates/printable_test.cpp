// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/printable.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace kiln {
namespace {

/// UTF-8 of one character.
std::string utf8(std::uint32_t code) {
  std::string text;
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
  return text;
}

TEST(Printable, LeavesTextAlone) {
  const std::string text = "plain ~ \t tabs\nand lines, \xc3\xa9, \xe6\xbc\xa2, \xf0\x9f\x98\x80";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, EscapesEveryControlCharacter) {
  for (std::uint32_t code = 0; code < 0xa0; ++code) {
    const bool control = code < 0x20 || code >= 0x7f;
    if (code == '\n' || code == '\t' || !control) continue;
    EXPECT_EQ(printable("a" + utf8(code) + "b"), fmt::format("a\\u{:04x}b", code));
  }
  EXPECT_EQ(printable("\x1b]0;title\x07"), "\\u001b]0;title\\u0007");
  EXPECT_EQ(printable("a\r\nb"), "a\\u000d\nb");
}

TEST(Printable, EscapesWhatTurnsTheOrderOfLetters) {
  for (const std::uint32_t code : {0x061cU, 0x200eU, 0x200fU, 0x2028U, 0x2029U, 0x202aU, 0x202bU,
                                   0x202cU, 0x202dU, 0x202eU, 0x2066U, 0x2067U, 0x2068U, 0x2069U}) {
    EXPECT_EQ(printable(utf8(code)), fmt::format("\\u{:04x}", code));
  }
  for (const std::uint32_t code :
       {0x061bU, 0x061dU, 0x200dU, 0x2010U, 0x2027U, 0x202fU, 0x2065U, 0x206aU, 0xa0U, 0x10ffffU}) {
    EXPECT_EQ(printable(utf8(code)), utf8(code));
  }
}

TEST(Printable, EscapesBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff z"), "a\\xff z");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b") << "an overlong form";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b") << "likewise";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80") << "ends early";
  EXPECT_EQ(printable("\xe2\x80"
                      "a"),
            "\\xe2\\x80a");
}

TEST(Printable, EscapesLineBreaksOnDemand) {
  EXPECT_EQ(printable("a\nb\tc", LineBreaks::escape), "a\\u000ab\\u0009c");
}

TEST(ShellWord, IsOneWord) {
  EXPECT_EQ(shell_word("a/b.db"), "a/b.db");
  EXPECT_EQ(shell_word("~/a b.db"), "'~/a b.db'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(Printable, ChangesNothingTheSecondTime) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  const std::string once = printable(bytes);
  EXPECT_EQ(printable(once), once);
}

}  // namespace
}  // namespace kiln
