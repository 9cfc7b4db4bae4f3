// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/declared_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/session/request.hpp"
#include "tuner/session/setup.hpp"

namespace kiln::tools {
namespace {

/// A NaN of every type of floating point.
constexpr std::byte kRunPoison{0xff};

std::int64_t bytes_of(const Matrix& matrix) {
  return matrix.is_empty() ? 0 : matrix.shape().bytes();
}

}  // namespace

const AnyKernel& DeclaredRun::get(const Library& library) {
  const Problem& problem = one_.problem;
  kernel_ = library.get({problem.operation, problem.sizes, problem.types, problem.traits});
  arguments_ = kernel_->arguments();
  return *kernel_;
}

void DeclaredRun::make_data() {
  device_ = open_device(context_.device().value);
  TuneRequest request;
  request.tuned = one_;
  request.seed = seed_;
  const auto compiler = context_.compiler();
  setup_ = make_setup(request, *compiler, device_->info());
  // Only this problem is run.
  setup_.cases.resize(1);
  setup_.reference_geometry.resize(1);
  setup_.reference_plans.resize(1);
  ledger_.emplace(*device_, device_->free_memory_bytes());
  kernels_.emplace(*ledger_, setup_.support);
  oracles_ = make_oracles(*ledger_, *kernels_, setup_);
  oracle_ = oracles_->oracle(0, seed_);
  set_ = OperandSet(*ledger_, one_, "the operands");
  set_.make_inputs(*kernels_, oracle_->recipe(DataKind::normal), *oracle_);
  set_.keep_made_inputs(*ledger_, *kernels_, DataKind::normal);
  for (std::size_t i = 0; i < set_.count(); ++i) {
    auto& bytes = data_.emplace_back(static_cast<std::size_t>(bytes_of(set_[i])), kRunPoison);
    if (bytes.empty() || !set_.is_input(i)) continue;
    device_->copy_to_host(bytes.data(), set_[i].data(), bytes_of(set_[i]));
  }
  oracle_->learn(DataKind::normal, set_);
}

void DeclaredRun::make_operands(const Library& library) {
  operands_.resize(one_.operands.size());
  if (work_of(one_.problem) != Work::none) make_data();
  for (std::size_t i = 0; i < data_.size(); ++i) {
    const auto& bytes = data_[i];
    if (bytes.empty()) continue;
    operands_[i] = library.allocate(bytes.size(), "operand " + set_.plan(i).name);
    operands_[i].copy_from_host(bytes.data(), bytes.size());
  }
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    arguments_.operands[i] = operands_[i].get();
    const MatrixShape& shape = one_.operands[i].shape;
    if (!shape.pointers || operands_[i].get() == nullptr) continue;
    std::vector<const std::byte*> rows;
    for (std::int64_t row = 0; row < shape.rows; ++row) {
      rows.push_back(static_cast<const std::byte*>(operands_[i].get()) + row * shape.pitch_bytes());
    }
    const std::size_t bytes = rows.size() * sizeof(rows.front());
    pointers_.push_back(library.allocate(bytes));
    pointers_.back().copy_from_host(rows.data(), bytes);
    arguments_.operands[i] = pointers_.back().get();
  }
  for (std::size_t i = 0; i < one_.scalars.size(); ++i) {
    arguments_.scalars[i] = one_.scalars[i];
  }
}

void DeclaredRun::launch() const {
  kernel_->launch(nullptr, arguments_);
}

RunCheck DeclaredRun::check() {
  RunCheck check;
  for (std::size_t i = 0; i < set_.count(); ++i) {
    if (set_.plan(i).role == OperandRole::in || set_[i].is_empty()) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_of(set_[i])));
    operands_[i].copy_to_host(bytes.data(), bytes.size());
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
