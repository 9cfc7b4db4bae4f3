// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kiln {
namespace {

/// The alignment of every device allocation anyway; workspaces are cut into parts of any type.
constexpr int kWorkspaceAlignment = 256;

bool has_arguments(const EvaluationJob& job) {
  if (!job.constants.empty() && job.constants.size() != job.geometry.size()) return false;
  return std::ranges::equal(job.arguments, job.geometry, {}, &std::vector<ArgumentPlan>::size,
                            &std::vector<LaunchGeometry>::size);
}

}  // namespace

Outcome outcome_of(const DeviceStatus& status) {
  if (status.sticky) return Outcome::crashed;
  if (status.found) return Outcome::wrong_result;
  switch (status.code) {
    case DeviceStatus::Code::ok:
      return Outcome::ok;
    case DeviceStatus::Code::launch_failed:
      return Outcome::launch_failed;
    case DeviceStatus::Code::out_of_resources:
      return Outcome::out_of_resources;
    case DeviceStatus::Code::faulted:
      return Outcome::crashed;
  }
  return Outcome::crashed;
}

LoadedCandidate::LoadedCandidate(MemoryLedger& ledger, const EvaluationJob& job)
    : device_(ledger.device()), job_(job) {
  if (job.geometry.empty() || job.geometry[0].empty() ||
      job.workspace_bytes.size() != job.geometry.size() || !has_arguments(job) ||
      (!job.scratch.empty() && job.scratch.size() != job.geometry.size())) {
    status_ = {DeviceStatus::Code::launch_failed,
               "Kiln planned no launch of this candidate for the tuned problem; please report this "
               "bug in Kiln",
               false};
    return;
  }
  status_ = load();
  if (status_.ok()) reserve_workspaces(ledger);
  if (status_.ok()) reserve_scratch(ledger);
}

/// Every launch of a case is one of a kernel that there is.
bool LoadedCandidate::has_kernels(const std::vector<LaunchGeometry>& launches) const {
  const std::size_t kernels = module_->functions().size();
  if (!launches.empty() && launches.front().kernel < 0) return launches.size() == kernels;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].kernel_at(i) >= kernels) return false;
  }
  return true;
}

DeviceStatus LoadedCandidate::load() {
  DeviceStatus status;
  module_ = device_.load(job_.unit.cubin, job_.unit.names, status);
  if (!status.ok()) return status;
  // A function's limit is raised once, so it is raised for the case that needs most.
  const auto functions = module_->functions();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::uint32_t smem_bytes = 0;
    for (const auto& launches : job_.geometry) {
      if (launches.empty()) continue;
      if (!has_kernels(launches)) {
        return {
            DeviceStatus::Code::launch_failed,
            fmt::format(
                "Kiln planned {} launches, but the candidate has {} kernels; please report this "
                "bug in Kiln",
                launches.size(), functions.size()),
            false};
      }
      for (std::size_t place = 0; place < launches.size(); ++place) {
        if (launches[place].kernel_at(place) != i) continue;
        smem_bytes = std::max(smem_bytes, launches[place].smem_bytes);
      }
    }
    status = device_.prepare(functions[i], smem_bytes);
    for (const auto& launches : job_.geometry) {
      for (std::size_t place = 0; place < launches.size() && status.ok(); ++place) {
        const LaunchGeometry& launch = launches[place];
        if (launch.kernel_at(place) != i || launch.left_out()) continue;
        status = device_.check_residency(functions[i], launch);
        if (!status.ok() && i < job_.launch_places.size()) {
          status.message = fmt::format("{}: {}", job_.launch_places[i], status.message);
        }
      }
    }
    if (!status.ok()) return status;
  }
  for (const std::vector<ConstantFill>& fills : job_.constants) {
    status = find_constant_arrays(device_, *module_, fills, constants_.emplace_back());
    if (!status.ok()) return status;
  }
  return status;
}

std::unique_ptr<GuardedBuffer> LoadedCandidate::reserve(MemoryLedger& ledger, std::int64_t bytes,
                                                        const std::string& what) {
  if (GuardedBuffer::footprint_bytes(bytes, kWorkspaceAlignment) > ledger.left_bytes()) {
    status_ = {DeviceStatus::Code::out_of_resources,
               fmt::format("the candidate needs {} bytes for {}, but only {} bytes of device "
                           "memory are left",
                           bytes, what, std::max<std::int64_t>(ledger.left_bytes(), 0)),
               false};
    return nullptr;
  }
  return std::make_unique<GuardedBuffer>(ledger, bytes, kWorkspaceAlignment,
                                         what + " of " + job_.label);
}

/// Each on its own, so that what reaches out of one is found.
void LoadedCandidate::reserve_scratch(MemoryLedger& ledger) {
  for (const std::vector<ScratchPlan>& plans : job_.scratch) {
    auto& buffers = scratch_.emplace_back();
    auto& addresses = scratch_addresses_.emplace_back();
    for (const ScratchPlan& plan : plans) {
      buffers.push_back(plan.bytes == 0
                            ? nullptr
                            : reserve(ledger, plan.bytes, "the scratch array " + plan.name));
      if (!status_.ok()) return;
      addresses.push_back(buffers.back() ? buffers.back()->data() : 0);
    }
  }
}

/// Cases run one after another, so the largest workspace serves all, unless the device can enforce
/// where each should end.
void LoadedCandidate::reserve_workspaces(MemoryLedger& ledger) {
  std::vector<std::int64_t> wanted(job_.geometry.size(), 0);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!job_.geometry[i].empty()) wanted[i] = job_.workspace_bytes[i];
  }
  const std::int64_t most = *std::max_element(wanted.begin(), wanted.end());
  if (most == 0) return;
  const std::string name = "the workspace";
  auto largest = reserve(ledger, most, name);
  if (largest == nullptr) return;
  const bool exact = largest->front_bytes() == 0;
  if (!exact) {
    workspaces_.push_back(std::move(largest));
    return;
  }
  for (const std::int64_t bytes : wanted) {
    const bool is_largest = bytes == most && largest != nullptr;
    workspaces_.push_back(is_largest   ? std::move(largest)
                          : bytes == 0 ? nullptr
                                       : reserve(ledger, bytes, name));
    if (!status_.ok()) return;
  }
}

GuardedBuffer* LoadedCandidate::workspace_of(std::size_t index) const {
  if (workspaces_.empty()) return nullptr;
  return workspaces_.size() == 1 ? workspaces_.front().get() : workspaces_[index].get();
}

DeviceStatus LoadedCandidate::run(std::size_t index, const RunArguments& run, void* stream) const {
  const auto functions = module_->functions();
  const auto& launches = job_.geometry[index];
  ArgumentValues values{run.operands, {}, {}, run.scalars, run.workspace};
  if (!scratch_addresses_.empty()) values.scratch = scratch_addresses_[index];
  if (!constants_.empty()) {
    DeviceStatus status = fill_constant_arrays(device_, constants_[index], run.operands, stream);
    if (!status.ok()) return status;
  }
  std::vector<std::byte> argument;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].left_out()) continue;
    const ArgumentPlan& plan = job_.arguments[index][i];
    argument.resize(plan.image.size());
    fill_argument(plan, values, argument.data());
    DeviceStatus status = device_.launch({.function = functions[launches[i].kernel_at(i)],
                                          .geometry = launches[i],
                                          .arguments = argument.data(),
                                          .argument_bytes = argument.size(),
                                          .parameters = plan.parameters},
                                         stream);
    if (!status.ok()) return status;
  }
  return {};
}

Subject LoadedCandidate::subject() {
  Subject subject;
  subject.run = [this](std::size_t index, const RunArguments& arguments, void* stream) {
    return run(index, arguments, stream);
  };
  for (std::size_t i = 1; i < job_.geometry.size(); ++i) {
    if (!job_.geometry[i].empty()) subject.cases.push_back(i);
  }
  subject.cases.push_back(0);
  for (std::size_t i = 0; i < job_.geometry.size(); ++i) {
    subject.workspaces.push_back(workspace_of(i));
  }
  subject.workspace_bytes = job_.workspace_bytes;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    auto& arrays = subject.scratch.emplace_back();
    for (std::size_t j = 0; j < scratch_[i].size(); ++j) {
      if (!scratch_[i][j]) continue;
      arrays.push_back({"the scratch array " + job_.scratch[i][j].name, scratch_[i][j].get()});
    }
  }
  subject.accepted = job_.accepted;
  return subject;
}

DevicePtr LoadedCandidate::workspace() const {
  return job_.workspace_bytes.front() > 0 ? workspace_of(0)->data() : 0;
}

}  // namespace kiln
