// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace kiln {

/// Lines of a stream, of which no more than one and a buffer are ever in memory, however long they
/// are.
class LineReader {
 public:
  enum class Line : std::uint8_t { whole, too_long, none };

  LineReader(std::istream& in, std::size_t most_bytes) : in_(in), most_bytes_(most_bytes) {}

  /// The next line without its end, which the last one need not have; of one that is too long the
  /// beginning. `none` at the end of the input. Throws Error(usage) when reading fails, which is
  /// not the end: a stream with exceptions(badbit) throws what its buffer threw.
  [[nodiscard]] Line next(std::string& text);
  /// Of the line that next() gave last, from 1.
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
