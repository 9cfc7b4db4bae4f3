// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is right for a declared operation: its reference and its checker, and its rules; and what
// its fill kernels make.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "kiln/error.hpp"
#include "tuner/data_file.hpp"
#include "tuner/verify/judge_buffers.hpp"
#include "tuner/verify/judge_module.hpp"

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
      : ledger(memory), kernels(support), judges(memory.device(), setup), setup_(setup) {}

  [[nodiscard]] std::unique_ptr<Oracle> oracle(std::size_t index,
                                               std::uint64_t seed_of_case) override;

  MemoryLedger& ledger;
  SupportKernels& kernels;
  JudgeModule judges;

 private:
  const EvaluationSetup& setup_;  ///< until the references are computed
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
    return {kind, seed_, std::max(plan_.integer_range, 1), scalars(kind)};
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
  void make(OperandSet& operands, const FillRecipe& recipe) override;
  [[nodiscard]] std::string makers_text() const override {
    std::string text;
    for (const FillRun& fill : plan_.fills) text += (text.empty() ? "" : ", ") + fill.place;
    return text;
  }
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
  RunOperands filled_;  ///< the operands that the reference was computed from
};

void DeclaredOracle::make(OperandSet& operands, const FillRecipe& recipe) {
  const CaseParts whole;
  const RunOperands run = run_operands(operands);
  for (std::size_t i = 0; i < operands.count(); ++i) {
    const Matrix& to = operands[i];
    if (!operands.is_made_input(i, recipe.kind) || !is_of_file(operands.plan(i), recipe.kind)) {
      continue;
    }
    const DevicePtr known = filled_.empty() ? 0 : filled_[i]->kept(recipe.kind);
    if (known != 0) {
      shared_.kernels.copy(to.data(), known, to.shape().bytes());
    } else {
      load_data(shared_.ledger.device(), operands.plan(i), to.data());
    }
  }
  const std::size_t first = shared_.judges.count() - plan_.fills.size();
  for (std::size_t i = 0; i < plan_.fills.size(); ++i) {
    const FillRun& fill = plan_.fills[i];
    if (std::ranges::none_of(fill.operands, [&](std::uint16_t index) {
          return operands.is_made_input(index, recipe.kind) &&
                 !is_of_file(operands.plan(index), recipe.kind);
        })) {
      continue;
    }
    const JudgedPart all{case_, whole, 0, recipe, run, run};
    JudgeBuffers buffers(shared_.ledger, shared_.kernels, all, JudgeRole::fill);
    buffers.provide(fill.argument);
    buffers.provide(fill.constants);
    shared_.judges.run(
        {first + i, fill.place, fill.geometry, fill.argument, fill.constants, case_.problem},
        buffers.values(recipe.scalars), ErrorKind::template_);
  }
}

void DeclaredOracle::learn(DataKind kind, OperandSet& operands) {
  auto& expected = kind == DataKind::integer ? integer_ : normal_;
  expected.clear();
  filled_ = run_operands(operands);
  if (!needs_reference(plan_)) return;
  for (const std::int64_t start : starts(kind)) {
    const JudgedPart part{case_, plan_.parts, start, recipe(kind), filled_, filled_};
    JudgeBuffers buffers(shared_.ledger, shared_.kernels, part, JudgeRole::reference);
    buffers.provide(plan_.argument);
    buffers.provide(plan_.constants);
    shared_.judges.run({0, plan_.place, geometry_, plan_.argument, plan_.constants, case_.problem},
                       buffers.values(scalars(kind)), ErrorKind::template_);
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
  const JudgedPart part{case_, plan_.parts, start, recipe(kind), run, filled_};
  JudgeBuffers buffers(shared_.ledger, shared_.kernels, part, JudgeRole::checker);
  buffers.provide(plan_.checker_argument);
  buffers.provide(plan_.checker_constants);
  // It is the last of the kernels but those that fill. A fault may be the candidate's doing, whose
  // results the checker reads.
  const std::size_t checker = shared_.judges.count() - plan_.fills.size() - 1;
  shared_.judges.run({checker, plan_.checker_place, plan_.checker_geometry, plan_.checker_argument,
                      plan_.checker_constants, case_.problem},
                     buffers.values(scalars(kind)), ErrorKind::device);
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
