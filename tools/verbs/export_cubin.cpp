// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/export_cubin.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>

#include "kiln/error.hpp"
#include "templates/check/compile_diagnosis.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/launch/tensor_maps.hpp"
#include "templates/operation/operation.hpp"

namespace kiln::tools {

ExportedCubin compile_for_export(CachingCompiler& compiler, const KernelTemplate& kernel_template,
                                 const RenderedKernel& rendered, const std::string& arch,
                                 const std::string& tuned_with) {
  CompileRequest request;
  request.source = rendered.text;
  request.source_name = rendered.template_name + ".cu";
  request.source_digest = rendered.digest;
  request.name_expressions = rendered.name_expressions;
  request.arch = arch;
  if (!tuned_with.empty()) {
    if (auto found = compiler.stored(request, tuned_with)) return {std::move(*found), tuned_with};
  }
  ExportedCubin cubin{compiler.compile(request), compiler.identity()};
  if (!cubin.code.ok) {
    throw Error(ErrorKind::compiler,
                fmt::format("{} {} does not compile for {}: {}", rendered.template_name,
                            rendered.config.canonical(), arch,
                            explain_compile_log(kernel_template, cubin.code.log)));
  }
  return cubin;
}

void add_launches(Json& document, const KernelTemplate& kernel_template,
                  const RenderedKernel& rendered, const Problem& problem,
                  const DeviceLimits& limits, const ExportedCubin* cubin) {
  const LaunchPlanner planner(kernel_template, problem, limits);
  const auto geometry = planner.geometry(rendered.config);
  Json launches = Json::array();
  for (std::size_t i = 0; i < geometry.size(); ++i) {
    if (geometry[i].left_out()) continue;
    Json launch{{"kernel", rendered.name_expressions[i]}};
    if (cubin != nullptr) launch["symbol"] = cubin->code.lowered_names.at(i);
    launch["grid"] = geometry[i].grid;
    launch["block"] = geometry[i].block;
    launch["cluster"] = geometry[i].cluster;
    launch["smem_bytes"] = geometry[i].smem_bytes;
    launch["cooperative"] = geometry[i].cooperative;
    launch["overlaps"] = geometry[i].overlaps;
    Json maps = Json::array();
    for (std::size_t map = 0; map < geometry[i].maps.count; ++map) {
      maps.push_back(describe(geometry[i].maps.items[map]));
    }
    launch["tensor_maps"] = std::move(maps);
    launches.push_back(std::move(launch));
  }
  document["launches"] = std::move(launches);
  Json constants = Json::array();
  const Operation& operation = *find_operation(kernel_template.operation());
  for (const ConstantFill& fill : kernel_template.constant_fills(problem)) {
    constants.push_back({{"array", fill.array},
                         {"operand", operation.operands[fill.operand].name},
                         {"bytes", fill.bytes}});
  }
  document["constants"] = std::move(constants);
  document["workspace_bytes"] = planner.workspace_bytes(rendered.config);
}

}  // namespace kiln::tools
