// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/packed_text.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "kiln/error.hpp"

namespace kiln {
namespace {

constexpr std::size_t kChunkBytes = 1 << 18;

struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};
using PackedFile = std::unique_ptr<std::remove_pointer_t<gzFile>, CloseFile>;

[[noreturn]] void refuse_file(const std::filesystem::path& path, std::string_view fault) {
  throw Error(ErrorKind::usage, fmt::format("{}: {}", path.string(), fault));
}

std::string reason_of(gzFile file) {
  int code = Z_OK;
  const char* const text = gzerror(file, &code);
  if (code == Z_ERRNO) return std::generic_category().message(errno);
  if (code == Z_BUF_ERROR) {
    return "the compressed file ends early; copy or download it again";
  }
  return fmt::format("the compressed data is damaged ({}); copy or download the file again", text);
}

}  // namespace

std::string read_packed_text(const std::filesystem::path& path, std::size_t most_bytes) {
  // zlib opens a directory, and fails only when it reads.
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    refuse_file(path, "this is a directory; name a file");
  }
  const PackedFile file(gzopen(path.c_str(), "rb"));
  if (!file) {
    refuse_file(path,
                fmt::format("cannot open the file: {}", std::generic_category().message(errno)));
  }
  std::string text;
  for (;;) {
    const std::size_t used = text.size();
    text.resize(used + kChunkBytes);
    errno = 0;
    const int count = gzread(file.get(), text.data() + used, static_cast<unsigned>(kChunkBytes));
    if (count < 0) refuse_file(path, reason_of(file.get()));
    text.resize(used + static_cast<std::size_t>(count));
    if (text.size() > most_bytes) {
      refuse_file(path,
                  fmt::format("the text has more than {} MiB; split the file", most_bytes >> 20U));
    }
    if (static_cast<std::size_t>(count) < kChunkBytes) break;
  }
  int code = Z_OK;
  gzerror(file.get(), &code);
  if (code != Z_OK && code != Z_STREAM_END) refuse_file(path, reason_of(file.get()));
  return text;
}

}  // namespace kiln
