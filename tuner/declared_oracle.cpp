// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is right for a declared operation: its reference kernel, and its rules.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "kiln/error.hpp"
#include "tuner/oracle.hpp"

namespace kiln {
namespace {

using PatchSource = ArgumentPatch::Source;

class DeclaredOracles : public OracleSource {
 public:
  DeclaredOracles(MemoryLedger& memory, SupportKernels& support, const EvaluationSetup& setup)
      : ledger(memory), kernels(support), setup_(setup) {
    DeviceStatus status;
    module_ = ledger.device().load(setup.reference.cubin, setup.reference.names, status);
    if (!module_ || module_->functions().empty()) {
      throw Error(ErrorKind::device,
                  fmt::format("the reference kernel does not load: {}", status.message));
    }
  }

  [[nodiscard]] std::unique_ptr<Oracle> oracle(std::size_t index,
                                               std::uint64_t seed_of_case) override;
  void run_reference(const LaunchGeometry& geometry, const ArgumentPlan& plan,
                     const ArgumentValues& values);

  MemoryLedger& ledger;
  SupportKernels& kernels;

 private:
  const EvaluationSetup& setup_;
  std::unique_ptr<LoadedModule> module_;
};

/// The result of the reference for one output, row after row without gaps.
struct Expected {
  DeviceBuffer value;
  DeviceBuffer magnitude;  ///< empty: |value|
};

class DeclaredOracle : public Oracle {
 public:
  DeclaredOracle(DeclaredOracles& shared, const ProblemCase& one, const LaunchGeometry& geometry,
                 const ReferencePlan& plan, std::uint64_t seed)
      : shared_(shared), scalars_(one.scalars), geometry_(geometry), plan_(plan), seed_(seed) {}

  [[nodiscard]] bool has(DataKind kind) const override {
    return kind == DataKind::normal || plan_.integer_range > 0;
  }
  [[nodiscard]] FillRecipe recipe(DataKind kind) const override {
    return {kind, seed_, std::max(plan_.integer_range, 1)};
  }
  /// Results of whole numbers are exact with the stated scalars.
  [[nodiscard]] std::vector<double> scalars(DataKind kind) const override {
    return kind == DataKind::integer ? scalars_ : plan_.scalars;
  }
  [[nodiscard]] std::string conditions(DataKind kind) const override {
    return kind == DataKind::integer ? "" : plan_.scalars_text;
  }
  [[nodiscard]] bool is_deterministic() const override { return plan_.deterministic; }
  void learn(DataKind kind, OperandSet& operands) override;
  [[nodiscard]] WrongOutput compare(DataKind kind, std::size_t output,
                                    const Matrix& result) override;

 private:
  class Buffers;
  DeclaredOracles& shared_;
  std::vector<double> scalars_;
  LaunchGeometry geometry_;
  ReferencePlan plan_;
  std::uint64_t seed_;
  std::map<std::size_t, Expected> integer_, normal_;  ///< by output
};

/// Memory that the reference works on: only what its argument asks for.
class DeclaredOracle::Buffers {
 public:
  Buffers(DeclaredOracles& shared, OperandSet& operands, const FillRecipe& recipe)
      : shared_(shared),
        operands_(operands),
        recipe_(recipe),
        own_(operands.count()),
        float64_(operands.count()),
        magnitudes_(operands.count()),
        own_at_(operands.count()),
        float64_at_(operands.count()),
        magnitudes_at_(operands.count()) {}

  void provide(const ArgumentPatch& patch) {
    switch (patch.source) {
      case PatchSource::operand:
        return provide_own(patch.index);
      case PatchSource::float64:
        return provide_float64(patch.index);
      case PatchSource::magnitude:
        magnitudes_[patch.index] = zeros(patch.index, sizeof(double));
        magnitudes_at_[patch.index] = magnitudes_[patch.index].address();
        return;
      case PatchSource::workspace:
      case PatchSource::scalar:
        return;
    }
  }

  [[nodiscard]] ArgumentValues values(const std::vector<double>& scalars) const {
    return {own_at_, float64_at_, magnitudes_at_, scalars, 0};
  }

  /// What the reference has computed for an output.
  [[nodiscard]] Expected take(std::size_t output) {
    Expected expected;
    if (float64_at_[output] == 0) {
      const MatrixShape& shape = operands_.plan(output).shape;
      float64_[output] = zeros(output, sizeof(double));
      convert(shape, own_at_[output], float64_[output].address());
    }
    expected.value = std::move(float64_[output]);
    expected.magnitude = std::move(magnitudes_[output]);
    return expected;
  }

 private:
  /// Inputs are the operands themselves; what is written is a copy.
  void provide_own(std::size_t index) {
    const OperandPlan& plan = operands_.plan(index);
    if (!plan.present || operands_[index].is_empty()) return;
    if (plan.role == OperandRole::in) {
      own_at_[index] = operands_[index].data();
      return;
    }
    own_[index] = zeros(index, static_cast<std::size_t>(size_bytes(plan.shape.type)));
    own_at_[index] = own_[index].address();
    if (plan.role != OperandRole::inout) return;
    shared_.kernels.fill_random(fill_arguments(plan, own_at_[index], index, recipe_));
  }

  void provide_float64(std::size_t index) {
    const OperandPlan& plan = operands_.plan(index);
    if (!plan.present || operands_[index].is_empty()) return;
    float64_[index] = zeros(index, sizeof(double));
    float64_at_[index] = float64_[index].address();
    if (plan.role == OperandRole::out) return;
    convert(plan.shape, operands_[index].data(), float64_at_[index]);
  }

  [[nodiscard]] DeviceBuffer zeros(std::size_t index, std::size_t element_bytes) {
    const OperandPlan& plan = operands_.plan(index);
    const std::int64_t bytes =
        std::max<std::int64_t>(plan.shape.elements(), 1) * static_cast<std::int64_t>(element_bytes);
    DeviceBuffer buffer(shared_.ledger, bytes, "the reference's " + plan.name);
    shared_.ledger.device().fill(buffer.address(), 0, bytes);
    return buffer;
  }

  void convert(const MatrixShape& shape, DevicePtr from, DevicePtr to) {
    ConvertArgs args{};
    args.from = reinterpret_cast<const void*>(from);
    args.to = reinterpret_cast<double*>(to);
    args.rows = shape.rows;
    args.cols = shape.cols;
    args.ld_from = shape.ld;
    args.ld_to = shape.cols;
    args.dtype = static_cast<int>(shape.type);
    shared_.kernels.convert(args);
  }

  DeclaredOracles& shared_;
  OperandSet& operands_;
  FillRecipe recipe_;
  std::vector<DeviceBuffer> own_, float64_, magnitudes_;
  std::vector<DevicePtr> own_at_, float64_at_, magnitudes_at_;
};

void DeclaredOracle::learn(DataKind kind, OperandSet& operands) {
  Buffers buffers(shared_, operands, recipe(kind));
  for (const ArgumentPatch& patch : plan_.argument.patches) buffers.provide(patch);
  shared_.run_reference(geometry_, plan_.argument, buffers.values(scalars(kind)));
  auto& expected = kind == DataKind::integer ? integer_ : normal_;
  for (const OutputRule& rule : plan_.rules) {
    if (operands.plan(rule.operand).present && !operands[rule.operand].is_empty()) {
      expected.insert_or_assign(rule.operand, buffers.take(rule.operand));
    }
  }
}

WrongOutput DeclaredOracle::compare(DataKind kind, std::size_t output, const Matrix& result) {
  const auto& expected = kind == DataKind::integer ? integer_ : normal_;
  const auto found = expected.find(output);
  if (found == expected.end()) return {};  // it has no elements
  const OutputRule& rule =
      *std::ranges::find(plan_.rules, output, [](const OutputRule& one) { return one.operand; });
  const bool exact = kind == DataKind::integer || rule.kind == RightSpec::Kind::exact;
  const MatrixShape& shape = result.shape();
  CompareArgs args{};
  args.d = reinterpret_cast<const void*>(result.data());
  args.ref = reinterpret_cast<const double*>(found->second.value.address());
  args.absolute = reinterpret_cast<const double*>(found->second.magnitude.address());
  args.rows = shape.rows;
  args.cols = shape.cols;
  args.ld_d = shape.ld;
  args.ld_ref = shape.cols;
  args.ld_absolute = shape.cols;
  args.u_out = rule.relative;
  args.c_factor = rule.magnitude;
  args.atol = rule.absolute;
  args.dtype = static_cast<int>(shape.type);
  args.mode = exact ? kCompareExact : kCompareBounded;
  WrongOutput wrong{0, 0, shared_.kernels.compare(args)};
  if (wrong.found.failures != 0) {
    wrong.row = static_cast<std::int64_t>(wrong.found.first_failure) / shape.cols;
    wrong.col = static_cast<std::int64_t>(wrong.found.first_failure) % shape.cols;
  }
  return wrong;
}

void DeclaredOracles::run_reference(const LaunchGeometry& geometry, const ArgumentPlan& plan,
                                    const ArgumentValues& values) {
  std::vector<std::byte> argument(plan.image.size());
  fill_argument(plan, values, argument.data());
  LaunchRequest request;
  request.function = module_->functions()[0];
  request.geometry = geometry;
  request.arguments = argument.data();
  request.argument_bytes = argument.size();
  request.parameters = plan.parameters;
  Device& device = ledger.device();
  DeviceStatus status = device.launch(request, device.own_stream());
  if (const DeviceStatus end = device.synchronize(); status.ok()) status = end;
  if (!status.ok()) {
    throw Error(ErrorKind::device,
                fmt::format("the reference kernel does not run: {}", status.message));
  }
}

std::unique_ptr<Oracle> DeclaredOracles::oracle(std::size_t index, std::uint64_t seed_of_case) {
  return std::make_unique<DeclaredOracle>(*this, setup_.cases[index],
                                          setup_.reference_geometry[index],
                                          setup_.reference_plans[index], seed_of_case);
}

}  // namespace

std::unique_ptr<OracleSource> make_declared_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                                    const EvaluationSetup& setup) {
  return std::make_unique<DeclaredOracles>(ledger, kernels, setup);
}

}  // namespace kiln
