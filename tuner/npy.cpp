// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

#include "kiln/error.hpp"

namespace kiln {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kNpyVersionAt = 6;
constexpr std::size_t kNpyLengthAt = 8;
constexpr std::size_t kMostNpyRank = 64;

[[noreturn]] void refuse_npy(const std::string& path, std::string_view why) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", path, why));
}

[[noreturn]] void refuse_header(const std::string& path, std::string_view what) {
  refuse_npy(path, fmt::format("the header of this .npy file is broken: {}. Next: write the file "
                               "again, with numpy.save",
                               what));
}

/// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::string_view text) : path_(path), left_(text) {}

  void read(NpyHeader& header) {
    need('{', "it does not begin with '{'");
    while (!take('}')) {
      const std::string_view key = quoted();
      need(':', "a ':' is missing");
      if (key == "descr") {
        once(has_type_, key);
        if (left_.starts_with('[') || left_.starts_with('(')) {
          refuse_npy(path_,
                     "the elements are structures, which no operand has. Next: save each field as "
                     "an array of its own");
        }
        header.type = quoted();
      } else if (key == "fortran_order") {
        once(has_order_, key);
        is_fortran_ = boolean();
      } else if (key == "shape") {
        once(has_shape_, key);
        header.shape = shape();
      } else {
        refuse_header(path_, fmt::format("it has the unknown key '{}'", key));
      }
      if (!take(',') && !left_.starts_with('}')) refuse_header(path_, "a ',' is missing");
    }
    if (!left_.empty()) refuse_header(path_, "something follows the '}'");
    if (!has_type_ || !has_order_ || !has_shape_) {
      refuse_header(path_, "it lacks 'descr', 'fortran_order' or 'shape'");
    }
    if (is_fortran_ && header.shape.size() > 1) {
      refuse_npy(path_,
                 "the array is in Fortran order (column-major), but operands are row-major. Next: "
                 "save numpy.ascontiguousarray(array)");
    }
  }

 private:
  void skip() {
    const auto begin = left_.find_first_not_of(" \t\r\n");
    left_.remove_prefix(std::min(begin, left_.size()));
  }
  [[nodiscard]] bool take(char c) {
    skip();
    if (!left_.starts_with(c)) return false;
    left_.remove_prefix(1);
    skip();
    return true;
  }
  void need(char c, std::string_view otherwise) {
    if (!take(c)) refuse_header(path_, otherwise);
  }
  void once(bool& seen, std::string_view key) const {
    if (seen) refuse_header(path_, fmt::format("it has '{}' twice", key));
    seen = true;
  }

  [[nodiscard]] std::string_view quoted() {
    skip();
    const char quote = left_.empty() ? '\0' : left_.front();
    const auto end = quote == '\'' || quote == '"' ? left_.find(quote, 1) : std::string_view::npos;
    if (end == std::string_view::npos) refuse_header(path_, "a quoted word is missing");
    const auto word = left_.substr(1, end - 1);
    left_.remove_prefix(end + 1);
    skip();
    return word;
  }

  [[nodiscard]] bool boolean() {
    for (const auto& [word, value] :
         {std::pair{std::string_view("True"), true}, std::pair{std::string_view("False"), false}}) {
      if (!left_.starts_with(word)) continue;
      left_.remove_prefix(word.size());
      return value;
    }
    refuse_header(path_, "'fortran_order' is neither True nor False");
  }

  [[nodiscard]] std::vector<std::int64_t> shape() {
    need('(', "'shape' is not a list of numbers in parentheses");
    std::vector<std::int64_t> extents;
    while (!take(')')) {
      std::int64_t extent = 0;
      const char* const last = left_.data() + left_.size();
      const auto [end, status] = std::from_chars(left_.data(), last, extent);
      if (status != std::errc{} || extent < 0 || extents.size() == kMostNpyRank) {
        refuse_header(path_, "'shape' is not a list of numbers in parentheses");
      }
      left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
      extents.push_back(extent);
      if (!take(',') && !left_.starts_with(')')) refuse_header(path_, "a ',' is missing");
    }
    return extents;
  }

  const std::string& path_;
  std::string_view left_;
  bool has_type_ = false, has_order_ = false, has_shape_ = false, is_fortran_ = false;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

struct NpyType {
  DType type;
  std::string_view name;  ///< without its byte order
};
constexpr std::array<NpyType, 19> kNpyTypes{{{DType::f32, "f4"},
                                             {DType::f64, "f8"},
                                             {DType::f16, "f2"},
                                             {DType::bf16, "V2"},
                                             {DType::tf32, "f4"},
                                             {DType::e4m3, "V1"},
                                             {DType::e5m2, "V1"},
                                             {DType::e4m3, "u1"},
                                             {DType::e5m2, "u1"},
                                             {DType::s8, "i1"},
                                             {DType::s16, "i2"},
                                             {DType::s32, "i4"},
                                             {DType::s64, "i8"},
                                             {DType::u8, "u1"},
                                             {DType::u16, "u2"},
                                             {DType::u32, "u4"},
                                             {DType::u64, "u8"},
                                             {DType::cf32, "c8"},
                                             {DType::cf64, "c16"}}};

}  // namespace

bool is_npy(std::string_view bytes) {
  return bytes.starts_with(kNpyMagic);
}

NpyHeader parse_npy(const std::string& path, std::string_view bytes) {
  if (bytes.size() < kNpyLengthAt + 4) refuse_header(path, "the file ends within it");
  const int major = static_cast<unsigned char>(bytes[kNpyVersionAt]);
  if (major < 1 || major > 3) {
    refuse_npy(path, fmt::format("this .npy file has the version {}, but Kiln reads the versions 1 "
                                 "to 3. Next: write the file again, with numpy.save",
                                 major));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kNpyLengthAt + length_bytes;
  const std::size_t length = little_endian(bytes.substr(kNpyLengthAt, length_bytes));
  if (length > bytes.size() - begin) {
    refuse_header(path, begin + length > static_cast<std::size_t>(kMostNpyHeader)
                            ? "it is longer than 1 MiB"
                            : "the file ends within it");
  }
  NpyHeader header;
  header.data_at = static_cast<std::int64_t>(begin + length);
  HeaderReader(path, bytes.substr(begin, length)).read(header);
  if (header.type.starts_with('>')) {
    refuse_npy(path, fmt::format("the elements ({}) are big-endian. Next: save "
                                 "array.astype(array.dtype.newbyteorder('<'))",
                                 header.type));
  }
  return header;
}

bool is_type_of(std::string_view npy_type, DType type) {
  if (npy_type.empty()) return false;
  const std::string_view order = "<|=";
  const auto name =
      order.find(npy_type.front()) == std::string_view::npos ? npy_type : npy_type.substr(1);
  if (name == "b1") return type == DType::u8;
  return std::ranges::any_of(
      kNpyTypes, [&](const NpyType& each) { return each.type == type && each.name == name; });
}

std::string npy_type_of(DType type) {
  const auto found = std::ranges::find(kNpyTypes, type, &NpyType::type);
  if (found == kNpyTypes.end()) return std::string(to_string(type));
  return fmt::format("{}{}", found->name.ends_with('1') && found->name.size() == 2 ? '|' : '<',
                     found->name);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

}  // namespace kiln
