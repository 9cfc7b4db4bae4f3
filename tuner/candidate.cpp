// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace kiln {
namespace {

/// What the device gives every allocation anyway; workspaces are cut into parts of any type.
constexpr int kWorkspaceAlignment = 256;

}  // namespace

Outcome outcome_of(const DeviceStatus& status) {
  if (status.sticky) return Outcome::crashed;
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
      job.workspace_bytes.size() != job.geometry.size()) {
    status_ = {DeviceStatus::Code::launch_failed,
               "the configuration has no launch for the tuned problem", false};
    return;
  }
  status_ = load();
  if (status_.ok()) reserve_workspace(ledger);
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
      if (launches.size() != functions.size()) {
        return {DeviceStatus::Code::launch_failed,
                fmt::format("{} launches are planned for {} kernels", launches.size(),
                            functions.size()),
                false};
      }
      smem_bytes = std::max(smem_bytes, launches[i].smem_bytes);
    }
    status = device_.prepare(functions[i], smem_bytes);
    if (!status.ok()) return status;
  }
  return status;
}

/// One workspace, as large as the case that needs most of it: cases run one after another.
void LoadedCandidate::reserve_workspace(MemoryLedger& ledger) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < job_.geometry.size(); ++i) {
    if (!job_.geometry[i].empty()) bytes = std::max(bytes, job_.workspace_bytes[i]);
  }
  if (bytes == 0) return;
  if (GuardedBuffer::footprint_bytes(bytes, kWorkspaceAlignment) > ledger.left_bytes()) {
    status_ = {DeviceStatus::Code::out_of_resources,
               fmt::format("needs {} bytes of workspace, {} bytes of device memory are left for it",
                           bytes, std::max<std::int64_t>(ledger.left_bytes(), 0)),
               false};
    return;
  }
  workspace_.emplace(ledger, bytes, kWorkspaceAlignment, "the workspace of " + job_.label);
}

DeviceStatus LoadedCandidate::run(std::size_t index, const GemmArgs& args, void* stream) const {
  const auto functions = module_->functions();
  const auto& launches = job_.geometry[index];
  for (std::size_t i = 0; i < launches.size(); ++i) {
    DeviceStatus status = device_.launch({functions[i], launches[i], &args}, stream);
    if (!status.ok()) return status;
  }
  return {};
}

Subject LoadedCandidate::subject() {
  Subject subject;
  subject.run = [this](std::size_t index, const GemmArgs& args, void* stream) {
    return run(index, args, stream);
  };
  for (std::size_t i = 1; i < job_.geometry.size(); ++i) {
    if (!job_.geometry[i].empty()) subject.cases.push_back(i);
  }
  subject.cases.push_back(0);
  subject.workspace = workspace_ ? &*workspace_ : nullptr;
  subject.workspace_bytes = job_.workspace_bytes;
  return subject;
}

DevicePtr LoadedCandidate::workspace() const {
  return job_.workspace_bytes.front() > 0 ? workspace_->data() : 0;
}

}  // namespace kiln
