// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/code_digest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <span>

#include "templates/digest.hpp"
#include "templates/launch/tensor_maps.hpp"
#include "templates/operation/operation.hpp"
#include "tuner/compile/cubin_digest.hpp"
#include "tuner/compile/ptx_digest.hpp"

namespace kiln {

std::string code_digest(CodeKind kind, std::span<const std::byte> code,
                        const std::vector<std::string>& kernels) {
  if (kind == CodeKind::cubin) return cubin_digest(code, kernels);
  return ptx_digest({reinterpret_cast<const char*>(code.data()), code.size()}, kernels);
}

namespace {

/// What a patch puts into an argument, by its name.
std::string name_of(const ArgumentPatch& patch, const ProblemCase& tuned) {
  if (patch.source == ArgumentPatch::Source::scalar) {
    const Operation* const operation = find_operation(tuned.problem.operation);
    if (operation != nullptr && patch.index < operation->scalars.size()) {
      return operation->scalars[patch.index].name;
    }
  } else if (patch.source == ArgumentPatch::Source::workspace) {
    return patch.index == 0 ? "workspace" : fmt::format("scratch {}", patch.index);
  } else if (patch.index < tuned.operands.size()) {
    return tuned.operands[patch.index].name;
  }
  return fmt::format("#{}", patch.index);
}

std::string describe(const ArgumentPlan& argument, const ProblemCase& tuned) {
  std::string text = fmt::format("argument {:02x} at {}\n", fmt::join(argument.image, ""),
                                 fmt::join(argument.parameters, ","));
  for (const ArgumentPatch& patch : argument.patches) {
    text +=
        fmt::format("patch {} {} {} {} {}\n", static_cast<int>(patch.source),
                    static_cast<int>(patch.type), name_of(patch, tuned), patch.at, patch.offset);
  }
  return text;
}

}  // namespace

std::string launch_signature(const EvaluationJob& job, const ProblemCase& tuned) {
  std::string text;
  for (std::size_t i = 0; i < job.geometry.size(); ++i) {
    text += fmt::format("case workspace={}\n", job.workspace_bytes[i]);
    if (!job.scratch.empty()) {
      for (const ScratchPlan& scratch : job.scratch[i]) {
        text += fmt::format("scratch {}\n", scratch.bytes);
      }
    }
    if (!job.constants.empty()) {
      for (const ConstantFill& fill : job.constants[i]) {
        const ArgumentPatch source{.index = static_cast<std::uint16_t>(fill.operand)};
        text += fmt::format("constant {} {} {}\n", fill.array, name_of(source, tuned), fill.bytes);
      }
    }
    for (std::size_t j = 0; j < job.geometry[i].size(); ++j) {
      const LaunchGeometry& launch = job.geometry[i][j];
      const std::span<const std::int32_t> values(launch.values.items.data(), launch.values.count);
      text +=
          fmt::format("launch{} grid={} block={} cluster={} smem={} values={}{}{}{}\n",
                      launch.kernel < 0 ? "" : fmt::format(" {}", launch.kernel),
                      fmt::join(launch.grid, ","), fmt::join(launch.block, ","),
                      fmt::join(launch.cluster, ","), launch.smem_bytes, fmt::join(values, ","),
                      launch.overlaps ? " overlaps" : "", launch.cooperative ? " cooperative" : "",
                      launch.allowed == 0 ? "" : fmt::format(" allowed={}", launch.allowed));
      const ArgumentPlan& argument = job.arguments[i][j];
      if (!argument.parameters.empty()) text += describe(argument, tuned);
      for (std::size_t map = 0; map < launch.maps.count; ++map) {
        text += describe(launch.maps.items[map]) + "\n";
      }
    }
  }
  return text;
}

std::string run_digest(CodeKind kind, const EvaluationJob& job, const ProblemCase& tuned) {
  const std::string code = code_digest(kind, job.unit.cubin, job.unit.names);
  if (code.empty()) return "";
  return DigestBuilder().add(code).add(launch_signature(job, tuned)).hex();
}

}  // namespace kiln
