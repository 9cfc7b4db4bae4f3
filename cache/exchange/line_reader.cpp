// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/line_reader.hpp"

#include <istream>

#include "kiln/error.hpp"

namespace kiln {

bool LineReader::fill() {
  constexpr std::size_t kBytes = 64 << 10;
  if (!in_.good()) return false;
  // One read of the source at a time: what it gave before it failed is not lost.
  const bool ended = in_.peek() == std::istream::traits_type::eof();
  if (in_.bad()) throw Error(ErrorKind::usage, "Kiln cannot read the rest of the input");
  if (ended) return false;
  buffer_.resize(kBytes);
  const std::streamsize count = in_.readsome(buffer_.data(), static_cast<std::streamsize>(kBytes));
  rest_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(count));
  return count > 0;
}

LineReader::Line LineReader::next(std::string& text) {
  constexpr std::size_t kMostSkipped = 64;  // times the longest line
  text.clear();
  bool too_long = false;
  std::size_t bytes = 0;
  if (rest_.empty() && !fill()) return Line::none;
  do {
    const std::size_t end = rest_.find('\n');
    const std::string_view part = rest_.substr(0, end);
    const std::size_t room = most_bytes_ - text.size();
    text += part.substr(0, room);
    too_long = too_long || part.size() > room;
    bytes += part.size();
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (end != std::string_view::npos) break;
    if (bytes / kMostSkipped > most_bytes_) {
      ++number_;
      return Line::endless;
    }
  } while (fill());
  ++number_;
  return too_long ? Line::too_long : Line::whole;
}

}  // namespace kiln
