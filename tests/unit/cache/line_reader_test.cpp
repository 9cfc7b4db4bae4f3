// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/line_reader.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <vector>

#include "kiln/error.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using Line = LineReader::Line;

struct Read {
  Line line;
  std::string text;
  friend bool operator==(const Read&, const Read&) = default;
};

std::vector<Read> read_all(const std::string& text, std::size_t most_bytes) {
  std::istringstream in(text);
  LineReader reader(in, most_bytes);
  std::vector<Read> result;
  Read next;
  while ((next.line = reader.next(next.text)) != Line::none) result.push_back(next);
  EXPECT_EQ(reader.number(), result.size());
  return result;
}

TEST(LineReader, GivesEveryLineAlsoTheLastWithoutAnEnd) {
  const std::vector<Read> expected{{Line::whole, "one"}, {Line::whole, ""}, {Line::whole, "three"}};
  EXPECT_EQ(read_all("one\n\nthree", 100), expected);
  EXPECT_EQ(read_all("one\n\nthree\n", 100), expected);
  EXPECT_EQ(read_all("", 100), std::vector<Read>{});
}

TEST(LineReader, KeepsTheBeginningOfALineThatIsTooLong) {
  const std::vector<Read> expected{
      {Line::whole, "12345"}, {Line::too_long, "12345"}, {Line::whole, "next"}};
  EXPECT_EQ(read_all("12345\n123456\nnext", 5), expected);
}

/// As /dev/zero.
class EndlessBuffer : public std::streambuf {
 public:
  std::uint64_t bytes = 0;

 private:
  int_type underflow() override {
    bytes += sizeof(zeros_);
    setg(zeros_, zeros_, zeros_ + sizeof(zeros_));
    return 0;
  }
  char zeros_[4096] = {};
};

TEST(LineReader, ALineWithoutAnEndIsGivenUp) {
  EndlessBuffer buffer;
  std::istream in(&buffer);
  LineReader reader(in, 10'000);
  std::string text;
  EXPECT_EQ(reader.next(text), Line::endless);
  EXPECT_EQ(reader.number(), 1U);
  EXPECT_LT(buffer.bytes, 1'000'000U);
}

TEST(LineReader, LinesMayCrossItsBuffer) {
  for (const std::size_t length : {65535U, 65536U, 65537U, 200000U}) {
    const std::string line(length, 'x');
    const std::vector<Read> expected{{Line::whole, line}, {Line::whole, "end"}};
    EXPECT_EQ(read_all(line + "\nend", 1 << 20), expected);
    const std::vector<Read> cut{{Line::too_long, line.substr(0, 65530)}, {Line::whole, "end"}};
    EXPECT_EQ(read_all(line + "\nend", 65530), cut);
  }
}

TEST(LineReader, AFailureIsNoEnd) {
  struct FailingBuffer : std::streambuf {
    int_type underflow() override { throw std::runtime_error("disk"); }
  } buffer;
  std::istream in(&buffer);  // which keeps the failure to itself, as file streams do
  LineReader reader(in, 100);
  std::string text;
  (void)test::error_of(ErrorKind::usage, [&] { (void)reader.next(text); });
}

}  // namespace
}  // namespace kiln
