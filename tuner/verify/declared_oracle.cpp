// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is right for a declared operation: its reference and its checker, and its rules.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/compile/constant_arrays.hpp"
#include "tuner/verify/judge_buffers.hpp"

namespace kiln {
namespace {

/// Whether any result is compared with what the reference computes.
bool needs_reference(const ReferencePlan& plan) {
  return std::ranges::any_of(
      plan.rules, [](const OutputRule& rule) { return rule.kind != RightSpec::Kind::checker; });
}

class DeclaredOracles : public OracleSource {
 public:
  DeclaredOracles(MemoryLedger& memory, SupportKernels& support, const EvaluationSetup& setup)
      : ledger(memory),
        kernels(support),
        setup_(setup),
        operation_(setup.cases.front().problem.operation) {
    DeviceStatus status;
    module_ = ledger.device().load(setup.reference.cubin, setup.reference.names, status);
    if (!module_ || module_->functions().empty()) {
      const ReferencePlan& plan = setup.reference_plans.front();
      throw Error(
          ErrorKind::device,
          fmt::format("{} cannot be loaded on the device: {}",
                      plan.place.empty() ? plan.checker_place : plan.place, status.message));
    }
  }

  [[nodiscard]] std::unique_ptr<Oracle> oracle(std::size_t index,
                                               std::uint64_t seed_of_case) override;
  void run_reference(const LaunchGeometry& geometry, const ReferencePlan& plan,
                     const ArgumentValues& values) {
    fill(plan.place, plan.constants, values);
    const auto status = run(module_->functions().front(), geometry, plan.argument, values);
    if (!status.ok()) refuse(ErrorKind::template_, plan.place, status);
  }
  /// It is the last of the kernels, or the only one.
  void run_checker(const ReferencePlan& plan, const ArgumentValues& values) {
    fill(plan.checker_place, plan.checker_constants, values);
    const auto status =
        run(module_->functions().back(), plan.checker_geometry, plan.checker_argument, values);
    // It may be the candidate's doing, whose results the checker reads.
    if (!status.ok()) refuse(ErrorKind::device, plan.checker_place, status);
  }

  MemoryLedger& ledger;
  SupportKernels& kernels;

 private:
  void fill(std::string_view place, const std::vector<ConstantFill>& constants,
            const ArgumentValues& values);
  [[nodiscard]] DeviceStatus run(DeviceFunction function, const LaunchGeometry& geometry,
                                 const ArgumentPlan& plan, const ArgumentValues& values);
  [[noreturn]] void refuse(ErrorKind kind, std::string_view place,
                           const DeviceStatus& status) const;

  const EvaluationSetup& setup_;  ///< until the references are computed
  std::string operation_;
  std::unique_ptr<LoadedModule> module_;
};

class DeclaredOracle : public Oracle {
 public:
  DeclaredOracle(DeclaredOracles& shared, const ProblemCase& one, const LaunchGeometry& geometry,
                 const ReferencePlan& plan, std::uint64_t seed)
      : shared_(shared), case_(one), geometry_(geometry), plan_(plan), seed_(seed) {}

  [[nodiscard]] bool has(DataKind kind) const override {
    return kind == DataKind::normal || plan_.integer_range > 0;
  }
  [[nodiscard]] FillRecipe recipe(DataKind kind) const override {
    return {kind, seed_, std::max(plan_.integer_range, 1)};
  }
  /// Results of whole numbers are exact with the stated scalars.
  [[nodiscard]] std::vector<Scalar> scalars(DataKind kind) const override {
    return kind == DataKind::integer ? case_.scalars : plan_.scalars;
  }
  [[nodiscard]] std::string conditions(DataKind kind) const override {
    return kind == DataKind::integer ? "" : plan_.scalars_text;
  }
  [[nodiscard]] bool is_deterministic() const override { return plan_.deterministic; }
  [[nodiscard]] std::string scope() const override { return describe(plan_.parts); }
  void learn(DataKind kind, OperandSet& operands) override;
  [[nodiscard]] WrongOutput compare(DataKind kind, std::size_t output,
                                    const RunOperands& run) override;

 private:
  [[nodiscard]] std::vector<std::int64_t> starts(DataKind kind) const {
    return part_starts(plan_.parts, seed_ * 2 + (kind == DataKind::integer ? 1 : 0));
  }
  [[nodiscard]] bool has_elements(std::size_t operand) const {
    return case_.operands[operand].present && case_.operands[operand].shape.elements() > 0;
  }
  [[nodiscard]] bool is_judged_by_checker(std::size_t output) const;
  [[nodiscard]] CompareResult compare_part(const OutputRule& rule, bool exact,
                                           const Expected& expected, const OperandPart& part,
                                           DevicePtr data);
  [[nodiscard]] CompareResult check_part(DataKind kind, std::int64_t start, const RunOperands& run);
  [[nodiscard]] CompareResult value_at(const OperandPart& part, DevicePtr data, std::int64_t index);

  DeclaredOracles& shared_;
  ProblemCase case_;
  LaunchGeometry geometry_;
  ReferencePlan plan_;
  std::uint64_t seed_;
  std::map<std::size_t, std::vector<Expected>> integer_, normal_;  ///< by output, of each part
};

void DeclaredOracle::learn(DataKind kind, OperandSet& operands) {
  auto& expected = kind == DataKind::integer ? integer_ : normal_;
  expected.clear();
  if (!needs_reference(plan_)) return;
  const RunOperands run = run_operands(operands);
  for (const std::int64_t start : starts(kind)) {
    const JudgedPart part{case_, plan_.parts, start, recipe(kind), run};
    JudgeBuffers buffers(shared_.ledger, shared_.kernels, part, false);
    buffers.provide(plan_.argument);
    buffers.provide(plan_.constants);
    shared_.run_reference(geometry_, plan_, buffers.values(scalars(kind)));
    for (const OutputRule& rule : plan_.rules) {
      const bool is_computed = rule.kind != RightSpec::Kind::checker && has_elements(rule.operand);
      if (is_computed) expected[rule.operand].push_back(buffers.take(rule.operand));
    }
  }
}

WrongOutput DeclaredOracle::compare(DataKind kind, std::size_t output, const RunOperands& run) {
  const OutputRule& rule =
      *std::ranges::find(plan_.rules, output, [](const OutputRule& one) { return one.operand; });
  const bool by_checker = rule.kind == RightSpec::Kind::checker;
  WrongOutput total;
  if (!has_elements(output) || (by_checker && !is_judged_by_checker(output))) return total;
  if (by_checker) total.checker = plan_.checker;
  total.type = case_.operands[output].shape.type;
  total.line = case_.operands[output].shape.line;
  const bool exact = kind == DataKind::integer || rule.kind == RightSpec::Kind::exact;
  const auto begins = starts(kind);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const OperandPart part =
        operand_part(plan_.parts, output, case_.operands[output].shape, begins[i]);
    const DevicePtr data = run[output]->data() + static_cast<DevicePtr>(part.offset);
    const CompareResult found =
        by_checker ? check_part(kind, begins[i], run)
                   : compare_part(rule, exact,
                                  (kind == DataKind::integer ? integer_ : normal_).at(output)[i],
                                  part, data);
    const std::int64_t elements = part.shape.rows * part.shape.cols;
    if (found.failures != 0 && total.found.failures == 0) {
      const auto first = static_cast<std::int64_t>(found.first_failure);
      total.has_place = first >= 0 && first < elements;
      if (total.has_place) {
        total.row = part.row + first / part.shape.cols;
        total.col = part.col + first % part.shape.cols;
      }
      const CompareResult before = total.found;
      total.found = by_checker && total.has_place ? value_at(part, data, first) : found;
      total.found.failures = 0;
      total.found.unbounded = before.unbounded;
      total.found.worst_ratio = before.worst_ratio;
    }
    total.compared += elements;
    total.found.failures += found.failures;
    total.found.unbounded += found.unbounded;
    total.found.worst_ratio = std::max(total.found.worst_ratio, found.worst_ratio);
  }
  return total;
}

/// One run of the checker judges all that is its to judge; that is done for the first of them.
bool DeclaredOracle::is_judged_by_checker(std::size_t output) const {
  const auto first = std::ranges::find_if(plan_.rules, [&](const OutputRule& rule) {
    return rule.kind == RightSpec::Kind::checker && has_elements(rule.operand);
  });
  return first->operand == output;
}

CompareResult DeclaredOracle::compare_part(const OutputRule& rule, bool exact,
                                           const Expected& expected, const OperandPart& part,
                                           DevicePtr data) {
  CompareArgs args{};
  args.d = reinterpret_cast<const void*>(data);
  args.ref = reinterpret_cast<const double*>(expected.value.address());
  args.absolute = reinterpret_cast<const double*>(expected.magnitude.address());
  args.own = reinterpret_cast<const void*>(expected.own_at);
  args.rows = part.shape.rows;
  args.cols = part.shape.cols;
  args.ld_d = part.shape.ld;
  args.ld_ref = expected.own_at != 0 ? part.shape.ld : part.shape.cols;
  args.ld_absolute = part.shape.cols;
  args.u_out = rule.relative;
  args.c_factor = rule.magnitude;
  args.atol = rule.absolute;
  args.dtype = static_cast<int>(part.shape.type);
  args.mode = exact ? kCompareExact : kCompareBounded;
  return shared_.kernels.compare(args);
}

CompareResult DeclaredOracle::check_part(DataKind kind, std::int64_t start,
                                         const RunOperands& run) {
  const JudgedPart part{case_, plan_.parts, start, recipe(kind), run};
  JudgeBuffers buffers(shared_.ledger, shared_.kernels, part, true);
  buffers.provide(plan_.checker_argument);
  buffers.provide(plan_.checker_constants);
  shared_.run_checker(plan_, buffers.values(scalars(kind)));
  const CountResult counted = buffers.verdict();
  CompareResult found;
  found.failures = counted.count;
  found.first_failure = counted.first;
  return found;
}

/// Element `index` of a part, whose rows are counted without gaps.
CompareResult DeclaredOracle::value_at(const OperandPart& part, DevicePtr data,
                                       std::int64_t index) {
  std::array<double, 2> parts{};
  const DeviceBuffer element(shared_.ledger, sizeof(parts), "an element");
  const std::int64_t at = index / part.shape.cols * part.shape.ld + index % part.shape.cols;
  const std::int64_t bytes = size_bytes(part.shape.type);
  const MatrixShape one = in_real_numbers({1, 1, 1, part.shape.type});
  ConvertArgs args{};
  args.from = reinterpret_cast<const void*>(data + static_cast<DevicePtr>(at * bytes));
  args.to = reinterpret_cast<double*>(element.address());
  args.rows = 1;
  args.cols = args.ld_from = args.ld_to = one.cols;
  args.dtype = static_cast<int>(one.type);
  shared_.kernels.convert(args);
  Device& device = shared_.ledger.device();
  device.copy_to_host(parts.data(), element.address(),
                      one.cols * static_cast<std::int64_t>(sizeof(double)));
  CompareResult value;
  value.first_value = parts[0];
  value.first_value_imaginary = parts[1];
  if (bytes == sizeof(value.first_value_bits)) {
    device.copy_to_host(&value.first_value_bits, reinterpret_cast<DevicePtr>(args.from), bytes);
  }
  return value;
}

void DeclaredOracles::fill(std::string_view place, const std::vector<ConstantFill>& constants,
                           const ArgumentValues& values) {
  if (constants.empty()) return;
  Device& device = ledger.device();
  std::vector<ConstantArray> arrays;
  DeviceStatus status = find_constant_arrays(device, *module_, constants, arrays);
  if (status.ok()) {
    status = fill_constant_arrays(device, arrays, values.operands, device.own_stream());
  }
  if (status.ok()) return;
  throw Error(ErrorKind::template_, fmt::format("{}: {}", place, status.message));
}

DeviceStatus DeclaredOracles::run(DeviceFunction function, const LaunchGeometry& geometry,
                                  const ArgumentPlan& plan, const ArgumentValues& values) {
  std::vector<std::byte> argument(plan.image.size());
  fill_argument(plan, values, argument.data());
  LaunchRequest request;
  request.function = function;
  request.geometry = geometry;
  request.arguments = argument.data();
  request.argument_bytes = argument.size();
  request.parameters = plan.parameters;
  Device& device = ledger.device();
  DeviceStatus status = device.launch(request, device.own_stream());
  if (const DeviceStatus end = device.synchronize(); status.ok()) status = end;
  return status;
}

void DeclaredOracles::refuse(ErrorKind kind, std::string_view place,
                             const DeviceStatus& status) const {
  throw Error(
      kind,
      fmt::format(
          "{} {}: {}. Next: correct this kernel. Until then, Kiln cannot verify any kernel of {}",
          place, status.found ? "has an error" : "does not run", status.message, operation_));
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
