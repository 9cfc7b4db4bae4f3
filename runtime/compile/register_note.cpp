// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/register_note.hpp"

#include <fmt/format.h>

#include <charconv>

namespace kiln {
namespace {

constexpr std::string_view kBegin = "\n// registers per thread: ";
constexpr std::string_view kOf = " in ";

}  // namespace

std::string register_note(const KernelRegisters& kernels) {
  std::string note;
  for (const auto& [name, registers] : kernels) {
    note += fmt::format("{}{}{}{}", kBegin, registers, kOf, name);
  }
  return note + "\n";
}

KernelRegisters noted_registers(std::string_view ptx) {
  KernelRegisters kernels;
  for (std::size_t at = ptx.find(kBegin); at != std::string_view::npos;
       at = ptx.find(kBegin, at + 1)) {
    const std::string_view rest = ptx.substr(at + kBegin.size());
    const std::string_view line = rest.substr(0, rest.find('\n'));
    int registers = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), registers);
    const std::string_view name = line.substr(static_cast<std::size_t>(end - line.data()));
    const bool sound = error == std::errc{} && registers > 0 && registers <= 255;
    if (sound && name.starts_with(kOf)) {
      kernels.insert_or_assign(std::string(name.substr(kOf.size())), registers);
    }
  }
  return kernels;
}

}  // namespace kiln
