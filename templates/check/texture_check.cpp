// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/texture_check.hpp"

#include <fmt/format.h>

#include "templates/render/code_scanner.hpp"
#include "templates/source_error.hpp"

namespace kiln {
namespace {

std::string line_of(std::string_view source, int number) {
  while (--number > 0) source.remove_prefix(source.find('\n') + 1);
  return std::string(source.substr(0, source.find_first_of("\r\n")));
}

}  // namespace

std::string texture_advice(std::string_view type) {
  return fmt::format(
      "{}: Kiln does not support textures and surfaces. Next: pass the array to the kernel as an "
      "operand. In the kernel, write code for the texture's border handling and interpolation",
      type);
}

void refuse_textures(const std::string& file, std::string_view source, std::string_view kernel) {
  if (source.find("Object_t") == std::string_view::npos &&
      source.find("CU") == std::string_view::npos) {
    return;  // mostly, and finding kernels takes longer
  }
  const std::string_view plain = kernel.substr(kernel.rfind(':') + 1);
  for (const ScannedKernel& each : find_kernels(source)) {
    if (each.name != plain || each.texture.empty()) continue;
    const std::string line = line_of(source, each.texture_line);
    const auto at = line.find(each.texture);
    const SourcePlace place{file, each.texture_line, static_cast<int>(at) + 1, line};
    throw_at(place, each.texture, 0, texture_advice(each.texture));
  }
}

}  // namespace kiln
