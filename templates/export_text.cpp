// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A rendered kernel as a file for plain nvcc.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "templates/renderer.hpp"
#include "templates/tensor_maps.hpp"

namespace kiln {
namespace {

/// ", then GemmTiledLaunch{.group_m = 8}": what a kernel gets after its first argument.
std::string values_comment(const KernelTemplate& kernel_template, const LaunchValues& values) {
  if (values.count == 0) return "";
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < values.count; ++i) {
    fields.push_back(
        fmt::format(".{} = {}", kernel_template.launch_fields()[i].name, values.items[i]));
  }
  return fmt::format(", then {}{{{}}}", kernel_template.launch_type(), fmt::join(fields, ", "));
}

std::string launch_comment(const LaunchGeometry& geometry, const std::string& name,
                           int smem_static) {
  std::string text = fmt::format("//   {}\n//     grid {}  block {}", name,
                                 fmt::join(geometry.grid, " x "), fmt::join(geometry.block, " x "));
  if (geometry.cluster != std::array<std::uint32_t, 3>{1, 1, 1}) {
    text += fmt::format("  cluster {}", fmt::join(geometry.cluster, " x "));
  }
  text += fmt::format("  dynamic shared memory {} bytes\n", geometry.smem_bytes);
  for (std::size_t i = 0; i < geometry.maps.count; ++i) {
    text += fmt::format("//     then by value the tensor {} of\n//       {}\n",
                        i == 0 ? "map" : "map after it,", describe(geometry.maps.items[i]));
  }
  if (geometry.overlaps) {
    text +=
        "//     (it may begin before others end: "
        "cudaLaunchAttributeProgrammaticStreamSerialization)\n";
  }
  if (geometry.smem_bytes > static_cast<std::uint32_t>(smem_static)) {
    text +=
        "//     (first raise cudaFuncAttributeMaxDynamicSharedMemorySize of the kernel to that)\n";
  }
  return text;
}

}  // namespace

std::string export_text(const RenderedKernel& rendered, const KernelTemplate& kernel_template,
                        const Problem& problem, const DeviceLimits& limits) {
  const auto geometry = kernel_template.geometry(rendered.config, problem, limits);
  std::string text = fmt::format(
      "// Compile with\n"
      "//   nvcc -std=c++20 -arch={} -c {}.cu\n"
      "// Launch for {} {}, with one kiln::GemmArgs as the argument{}:\n",
      limits.arch, kernel_template.name(), problem.operation, problem.sizes_text(),
      values_comment(kernel_template, geometry.front().values));
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    if (geometry[i].left_out()) continue;
    text += launch_comment(geometry[i], rendered.name_expressions[i], limits.smem_static);
  }
  const auto workspace = kernel_template.workspace_bytes(rendered.config, problem, limits);
  if (workspace > 0) text += fmt::format("// Workspace: {} bytes of device memory\n", workspace);
  text += fmt::format("// Rendered digest {}\n\n{}", rendered.digest, rendered.text);

  // Taking the address instantiates a kernel whatever the annotations of its parameter.
  text += "#line 1 \"instances\"\nnamespace {\n";
  for (std::size_t i = 0; i < rendered.name_expressions.size(); ++i) {
    text += fmt::format("[[maybe_unused]] auto* const kiln_kernel_{} = &{};\n", i,
                        rendered.name_expressions[i]);
  }
  return text + "}  // namespace\n";
}

}  // namespace kiln
