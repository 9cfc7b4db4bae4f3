// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/profiles/device_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <fstream>

#include "kiln/error.hpp"
#include "runtime/model/device_profile_keys.hpp"

namespace kiln {

namespace {

constexpr std::string_view kEnding = ".toml";

/// A TOML basic string.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    if (letter == '"' || letter == '\\') {
      result += '\\';
      result += letter;
    } else if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\u{:04X}", code);
    } else {
      result += letter;
    }
  }
  return result + '"';
}

/// Collects the text of a profile.
class ProfileWriter {
 public:
  void section(std::string_view name, std::string_view comment) {
    text_ += fmt::format("\n# {}\n[{}]\n", comment, name);
  }
  void value(std::string_view key, const std::string& text, std::string_view comment) {
    line(key, quoted(text), comment);
  }
  template <class Number>
  void value(std::string_view key, const Number& number, Range, std::string_view comment) {
    // The shortest digits that read back as the same number.
    line(key, fmt::format("{}", number), comment);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void line(std::string_view key, std::string_view value, std::string_view comment) {
    text_ += fmt::format("{} = {}", key, value);
    if (!comment.empty()) text_ += fmt::format("  # {}", comment);
    text_ += '\n';
  }
  std::string text_;
};

std::string read_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMostBytes) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{} is not a device profile: the file is larger than {} MiB. Next: make a "
                    "profile on a machine with a GPU: kiln doctor --save-profile mine.toml",
                    path, kMostBytes >> 20));
  }
  if (!file.is_open() || file.bad() || text.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("cannot read the device profile {}. Next: check the path, or make a "
                            "profile on a machine with a GPU: kiln doctor --save-profile {}",
                            path, path));
  }
  return text;
}

}  // namespace

std::string profile_text(const DeviceProfile& profile) {
  ProfileWriter writer;
  visit_profile(profile, writer);
  return writer.take();
}

DeviceProfile profile_of(const std::string& model) {
  if (model.find('/') != std::string::npos || model.ends_with(kEnding)) {
    return read_profile(read_file(model), model);
  }
  auto profile = built_in_profile(model);
  if (!profile) {
    throw Error(ErrorKind::device,
                fmt::format("there is no emulated GPU '{}'. Next: use {}, or the path of a device "
                            "profile (./mine.toml).",
                            model, fmt::join(built_in_profiles(), " or ")));
  }
  return std::move(*profile);
}

}  // namespace kiln
