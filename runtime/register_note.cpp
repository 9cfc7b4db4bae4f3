// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/register_note.hpp"

#include <fmt/format.h>

#include <charconv>

namespace kiln {
namespace {

constexpr std::string_view kBegin = "\n// registers per thread: ";

}  // namespace

std::string register_note(int registers) {
  return fmt::format("{}{}\n", kBegin, registers);
}

int noted_registers(std::string_view ptx) {
  const std::size_t at = ptx.rfind(kBegin);
  if (at == std::string_view::npos) return 0;
  const std::string_view number = ptx.substr(at + kBegin.size());
  int registers = 0;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), registers);
  return error == std::errc{} && registers > 0 && registers <= 255 ? registers : 0;
}

}  // namespace kiln
