// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kiln {

/// Lines of a stream; no more than one line and a buffer are ever in memory, however long the lines
/// are.
class LineReader {
 public:
  enum class Line : std::uint8_t { whole, too_long, endless, none };

  LineReader(std::istream& in, std::size_t most_bytes) : in_(in), most_bytes_(most_bytes) {}

  /// The next line without its terminator, which the last one need not have; for one that is too
  /// long, its beginning. `endless`: so long that this is no file of lines, as /dev/zero; nothing
  /// more is read of it. `none` at the end of the input. Throws Error(usage) when reading fails,
  /// which is not the end: a stream with exceptions(badbit) throws what its buffer threw.
  [[nodiscard]] Line next(std::string& text);
  /// Number of the line that next() returned last, from 1.
  [[nodiscard]] std::uint64_t number() const { return number_; }

 private:
  [[nodiscard]] bool fill();

  std::istream& in_;
  std::size_t most_bytes_;
  std::uint64_t number_ = 0;
  std::string buffer_;
  std::string_view rest_;  ///< of the buffer
};

}  // namespace kiln
