// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/kernel_builder.hpp"

#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/choice/competitive.hpp"
#include "templates/check/compile_diagnosis.hpp"
#include "templates/launch/launch_planner.hpp"

namespace kiln::detail {
namespace {

const std::string kDoesNotCompile = "the kernel does not compile: ";

/// After a sticky fault every candidate fails, so it must not count against this one.
void require_living_device(const DeviceStatus& status) {
  if (!status.sticky) return;
  throw Error(
      ErrorKind::device,
      fmt::format("this process has lost the device and must be restarted: {}", status.message));
}

/// A template that fails for this problem is one candidate less; a missing compiler is not the
/// candidate's fault, and is rethrown. For use in a handler.
std::string candidates_fault(const Error& error) {
  if (error.kind() != ErrorKind::template_ && error.kind() != ErrorKind::usage) throw;
  return error.what();
}

}  // namespace

bool BuiltKernel::does_not_compile() const {
  return failure.starts_with(kDoesNotCompile);
}

KernelBuilder::KernelBuilder(const Catalog& catalog, Device& device, CachingCompiler& compiler)
    : catalog_(catalog), device_(device), compiler_(compiler) {}

std::shared_ptr<const LoadedModule> KernelBuilder::load_module(
    const KernelTemplate& kernel_template, const CompileResult& compiled, std::string& failure) {
  failure.clear();
  if (!compiled.ok) {
    failure = kDoesNotCompile + explain_compile_log(kernel_template, compiled.log);
    return nullptr;
  }
  failure = why_wrong_parameters(kernel_template, compiled.lowered_names);
  if (!failure.empty()) return nullptr;
  DeviceStatus status;
  std::shared_ptr<const LoadedModule> module =
      device_.load(compiled.cubin, compiled.lowered_names, status);
  if (!module) {
    require_living_device(status);
    failure = fmt::format("the kernel cannot be loaded: {}", status.message);
  }
  return module;
}

std::string KernelBuilder::code_name(const Choice& choice, const Problem& problem) {
  // Neither sizes nor values at launch enter the code: what was loaded serves all of its kind.
  return fmt::format("{} | {} | {}", choice.kernel_template->name(),
                     choice.kernel_template->compiled_part(choice.config).canonical(),
                     problem.kind_text());
}

bool KernelBuilder::holds(const std::string& code_name) const {
  return modules_.contains(code_name);
}

KernelCode KernelBuilder::compile(const Choice& choice, const Problem& problem) const {
  KernelCode code;
  RenderedKernel rendered;
  try {
    rendered =
        render(catalog_, *choice.kernel_template, choice.config, problem, device_.info().limits);
  } catch (const Error& error) {
    code.failure = candidates_fault(error);
    return code;
  }
  code.request.source = rendered.text;
  code.request.source_name = rendered.template_name + ".cu";
  code.request.source_digest = rendered.digest;
  code.request.name_expressions = rendered.name_expressions;
  code.request.arch = device_.info().limits.arch;
  code.request.code = device_.info().code;
  // The very code that was measured, if it is still there, whatever compiler is installed now;
  // finding it needs no compiler.
  if (!choice.toolkit.empty()) {
    if (auto found = compiler_.stored(code.request, choice.toolkit)) {
      code.result = std::move(*found);
      code.toolkit = choice.toolkit;
      return code;
    }
  }
  code.result = compiler_.compile(code.request);
  code.toolkit = compiler_.identity();
  return code;
}

KernelCode KernelBuilder::compile_again(KernelCode refused) const {
  // Another compiler's code says nothing about what the present one has stored.
  const bool is_of_present = refused.toolkit == compiler_.identity();
  refused.result = is_of_present ? compiler_.compile_afresh(refused.request)
                                 : compiler_.compile(refused.request);
  refused.toolkit = compiler_.identity();  // which a compilation may have corrected
  return refused;
}

KernelBuilder::Loaded* KernelBuilder::load(const KernelTemplate& kernel_template,
                                           const std::string& name, const KernelCode& code,
                                           std::string& failure) {
  if (const auto known = modules_.find(name); known != modules_.end()) return &known->second;
  failure = code.failure;
  if (!failure.empty()) return nullptr;
  Loaded loaded{load_module(kernel_template, code.result, failure),
                code.toolkit,
                {},
                why_not_competitive(kernel_template, code.result)};
  if (!loaded.module) return nullptr;
  loaded.prepared_bytes.resize(loaded.module->functions().size(), 0);
  return &modules_.emplace(name, std::move(loaded)).first->second;
}

BuiltKernel KernelBuilder::build(const Choice& choice, const Problem& problem,
                                 const KernelCode& code) {
  BuiltKernel built;
  try {
    Loaded* loaded = load(*choice.kernel_template, code_name(choice, problem), code, built.failure);
    if (loaded == nullptr) {
      built.is_stale = code.result.from_store;
      return built;
    }
    const LaunchPlanner planner(*choice.kernel_template, problem, device_.info().limits);
    const auto geometry = planner.geometry(choice.config);
    auto plans = planner.argument_plans(choice.config);
    const auto functions = loaded->module->functions();
    for (std::size_t i = 0; i < geometry.size(); ++i) {
      if (geometry[i].left_out()) continue;
      const std::size_t kernel = geometry[i].kernel_at(i);
      const std::uint32_t bytes = geometry[i].smem_bytes;
      // Only ever raised: another problem may be using the function with more.
      if (bytes > loaded->prepared_bytes[kernel]) {
        const DeviceStatus status = device_.prepare(functions[kernel], bytes);
        if (!status.ok()) {
          require_living_device(status);
          built.failure =
              fmt::format("the kernel cannot be prepared for its launch: {}", status.message);
          return built;
        }
        loaded->prepared_bytes[kernel] = bytes;
      }
      if (const DeviceStatus status = device_.check_residency(functions[kernel], geometry[i]);
          !status.ok()) {
        require_living_device(status);
        built.failure = choice.kernel_template->launch_place(kernel) + ": " + status.message;
        return built;
      }
      LaunchRequest& launch = built.launches.emplace_back();
      launch.function = functions[kernel];
      launch.geometry = geometry[i];
      if (plans.empty()) continue;
      // The plan's vectors stay where they are when it moves, and so does what the launch refers
      // to.
      const ArgumentPlan& plan = built.arguments.emplace_back(std::move(plans[i]));
      launch.argument_bytes = plan.image.size();
      launch.parameters = plan.parameters;
    }
    const DeviceStatus found = find_constant_arrays(
        device_, *loaded->module, choice.kernel_template->constant_fills(problem), built.constants);
    if (!found.ok()) {
      require_living_device(found);
      built.failure = found.message;
      return built;
    }
    built.workspace_bytes = planner.workspace_bytes(choice.config);
    built.module = loaded->module;
    built.toolkit = loaded->toolkit;
    built.drawback = loaded->drawback;
  } catch (const Error& error) {
    built.failure = candidates_fault(error);
  }
  return built;
}

}  // namespace kiln::detail
