// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernel_builder.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "templates/compile_diagnosis.hpp"

namespace kiln::detail {
namespace {

/// After a sticky fault every candidate fails alike, so it must not count against this one.
void require_living_device(const DeviceStatus& status) {
  if (!status.sticky) return;
  throw Error(ErrorKind::device,
              fmt::format("the device is lost to this process, which must be restarted: {}",
                          status.message));
}

}  // namespace

KernelBuilder::KernelBuilder(const Catalog& catalog, Device& device, CachingCompiler& compiler)
    : catalog_(catalog), device_(device), compiler_(compiler) {}

std::shared_ptr<const LoadedModule> KernelBuilder::load_module(
    const KernelTemplate& kernel_template, const CompileResult& compiled, std::string& failure) {
  failure.clear();
  if (!compiled.ok) {
    failure =
        fmt::format("it does not compile: {}", explain_compile_log(kernel_template, compiled.log));
    return nullptr;
  }
  failure = why_wrong_parameters(kernel_template, compiled.lowered_names);
  if (!failure.empty()) return nullptr;
  DeviceStatus status;
  std::shared_ptr<const LoadedModule> module =
      device_.load(compiled.cubin, compiled.lowered_names, status);
  if (!module) {
    require_living_device(status);
    failure = fmt::format("it cannot be loaded: {}", status.message);
  }
  return module;
}

KernelBuilder::Loaded KernelBuilder::find_module(const KernelTemplate& kernel_template,
                                                 const RenderedKernel& rendered,
                                                 const std::string& toolkit, std::string& failure) {
  CompileRequest request;
  request.source = rendered.text;
  request.source_name = rendered.template_name + ".cu";
  request.source_digest = rendered.digest;
  request.name_expressions = rendered.name_expressions;
  request.arch = device_.info().limits.arch;
  request.code = device_.info().code;
  // The very code that was measured, if it is still there, whatever compiler is installed now; and
  // no compiler needs to be loaded to find it. What the device refuses counts as not there.
  if (!toolkit.empty()) {
    if (const auto found = compiler_.stored(request, toolkit)) {
      if (auto module = load_module(kernel_template, *found, failure))
        return {std::move(module), toolkit, {}};
    }
  }
  const CompileResult compiled = compiler_.compile(request);
  auto module = load_module(kernel_template, compiled, failure);
  if (!module && compiled.from_store) {
    module = load_module(kernel_template, compiler_.compile_afresh(request), failure);
  }
  return {std::move(module), compiler_.identity(), {}};
}

KernelBuilder::Loaded* KernelBuilder::load(const Choice& choice, const Problem& problem,
                                           std::string& failure) {
  // Sizes never enter the code: what was loaded for one size serves all of its kind.
  const std::string code = fmt::format("{} | {} | {}", choice.kernel_template->name(),
                                       choice.config.canonical(), problem.kind_text());
  const auto known = modules_.find(code);
  if (known != modules_.end()) return &known->second;
  const RenderedKernel rendered =
      render(catalog_, *choice.kernel_template, choice.config, problem, device_.info().limits);
  Loaded loaded = find_module(*choice.kernel_template, rendered, choice.toolkit, failure);
  if (!loaded.module) return nullptr;
  loaded.prepared_bytes.resize(loaded.module->functions().size(), 0);
  return &modules_.emplace(code, std::move(loaded)).first->second;
}

BuiltKernel KernelBuilder::build(const Choice& choice, const Problem& problem) {
  BuiltKernel built;
  const DeviceLimits& limits = device_.info().limits;
  try {
    Loaded* loaded = load(choice, problem, built.failure);
    if (loaded == nullptr) return built;
    const auto geometry = choice.kernel_template->geometry(choice.config, problem, limits);
    const auto functions = loaded->module->functions();
    for (std::size_t i = 0; i < geometry.size(); ++i) {
      const std::uint32_t bytes = geometry[i].smem_bytes;
      // Only ever raised: another problem may be using the function with more.
      if (bytes > loaded->prepared_bytes[i]) {
        const DeviceStatus status = device_.prepare(functions[i], bytes);
        if (!status.ok()) {
          require_living_device(status);
          built.failure = fmt::format("it cannot be prepared: {}", status.message);
          return built;
        }
        loaded->prepared_bytes[i] = bytes;
      }
      built.launches.push_back({functions[i], geometry[i], nullptr});
    }
    built.workspace_bytes = choice.kernel_template->workspace_bytes(choice.config, problem, limits);
    built.module = loaded->module;
    built.toolkit = loaded->toolkit;
  } catch (const Error& error) {
    // A template that fails for this problem is one candidate less; a missing compiler is not the
    // candidate's fault.
    if (error.kind() != ErrorKind::template_ && error.kind() != ErrorKind::usage) throw;
    built.failure = error.what();
  }
  return built;
}

}  // namespace kiln::detail
