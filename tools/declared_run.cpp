// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/declared_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/session.hpp"

namespace kiln::tools {
namespace {

/// A NaN of every type of floating point.
constexpr std::byte kRunPoison{0xff};

std::int64_t bytes_of(const Matrix& matrix) {
  return matrix.is_empty() ? 0 : matrix.shape().bytes();
}

}  // namespace

DeclaredRun::DeclaredRun(Context& context, const ProblemCase& one, std::uint64_t seed)
    : device_(open_device(context.device().value)) {
  TuneRequest request;
  request.tuned = one;
  request.seed = seed;
  const auto compiler = context.compiler();
  setup_ = make_setup(request, *compiler, device_->info());
  // Only this problem is run.
  setup_.cases.resize(1);
  setup_.reference_geometry.resize(1);
  setup_.reference_plans.resize(1);
  ledger_.emplace(*device_, device_->free_memory_bytes());
  kernels_.emplace(*ledger_, setup_.support);
  oracles_ = make_oracles(*ledger_, *kernels_, setup_);
  oracle_ = oracles_->oracle(0, seed);
  set_ = OperandSet(*ledger_, one, "the operands");
  set_.fill_inputs(*kernels_, oracle_->recipe(DataKind::normal));
  for (std::size_t i = 0; i < set_.count(); ++i) {
    auto& bytes = data_.emplace_back(static_cast<std::size_t>(bytes_of(set_[i])), kRunPoison);
    if (bytes.empty() || !set_.is_input(i)) continue;
    device_->copy_to_host(bytes.data(), set_[i].data(), bytes_of(set_[i]));
  }
  oracle_->learn(DataKind::normal, set_);
}

std::vector<DeviceMemory> DeclaredRun::operands(const Library& library) const {
  std::vector<DeviceMemory> operands;
  for (const auto& bytes : data_) {
    DeviceMemory& memory = operands.emplace_back();
    if (bytes.empty()) continue;
    memory = library.allocate(bytes.size());
    memory.copy_from_host(bytes.data(), bytes.size());
  }
  return operands;
}

RunCheck DeclaredRun::check(const std::vector<DeviceMemory>& operands) {
  RunCheck check;
  for (std::size_t i = 0; i < set_.count(); ++i) {
    if (set_.plan(i).role == OperandRole::in || set_[i].is_empty()) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(set_[i])));
    operands[i].copy_to_host(bytes.data(), bytes.size());
    device_->copy_to_device(set_[i].data(), bytes.data(), bytes_of(set_[i]));
  }
  for (std::size_t i = 0; i < set_.count(); ++i) {
    if (set_.plan(i).role == OperandRole::in || set_[i].is_empty()) continue;
    const WrongOutput wrong = oracle_->compare(DataKind::normal, i, run_operands(set_));
    const auto failures = static_cast<std::int64_t>(wrong.found.failures);
    if (check.wrong == 0 && failures > 0) {
      check.evidence = fmt::format("{}, {}", set_.plan(i).name, describe(wrong));
    }
    check.checked += wrong.compared;
    check.wrong += failures;
    check.worst_ratio = std::max(check.worst_ratio, static_cast<double>(wrong.found.worst_ratio));
  }
  return check;
}

}  // namespace kiln::tools
