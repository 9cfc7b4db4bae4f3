// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "tests/support/fake_device.hpp"

namespace kiln::testing {
namespace {

constexpr std::string_view kMagic = "fake-cubin ";

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace

std::string FakeCubin::text() const {
  std::string out = fmt::format("{}{}\ntime_ns {}\n", kMagic, behaviour, time_ns);
  for (const std::string& name : names) out += fmt::format("name {}\n", name);
  return out;
}

std::vector<std::byte> FakeCubin::bytes() const {
  const std::string content = text();
  std::vector<std::byte> out(content.size());
  std::memcpy(out.data(), content.data(), content.size());
  return out;
}

std::optional<FakeCubin> FakeCubin::parse(std::span<const std::byte> bytes) {
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!rest.starts_with(kMagic)) return std::nullopt;
  FakeCubin cubin;
  cubin.behaviour = take_line(rest).substr(kMagic.size());
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    if (line.starts_with("time_ns ")) {
      const std::string_view number = line.substr(8);
      std::from_chars(number.data(), number.data() + number.size(), cubin.time_ns);
    } else if (line.starts_with("name ")) {
      cubin.names.emplace_back(line.substr(5));
    }
  }
  return cubin;
}

}  // namespace kiln::testing
