// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From a candidate to something that can be run: render, plan, compile, and reject what cannot
// run or cannot win before the device spends time on it.

#include "tuner/session/prepared_candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

#include "kiln/error.hpp"
#include "runtime/choice/competitive.hpp"
#include "templates/check/compile_diagnosis.hpp"
#include "templates/front_matter/allow_line.hpp"
#include "templates/launch/launch_evaluator.hpp"
#include "templates/launch/launch_planner.hpp"
#include "tuner/compile/code_digest.hpp"
#include "tuner/session/typed_tuning.hpp"
#include "tuner/strategies/strategy.hpp"

namespace kiln {
namespace {

/// Warps get registers in units of 256, so a block may need more than threads * registers.
std::int64_t registers_of_block(std::int64_t threads, int registers, const DeviceLimits& limits) {
  constexpr std::int64_t kUnit = 256;
  const std::int64_t warps = (threads + limits.warp_size - 1) / limits.warp_size;
  const std::int64_t per_warp =
      (std::int64_t{registers} * limits.warp_size + kUnit - 1) / kUnit * kUnit;
  return warps * per_warp;
}

/// What the kernels need beyond the device's limits. The compiler's figures are maxima over the
/// kernels of a candidate; if it has several launches the smallest represents all, so that no
/// candidate is refused that might fit.
std::string why_too_big(const std::vector<LaunchGeometry>& launches,
                        const KernelResources& resources, const DeviceLimits& limits) {
  std::int64_t threads = std::numeric_limits<std::int64_t>::max();
  std::int64_t smem_bytes = std::numeric_limits<std::int64_t>::max();
  for (const auto& launch : launches) {
    threads = std::min(threads, static_cast<std::int64_t>(count_of(launch.block)));
    smem_bytes = std::min(smem_bytes, std::int64_t{launch.smem_bytes});
  }
  const std::int64_t registers = registers_of_block(threads, resources.registers, limits);
  if (registers > limits.regs_per_block) {
    return fmt::format(
        "the candidate needs {} registers per block ({} threads with {} registers each), but the "
        "device allows only {}",
        registers, threads, resources.registers, limits.regs_per_block);
  }
  // A device without the opt-in still gives every block the static limit.
  const std::int64_t most = std::max(limits.smem_optin, limits.smem_static);
  if (smem_bytes + resources.smem_static_bytes > most) {
    return fmt::format(
        "the candidate needs {} bytes of shared memory per block, but the device allows only {}",
        smem_bytes + resources.smem_static_bytes, most);
  }
  return {};
}

/// Occupancy of the launch that has the least.
double least_occupancy(const std::vector<LaunchGeometry>& launches,
                       const KernelResources& resources, const DeviceLimits& limits) {
  double least = 1.0;
  for (const auto& launch : launches) {
    if (launch.left_out()) continue;
    const auto one =
        occupancy(limits, static_cast<int>(count_of(launch.block)), resources.registers,
                  launch.smem_bytes + resources.smem_static_bytes);
    least = std::min(least, one.fraction);
  }
  return least;
}

/// Fills the job's launches, constants and workspace for every case that the configuration is valid
/// for. Throws Error(template_) for launches that the device cannot do.
void plan_cases(const KernelTemplate& kernel_template, const Config& config,
                const DeviceLimits& limits, const std::vector<ProblemCase>& cases,
                EvaluationJob& job) {
  const bool has_constants = !kernel_template.constants().empty();
  const bool has_scratch = !kernel_template.run_spec().scratch.empty();
  for (const auto& one : cases) {
    const Problem& problem = one.problem;
    if (!kernel_template.space(problem, limits).contains(config)) {
      job.geometry.emplace_back();
      job.arguments.emplace_back();
      if (has_constants) job.constants.emplace_back();
      job.workspace_bytes.push_back(0);
      if (has_scratch) job.scratch.emplace_back();
      continue;
    }
    const LaunchPlanner planner(kernel_template, problem, limits);
    job.geometry.push_back(planner.geometry(config));
    job.arguments.push_back(planner.argument_plans(config));
    if (const TypedTuning* const typed = find_typed_tuning(problem.operation)) {
      job.arguments.back().assign(job.geometry.back().size(), typed->argument(one));
    }
    if (has_constants) job.constants.push_back(kernel_template.constant_fills(problem));
    job.workspace_bytes.push_back(planner.own_workspace_bytes(config));
    if (has_scratch) job.scratch.push_back(planner.scratch(config));
  }
}

CompileRequest compile_request(const RenderedKernel& rendered, const DeviceLimits& limits,
                               CodeKind code) {
  CompileRequest request;
  request.source = rendered.text;
  request.source_name = fmt::format("{}.cu", rendered.template_name);
  request.source_digest = rendered.digest;
  request.name_expressions = rendered.name_expressions;
  request.arch = limits.arch;
  request.code = code;
  return request;
}

/// Fills `resources` from the compiler's facts and judges them.
void inspect(PreparedCandidate& prepared, const KernelTemplate& kernel_template,
             const Problem& problem, const DeviceLimits& limits, Admission admission) {
  const auto fail = [&](Outcome outcome, std::string message) {
    prepared.outcome = outcome;
    prepared.message = std::move(message);
  };
  if (!prepared.compiled.ok) {
    return fail(Outcome::compile_failed,
                explain_compile_log(kernel_template, prepared.compiled.log));
  }
  if (auto why = why_wrong_parameters(kernel_template, prepared.compiled.lowered_names, &problem);
      !why.empty()) {
    return fail(Outcome::compile_failed, std::move(why));
  }
  const std::vector<LaunchGeometry>& launches = prepared.job.geometry.front();
  KernelResources& resources = prepared.resources = prepared.compiled.resources;
  for (const auto& launch : launches) {
    resources.smem_dynamic_bytes =
        std::max(resources.smem_dynamic_bytes, std::int64_t{launch.smem_bytes});
  }
  resources.occupancy = least_occupancy(launches, resources, limits);
  if (auto why = why_too_big(launches, resources, limits); !why.empty()) {
    return fail(Outcome::out_of_resources, std::move(why));
  }
  if (admission == Admission::runnable) return;
  if (auto why = why_not_competitive(kernel_template, prepared.compiled); !why.empty()) {
    return fail(Outcome::rejected, std::move(why));
  }
}

/// Gives a candidate that was compiled and admitted its job.
void complete(PreparedCandidate& prepared, const KernelTemplate& kernel_template, CodeKind code,
              const ProblemCase& tuned) {
  if (prepared.outcome != Outcome::ok) {
    prepared.job = {};
    return;
  }
  prepared.job.label = candidate_text(prepared.candidate);
  for (std::size_t i = 0; i < kernel_template.launches().size(); ++i) {
    prepared.job.launch_places.push_back(kernel_template.launch_place(i));
  }
  prepared.job.accepted = accepted_text(kernel_template.launches());
  prepared.job.unit = {prepared.compiled.cubin, prepared.compiled.lowered_names};
  prepared.code_digest = run_digest(code, prepared.job, tuned);
}

}  // namespace

PreparedCandidate prepare_candidate(const Candidate& candidate, const Catalog& catalog,
                                    Compiler& compiler, const DeviceLimits& limits,
                                    const std::vector<ProblemCase>& cases, Admission admission,
                                    CodeKind code) {
  PreparedCandidate prepared;
  prepared.candidate = candidate;
  const KernelTemplate& kernel_template = catalog.at(candidate.template_name);
  // A template that fails for this configuration is the candidate's fault; misuse is the caller's.
  Outcome at_fault = Outcome::compile_failed;
  try {
    prepared.rendered =
        render(catalog, kernel_template, candidate.config, cases.front().problem, limits);
    at_fault = Outcome::out_of_resources;
    plan_cases(kernel_template, candidate.config, limits, cases, prepared.job);
    prepared.compiled = compiler.compile(compile_request(prepared.rendered, limits, code));
    inspect(prepared, kernel_template, cases.front().problem, limits, admission);
  } catch (const EmptyGridError& error) {
    prepared.outcome = Outcome::launch_failed;
    prepared.message = error.what();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::template_) throw;
    prepared.outcome = at_fault;
    prepared.message = error.what();
  }
  complete(prepared, kernel_template, code, cases.front());
  return prepared;
}

PreparedCandidate prepare_variant(const PreparedCandidate& prepared, const Config& config,
                                  const Catalog& catalog, const DeviceLimits& limits,
                                  const std::vector<ProblemCase>& cases, CodeKind code) {
  PreparedCandidate variant;
  variant.candidate = {prepared.candidate.template_name, config};
  variant.rendered = prepared.rendered;
  variant.rendered.config = config;
  variant.compiled = prepared.compiled;
  const KernelTemplate& kernel_template = catalog.at(variant.candidate.template_name);
  try {
    plan_cases(kernel_template, config, limits, cases, variant.job);
    // The code was admitted before.
    inspect(variant, kernel_template, cases.front().problem, limits, Admission::runnable);
  } catch (const EmptyGridError& error) {
    variant.outcome = Outcome::launch_failed;
    variant.message = error.what();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::template_) throw;
    variant.outcome = Outcome::out_of_resources;
    variant.message = error.what();
  }
  complete(variant, kernel_template, code, cases.front());
  return variant;
}

}  // namespace kiln
