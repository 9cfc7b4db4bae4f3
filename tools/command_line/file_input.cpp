// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/file_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "kiln/error.hpp"

namespace kiln::tools {
namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw Error(ErrorKind::usage,
              fmt::format("{}: {}", name, std::generic_category().message(errno)));
}

}  // namespace

FileInput::FileInput(const std::string& path)
    : std::istream(nullptr), name_(path == "-" ? "standard input" : path) {
  file_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0) refuse(name_);
  rdbuf(this);
  exceptions(badbit);  // hands on what underflow() throws
}

FileInput::~FileInput() {
  if (file_ > STDIN_FILENO) ::close(file_);
}

std::streambuf::int_type FileInput::underflow() {
  ssize_t count = 0;
  do {
    count = ::read(file_, buffer_.data(), buffer_.size());
  } while (count < 0 && errno == EINTR);
  if (count < 0) refuse(name_);
  if (count == 0) return std::streambuf::traits_type::eof();
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return std::streambuf::traits_type::to_int_type(buffer_[0]);
}

std::string whole_file(const std::string& path, std::size_t most_bytes, std::string_view next) {
  FileInput input(path);
  std::string text(most_bytes + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() <= most_bytes) return text;
  throw Error(ErrorKind::usage, fmt::format("{}: the input is larger than {} MiB; {}", input.name(),
                                            most_bytes >> 20, next));
}

}  // namespace kiln::tools
