// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>

namespace kiln::tools {

/// A file, or standard input for "-", as a stream that tells an error from the end: reading what
/// cannot be read (a directory, a failing disk) throws Error(usage) with the reason, where the
/// standard library's file streams just end.
class FileInput : private std::streambuf, public std::istream {
 public:
  /// Throws Error(usage) when the file cannot be opened.
  explicit FileInput(const std::string& path);
  FileInput(const FileInput&) = delete;
  FileInput& operator=(const FileInput&) = delete;
  ~FileInput() override;
  /// For messages.
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::streambuf::int_type underflow() override;

  std::string name_;
  int file_ = -1;
  std::array<char, 1 << 16> buffer_{};
};

/// All of a file, or of standard input for "-". Throws Error(usage) where it has more than
/// `most_bytes`, with `next` as advice, and where it cannot be read.
[[nodiscard]] std::string whole_file(const std::string& path, std::size_t most_bytes,
                                     std::string_view next);

}  // namespace kiln::tools
