// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A rendered kernel as a file for plain nvcc.
#include "templates/render/export_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/launch/launch_planner.hpp"
#include "templates/launch/tensor_maps.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/operation/typed_operation.hpp"
#include "templates/printable.hpp"
#include "templates/render/struct_text.hpp"

namespace kiln {
namespace {

/// ", then TiledLaunch{.group_m = 8}": what a kernel gets after its first argument.
std::string values_comment(const KernelTemplate& kernel_template, const LaunchValues& values) {
  if (values.count == 0) return "";
  return fmt::format(", then {}",
                     struct_text(kernel_template.launch_struct(),
                                 std::vector<std::int64_t>(values.items.begin(),
                                                           values.items.begin() + values.count)));
}

/// "x, y, rows = 4096, (float) cols = 512, scale": what a kernel gets, with the numbers.
std::string arguments_comment(const std::vector<ArgumentSpec>& args, const Operation& operation,
                              std::span<const std::int64_t> values) {
  const auto is_of_repetition = [&](int slot) {
    return std::cmp_greater_equal(slot, values.size());
  };
  std::vector<std::string> items;
  for (const ArgumentSpec& arg : args) {
    std::string item = argument_text({arg}, operation);
    if (arg.kind == ArgumentSpec::Kind::structure) {
      item = fmt::format("{{{}}}", arguments_comment(arg.members, operation, values));
    } else if (arg.value && !arg.value->names_used().empty() &&
               arg.kind != ArgumentSpec::Kind::choice &&
               std::ranges::none_of(arg.value->names_used(), is_of_repetition)) {
      item +=
          fmt::format(" = {}{}", arg.kind == ArgumentSpec::Kind::workspace ? "workspace + " : "",
                      arg.value->evaluate(values).value_or(0));
    }
    items.push_back(std::move(item));
  }
  return fmt::format("{}", fmt::join(items, ", "));
}

/// What kernels get beside operands and sizes.
std::string scalars_comment(const Operation& operation) {
  std::string text;
  for (const ScalarSpec& scalar : operation.scalars) {
    text += fmt::format("// {} is {} by default\n", scalar.name, scalar_text(scalar.value));
  }
  return text;
}

/// Where the launches of a run use one of the template's.
struct LaunchUses {
  std::size_t first = 0;
  std::int64_t count = 0;        ///< without those that are left out
  std::int64_t repetitions = 0;  ///< with them
  bool varies = false;           ///< from one repetition to another
};

std::vector<LaunchUses> uses_of(const std::vector<LaunchGeometry>& geometry, std::size_t kernels) {
  std::vector<LaunchUses> uses(kernels);
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    LaunchUses& of = uses[geometry[i].kernel_at(i)];
    ++of.repetitions;
    of.varies = of.varies || geometry[i].left_out();
    if (geometry[i].left_out()) continue;
    if (of.count++ == 0) of.first = i;
    of.varies = of.varies || geometry[i] != geometry[of.first];
  }
  return uses;
}

std::string repeat_comment(const LaunchSpec& launch, std::int64_t count) {
  const int together = launch.repeat->launches;
  return fmt::format(
      "//   Repeat {} {} times: repeat_index is 0 to {}, repeat_count is {}\n",
      together == 1 ? "the next launch" : fmt::format("the next {} launches together", together),
      count, count - 1, count);
}

std::string varying_comment(const LaunchSpec& launch) {
  const auto texts = [](const std::vector<Expression>& expressions) {
    std::vector<std::string> list;
    for (const Expression& each : expressions) list.push_back(each.text());
    return fmt::format("{}", fmt::join(list, ", "));
  };
  std::string text = fmt::format("//     (of the first repetition; grid {}  block {}",
                                 texts(launch.grid), texts(launch.block));
  if (launch.smem) text += fmt::format("  dynamic shared memory {} bytes", launch.smem->text());
  if (launch.when) text += fmt::format("; only if {}", launch.when->text());
  return text + ")\n";
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
    text += fmt::format(
        "//     the next kernel argument is this tensor map (a CUtensorMap), passed by value:\n"
        "//       {}\n",
        describe(geometry.maps.items[i]));
  }
  if (geometry.overlaps) {
    text +=
        "//     (set cudaLaunchAttributeProgrammaticStreamSerialization, so that this launch may "
        "overlap with the previous launch)\n";
  }
  if (geometry.cooperative) {
    text +=
        "//     (launch with cudaLaunchCooperativeKernel, or set cudaLaunchAttributeCooperative)\n";
  }
  if (geometry.smem_bytes > static_cast<std::uint32_t>(smem_static)) {
    text += fmt::format(
        "//     (before the launch, set cudaFuncAttributeMaxDynamicSharedMemorySize of the kernel "
        "to {})\n",
        geometry.smem_bytes);
  }
  return text;
}

/// With -arch alone, code for all devices of that generation is made as well, which the
/// instructions of an architecture like sm_90a are refused in.
std::string nvcc_command(std::string_view arch, const std::string& file) {
  const std::string_view number = arch.substr(arch.find('_') + 1);
  return fmt::format("nvcc -std=c++20 -gencode arch=compute_{0},code=sm_{0} -c {1}", number,
                     shell_word(file));
}

}  // namespace

std::string export_text(const RenderedKernel& rendered, const KernelTemplate& kernel_template,
                        const Problem& problem, const DeviceLimits& limits) {
  return export_text_as(kernel_template.name() + ".cu", rendered, kernel_template, problem, limits);
}

std::string export_text_as(const std::string& file, const RenderedKernel& rendered,
                           const KernelTemplate& kernel_template, const Problem& problem,
                           const DeviceLimits& limits) {
  const LaunchPlanner planner(kernel_template, problem, limits);
  const auto geometry = planner.geometry(rendered.config);
  const Operation& operation = *find_operation(kernel_template.operation());
  const TypedOperation* const typed = find_typed_operation(operation.name);
  std::string text = fmt::format(
      "// Compile with\n"
      "//   {}\n"
      "// Launch for {} {}{}:\n",
      nvcc_command(limits.arch, file), problem.operation, problem.sizes_text(),
      typed == nullptr ? ""
                       : fmt::format(", with one kiln::{} as the argument{}", typed->argument,
                                     values_comment(kernel_template, geometry.front().values)));
  std::vector<std::int64_t> values;
  if (typed == nullptr) {
    // Refuses what has no value or does not fit its type.
    static_cast<void>(planner.argument_plans(rendered.config));
    values = kernel_template.space(problem, limits).bindings(rendered.config);
  }
  const std::vector<LaunchSpec>& launches = kernel_template.launches();
  const auto uses = uses_of(geometry, launches.size());
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].repeat) text += repeat_comment(launches[i], uses[i].repetitions);
    if (uses[i].count == 0) continue;
    text +=
        launch_comment(geometry[uses[i].first], rendered.name_expressions[i], limits.smem_static);
    if (uses[i].varies) text += varying_comment(launches[i]);
    if (typed != nullptr) continue;
    text += fmt::format("//     arguments {}\n",
                        arguments_comment(launches[i].args, operation, values));
  }
  for (const ConstantFill& fill : kernel_template.constant_fills(problem)) {
    text += fmt::format("// Before the launch, copy {} to {} ({} bytes)\n",
                        operation.operands[fill.operand].name, fill.array, fill.bytes);
  }
  text += scalars_comment(operation);
  const auto workspace = planner.workspace_bytes(rendered.config);
  for (const ScratchPlan& scratch : planner.scratch(rendered.config)) {
    text += fmt::format("// Scratch array {}: {} bytes, at byte {} of the workspace\n",
                        scratch.name, scratch.bytes, scratch.offset);
  }
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
