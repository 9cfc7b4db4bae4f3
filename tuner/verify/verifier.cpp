// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verify/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/error.hpp"

namespace kiln {
namespace {

std::string_view describe(DataKind kind) {
  return kind == DataKind::integer ? "integers" : "normal data";
}

/// A ratio that a database and JSON can represent.
double finite_ratio(float ratio) {
  return std::isfinite(ratio) ? static_cast<double>(ratio) : 1e30;
}

}  // namespace

bool is_checkable(const DeviceInfo& device, const ProblemCase& one) {
  if (device.most_products == 0) return true;
  // A quarter of the memory is for one session.
  const double most_bytes = static_cast<double>(device.total_memory_bytes) / 4.0;
  return one.products <= static_cast<double>(device.most_products) &&
         OperandSet::judged_bytes(one) <= most_bytes;
}

/// One problem to be solved, with everything known about its answer.
struct Verifier::Case {
  /// One that is not judged takes no memory where times are predicted.
  Case(MemoryLedger& ledger, const ProblemCase& from, std::unique_ptr<Oracle> knows, bool judges)
      : oracle(std::move(knows)),
        judged(judges),
        operands(ledger, from, describe(from), judges ? MemoryUse::judged : MemoryUse::predicted) {
    for (std::size_t i = 0; i < operands.count(); ++i) {
      const OperandPlan& plan = operands.plan(i);
      second.emplace_back();
      if (!is_output(i) || !judged) continue;
      second.back() = Matrix(
          ledger, plan.shape,
          fmt::format("the buffer for the second run's {} in {}", plan.name, describe(from)));
    }
  }

  [[nodiscard]] bool is_output(std::size_t index) const {
    const OperandPlan& plan = operands.plan(index);
    return plan.present && plan.role != OperandRole::in;
  }
  /// Whether what was filled in must be there after a run.
  [[nodiscard]] bool must_stay(std::size_t index, DataKind kind) const {
    return operands.is_input(index) && operands.plan(index).role == OperandRole::in &&
           !operands.plan(index).scratch && index != oracle->ignored(kind);
  }
  /// The input in whose place the second run writes that output.
  [[nodiscard]] std::optional<std::size_t> shared_input(std::size_t output, DataKind kind) const {
    const auto place = oracle->in_place(kind);
    if (!place || place->output != output) return std::nullopt;
    return place->input;
  }

  [[nodiscard]] std::size_t output_count() const {
    std::size_t outputs = 0;
    for (std::size_t i = 0; i < operands.count(); ++i) outputs += is_output(i) ? 1 : 0;
    return outputs;
  }

  std::unique_ptr<Oracle> oracle;
  bool judged = true;
  OperandSet operands;
  std::vector<Matrix> second;  ///< of outputs: what the second run writes
};

/// Device-side counts that must all be zero, with the message for each that is not.
class Verifier::Checks {
 public:
  explicit Checks(SupportKernels& kernels) : kernels_(kernels) {}

  void zones(const GuardedBuffer& buffer, const std::string& name) {
    if (buffer.front_bytes() == 0) return;  // an access outside is a fault
    bytes_are(
        buffer.front(), buffer.front_bytes(), GuardedBuffer::kPattern,
        [name, length = buffer.front_bytes()](const CountResult& found) {
          return fmt::format(
              "the kernel wrote {0} bytes before {1}, first at offset -{2} from the start of {1}",
              found.count, name, length - static_cast<std::int64_t>(found.first));
        });
    bytes_are(buffer.back(), buffer.back_bytes(), GuardedBuffer::kPattern,
              [name](const CountResult& found) {
                return fmt::format(
                    "the kernel wrote {0} bytes after {1}, first at offset {2} from the end of {1}",
                    found.count, name, found.first);
              });
  }

  /// The workspace was poisoned; what comes after `used` must still be.
  void unused_workspace(const GuardedBuffer& workspace, std::int64_t used) {
    if (used == workspace.bytes()) return;
    bytes_are(workspace.data() + static_cast<DevicePtr>(used), workspace.bytes() - used,
              GuardedBuffer::kPoison, [](const CountResult& found) {
                return fmt::format(
                    "the kernel wrote {} bytes after the workspace, first at offset {} from the "
                    "end of the "
                    "workspace",
                    found.count, found.first);
              });
  }

  void padding(const Matrix& output, int poison, const std::string& name) {
    const MatrixShape& shape = output.shape();
    if (shape.ld == shape.cols || shape.rows == 1) return;
    const std::int64_t element = size_bytes(shape.type);
    MismatchArgs args{};
    args.data = reinterpret_cast<const void*>(output.data());
    args.rows = shape.rows - 1;  // what follows the last row is a zone already
    args.pitch = shape.ld * element;
    args.begin = shape.cols * element;
    args.end = shape.ld * element;
    args.pattern = poison;
    kernels_.count_mismatch(args);
    words_.emplace_back([pitch = args.pitch, element, name,
                         behind_pointers = shape.pointers](const CountResult& found) {
      const auto first = static_cast<std::int64_t>(found.first);
      const std::string place = behind_pointers ? "between the arrays" : "into the padding";
      return fmt::format("the kernel wrote {} bytes {} of {}, first at row {} column {}",
                         found.count, place, name, first / pitch, first % pitch / element);
    });
  }

  /// What lies between the rows of both is the same.
  void same_padding(const MatrixShape& shape, DevicePtr x, DevicePtr y, const std::string& name) {
    if (shape.ld == shape.cols || shape.rows == 1) return;
    MatrixShape between = shape;
    between.rows = shape.rows - 1;
    const auto skipped = static_cast<DevicePtr>(shape.cols * size_bytes(shape.type));
    difference(between, between.rows, shape.ld - shape.cols, shape.ld - shape.cols, x + skipped,
               y + skipped, "the kernel wrote into the padding of " + name);
  }

  /// Elements that count are the same.
  void same(const MatrixShape& shape, DevicePtr x, DevicePtr y, const std::string& complaint) {
    difference(shape, shape.rows, shape.cols, shape.cols, x, y, complaint);
  }
  /// So is what is between the rows.
  void same_with_padding(const MatrixShape& shape, DevicePtr x, DevicePtr y,
                         const std::string& complaint) {
    difference(shape, 1, shape.elements(), shape.ld, x, y, complaint);
  }

  /// The message for the first check that failed.
  [[nodiscard]] std::optional<std::string> first_complaint() {
    const std::vector<CountResult> counts = kernels_.take_counts();
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i].count != 0) return words_[i](counts[i]);
    }
    return std::nullopt;
  }

 private:
  using Words = std::function<std::string(const CountResult&)>;

  void bytes_are(DevicePtr from, std::int64_t length, int pattern, Words words) {
    MismatchArgs args{};
    args.data = reinterpret_cast<const void*>(from);
    args.rows = 1;
    args.pitch = length;
    args.end = length;
    args.pattern = pattern;
    kernels_.count_mismatch(args);
    words_.push_back(std::move(words));
  }

  /// Compares rows of `length` elements; element i is in row i / pitch.
  void difference(const MatrixShape& shape, std::int64_t rows, std::int64_t length,
                  std::int64_t pitch, DevicePtr x, DevicePtr y, const std::string& complaint) {
    DifferenceArgs args{};
    args.x = reinterpret_cast<const void*>(x);
    args.y = reinterpret_cast<const void*>(y);
    args.rows = rows;
    args.cols = length;
    args.ld_x = shape.ld;
    args.ld_y = shape.ld;
    args.element_bytes = size_bytes(shape.type);
    kernels_.count_difference(args);
    words_.emplace_back([complaint, pitch, shape](const CountResult& found) {
      const auto first = static_cast<std::int64_t>(found.first);
      return fmt::format("{} in {} element{}, first at {}", complaint, found.count,
                         found.count == 1 ? "" : "s",
                         element_place(shape, first / pitch, first % pitch));
    });
  }

  SupportKernels& kernels_;
  std::vector<Words> words_;
};

Verifier::Verifier(MemoryLedger& ledger, SupportKernels& kernels, const EvaluationSetup& setup)
    : device_(ledger.device()), kernels_(kernels) {
  if (setup.cases.empty() || setup.reference_geometry.size() != setup.cases.size()) {
    throw Error(ErrorKind::internal,
                "the evaluation request lacks reference launches; please report this bug in Kiln");
  }
  oracles_ = make_oracles(ledger, kernels, setup);
  std::int64_t scratch_bytes = 0;
  for (std::size_t i = 0; i < setup.cases.size(); ++i) {
    auto& added = *cases_.emplace_back(
        std::make_unique<Case>(ledger, setup.cases[i], oracles_->oracle(i, setup.seed * 64 + i),
                               is_checkable(device_.info(), setup.cases[i])));
    if (!added.judged) continue;
    for (std::size_t j = 0; j < added.operands.count(); ++j) {
      if (!added.operands.is_input(j)) continue;
      scratch_bytes = std::max(scratch_bytes, added.operands[j].shape().bytes());
    }
    for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
      if (!added.oracle->has(kind)) continue;
      added.operands.make_inputs(kernels, added.oracle->recipe(kind), *added.oracle);
      added.operands.keep_made_inputs(ledger, kernels, kind);
      added.oracle->learn(kind, added.operands);
    }
  }
  scratch_ = DeviceBuffer(ledger, scratch_bytes, "the reference copy of the inputs");
  for (const auto& added : cases_) {
    if (added->judged) check_made_inputs(*added);
  }
}

/// What a fill kernel does beside its work would be taken for a candidate's fault.
void Verifier::check_made_inputs(Case& problem) {
  OperandSet& operands = problem.operands;
  for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
    if (!problem.oracle->has(kind) || problem.oracle->makers_text().empty()) continue;
    const FillRecipe recipe = problem.oracle->recipe(kind);
    operands.make_inputs(kernels_, recipe, *problem.oracle);
    std::optional<std::string> complaint;
    for (std::size_t i = 0; i < operands.count() && !complaint; ++i) {
      if (!operands.is_input(i) || operands[i].is_empty()) continue;
      Checks checks(kernels_);
      const OperandPlan& plan = operands.plan(i);
      const bool made = operands.is_made_input(i, kind);
      write_filled(kernels_, plan, operands[i], scratch_.address(), i, recipe);
      checks.zones(operands[i].buffer(), plan.name);
      checks.same_with_padding(
          plan.shape, operands[i].data(), scratch_.address(),
          made ? fmt::format("two runs gave different data for {}", plan.name)
               : fmt::format("it changed {}, which it does not fill,", plan.name));
      complaint = checks.first_complaint();
    }
    if (!complaint) continue;
    throw Error(ErrorKind::template_,
                fmt::format("{} for {} ({}): {}. Next: correct this kernel. Until then, Kiln "
                            "cannot verify any kernel of {}",
                            problem.oracle->makers_text(), describe(operands.problem()),
                            describe(kind), *complaint, operands.problem().problem.operation));
  }
}

Verifier::~Verifier() = default;

OperandSet& Verifier::tuned_operands() {
  return cases_.front()->operands;
}

InputMaker& Verifier::tuned_inputs() {
  return *cases_.front()->oracle;
}

Verdict Verifier::judge(const Subject& subject) {
  Verdict verdict;
  for (const std::size_t index : subject.cases) {
    if (!cases_[index]->judged) continue;
    verdict.judged = true;
    for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
      if (!cases_[index]->oracle->has(kind)) continue;
      if (!judge_case(subject, index, kind, verdict)) {
        if (!verdict.status.sticky) repair_zones(subject);
        return verdict;
      }
    }
  }
  verdict.verification.passed = verdict.judged;
  for (const std::size_t index : subject.cases) {
    if (!cases_[index]->judged || !verdict.verification.evidence.empty()) continue;
    verdict.verification.evidence = cases_[index]->oracle->scope();
  }
  // An expression can make any error of a sum an error without limit: 1 / acc where acc may be 0.
  if (verdict.unbounded > 0) {
    verdict.verification.evidence = fmt::format(
        "the rounding error of {} elements can be arbitrarily large, so Kiln accepts any value "
        "of these elements",
        verdict.unbounded);
  }
  if (verdict.judged && !subject.accepted.empty()) {
    std::string& evidence = verdict.verification.evidence;
    evidence += (evidence.empty() ? "" : "; ") + subject.accepted;
  }
  return verdict;
}

// The checks are ordered by how much they explain: a wrong element, then damage, which may
// well make the second run differ from the first, then such a difference.
bool Verifier::judge_case(const Subject& subject, std::size_t index, DataKind kind,
                          Verdict& verdict) {
  Case& problem = *cases_[index];
  OperandSet& operands = problem.operands;
  GuardedBuffer* const workspace = subject.workspaces.empty() ? nullptr : subject.workspaces[index];
  const std::int64_t workspace_bytes = workspace ? subject.workspace_bytes[index] : 0;
  RunArguments arguments = operands.arguments(problem.oracle->scalars(kind),
                                              workspace_bytes > 0 ? workspace->data() : 0);
  const std::string conditions = problem.oracle->conditions(kind);
  verdict.place = fmt::format("{} ({}{}{})", describe(operands.problem()), describe(kind),
                              conditions.empty() ? "" : ", ", conditions);
  const auto refuse = [&](const std::string& complaint) {
    verdict.verification.evidence = fmt::format("{}: {}", verdict.place, complaint);
    return false;
  };

  operands.fill_inputs(kernels_, problem.oracle->recipe(kind));
  // What must not matter is not even a number.
  if (const auto ignored = problem.oracle->ignored(kind)) operands[*ignored].buffer().poison();
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!problem.is_output(i)) continue;
    if (operands.plan(i).role == OperandRole::out) operands[i].buffer().poison();
    problem.second[i].buffer().poison(GuardedBuffer::kSecondPoison);
  }
  if (workspace) workspace->poison();
  const bool has_scratch = !subject.scratch.empty() && !subject.scratch[index].empty();
  for (std::size_t i = 0; has_scratch && i < subject.scratch[index].size(); ++i) {
    subject.scratch[index][i].buffer->poison();
  }
  const Run first{kind, false,
                  !problem.oracle->ignored(kind) && workspace == nullptr && !has_scratch};
  verdict.status = run(subject, index, arguments);
  if (!verdict.status.ok() || !results_are_right(problem, first, verdict)) return false;
  if (const auto complaint = problem.oracle->look_closer(kind, operands, false)) {
    return refuse(*complaint);
  }

  // The second run finds the first one's leftovers in the workspace, as runs in an application do,
  // and where it can it works in place.
  prepare_second_run(problem, kind, arguments);
  verdict.status = run(subject, index, arguments);
  if (!verdict.status.ok()) return false;
  // Where runs may differ, only the oracle can tell what the leftovers have done.
  const bool may_differ = !problem.oracle->is_deterministic();
  if (may_differ && !results_are_right(problem, {kind, true}, verdict)) return false;
  auto complaint = damage(problem, kind, subject, index);
  if (!complaint) complaint = problem.oracle->look_closer(kind, operands, true);
  return complaint ? refuse(*complaint) : true;
}

bool Verifier::results_are_right(Case& problem, const Run& of, Verdict& verdict) {
  const auto [kind, second, only_outputs_poisoned] = of;
  Verification& verification = verdict.verification;
  RunOperands run = run_operands(problem.operands);
  for (std::size_t i = 0; i < run.size() && second; ++i) {
    if (problem.is_output(i)) run[i] = &problem.second[i];
  }
  for (std::size_t i = 0; i < problem.operands.count(); ++i) {
    if (!problem.is_output(i)) continue;
    WrongOutput wrong = problem.oracle->compare(kind, i, run);
    const CompareResult& found = wrong.found;
    verification.worst_ratio = std::max(verification.worst_ratio, finite_ratio(found.worst_ratio));
    verdict.unbounded += found.unbounded;
    if (found.failures == 0) continue;
    // What a kernel copies from another place that nobody wrote looks the same.
    const bool poisoned = problem.operands.plan(i).role == OperandRole::out &&
                          only_outputs_poisoned &&
                          has_bytes(*run[i], wrong, GuardedBuffer::kPoison);
    // A kernel may have written an integer, or one of the few numbers that a byte has.
    wrong.unwritten =
        poisoned && std::isnan(wrong.found.first_value) && size_bytes(run[i]->shape().type) > 1;
    const std::string_view doubt = poisoned && !wrong.unwritten
                                       ? "; this element still has its value from before the "
                                         "launch, so the kernel may not have written the element"
                                       : "";
    // Which of several outputs it is.
    const bool several = problem.output_count() > 1;
    verification.evidence = fmt::format(
        "{}: {}{}{}; {} element{} wrong{}{}", verdict.place,
        second ? "only the second run is wrong: " : "",
        several ? problem.operands.plan(i).name + ", " : "", describe(wrong), found.failures,
        found.failures == 1 ? "" : "s", excess_text(found.worst_ratio, found.failures), doubt);
    return false;
  }
  return true;
}

/// Whether all bytes of the first wrong element are `pattern`.
bool Verifier::has_bytes(const Matrix& output, const WrongOutput& wrong, int pattern) const {
  const MatrixShape& shape = output.shape();
  if (!wrong.has_place) return false;
  std::vector<unsigned char> bytes(static_cast<std::size_t>(size_bytes(shape.type)));
  const std::int64_t at = (wrong.row * shape.ld + wrong.col) * size_bytes(shape.type);
  device_.copy_to_host(bytes.data(), output.data() + static_cast<DevicePtr>(at), bytes.size());
  return std::ranges::all_of(bytes, [&](unsigned char byte) { return byte == pattern; });
}

void Verifier::prepare_second_run(Case& problem, DataKind kind, RunArguments& arguments) {
  OperandSet& operands = problem.operands;
  const FillRecipe recipe = problem.oracle->recipe(kind);
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!operands.plan(i).scratch || !operands.is_input(i) || operands[i].is_empty()) continue;
    write_filled(kernels_, operands.plan(i), operands[i], operands[i].data(), i, recipe);
  }
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!problem.is_output(i) || operands[i].is_empty()) continue;
    arguments.operands[i] = problem.second[i].argument();
    std::optional<std::size_t> source;
    if (operands.plan(i).role == OperandRole::inout) source = i;
    if (const auto shared = problem.shared_input(i, kind)) {
      source = shared;
      arguments.operands[*shared] = arguments.operands[i];
    }
    if (!source) continue;
    write_filled(kernels_, operands.plan(*source), operands[*source], problem.second[i].data(),
                 *source, recipe);
  }
  operands.reset_peaks();
}

/// What runs may not do, whatever their results: a complaint, or nothing.
std::optional<std::string> Verifier::damage(const Case& problem, DataKind kind,
                                            const Subject& subject, std::size_t index) {
  const OperandSet& operands = problem.operands;
  const FillRecipe recipe = problem.oracle->recipe(kind);
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (operands[i].has_its_pointers() && problem.second[i].has_its_pointers()) continue;
    return fmt::format("the kernel overwrote the pointers to the arrays of {}",
                       operands.plan(i).name);
  }
  Checks checks(kernels_);
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!problem.is_output(i) || operands[i].is_empty()) continue;
    if (operands.plan(i).role == OperandRole::inout) {
      if (operands[i].shape().ld == operands[i].shape().cols) continue;
      write_filled(kernels_, operands.plan(i), operands[i], scratch_.address(), i, recipe);
      for (const Matrix* const written : {&operands[i], &problem.second[i]}) {
        checks.same_padding(written->shape(), written->data(), scratch_.address(),
                            operands.plan(i).name);
      }
      continue;
    }
    checks.padding(operands[i], GuardedBuffer::kPoison, operands.plan(i).name);
    if (const auto shared = problem.shared_input(i, kind)) {
      checks.same_padding(operands[i].shape(), problem.second[i].data(), operands[*shared].data(),
                          operands.plan(i).name + " (in-place run)");
    } else {
      checks.padding(problem.second[i], GuardedBuffer::kSecondPoison, operands.plan(i).name);
    }
  }
  for (std::size_t i = 0; i < operands.count(); ++i) {
    const OperandPlan& plan = operands.plan(i);
    if (problem.must_stay(i, kind) && !operands[i].is_empty()) {
      write_filled(kernels_, plan, operands[i], scratch_.address(), i, recipe);
      checks.same_with_padding(plan.shape, operands[i].data(), scratch_.address(),
                               "changed input " + plan.name);
      checks.zones(operands[i].buffer(), plan.name);
    } else if (plan.shape.recorded) {
      checks.zones(operands[i].buffer(), plan.name);
    } else if (plan.scratch && operands.is_input(i) && !operands[i].is_empty()) {
      checks.zones(operands[i].buffer(), plan.name);
      if (plan.shape.ld == plan.shape.cols) continue;
      write_filled(kernels_, plan, operands[i], scratch_.address(), i, recipe);
      checks.same_padding(plan.shape, operands[i].data(), scratch_.address(), plan.name);
    }
  }
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!problem.is_output(i)) continue;
    checks.zones(operands[i].buffer(), operands.plan(i).name);
    checks.zones(problem.second[i].buffer(), operands.plan(i).name);
  }
  if (!subject.workspaces.empty() && subject.workspaces[index] != nullptr) {
    const GuardedBuffer& workspace = *subject.workspaces[index];
    checks.unused_workspace(workspace, subject.workspace_bytes[index]);
    checks.zones(workspace, "the workspace");
  }
  if (!subject.scratch.empty()) {
    for (const auto& [name, buffer] : subject.scratch[index]) checks.zones(*buffer, name);
  }
  for (std::size_t i = 0; i < operands.count(); ++i) {
    if (!problem.is_output(i) || !problem.oracle->is_deterministic()) continue;
    const bool in_place = problem.shared_input(i, kind).has_value();
    const std::string whose = problem.output_count() > 1 ? " in " + operands.plan(i).name : "";
    checks.same(
        operands[i].shape(), operands[i].data(), problem.second[i].data(),
        (in_place
             ? "two runs gave different results (in the second run, C and D were the same array)"
             : "two runs gave different results") +
            whose);
  }
  return checks.first_complaint();
}

DeviceStatus Verifier::run(const Subject& subject, std::size_t index,
                           const RunArguments& arguments) {
  DeviceStatus status = subject.run(index, arguments, device_.own_stream());
  // Launches before the refused one may still be running; only their end makes buffers ours again.
  const DeviceStatus end = device_.synchronize();
  return status.ok() || end.sticky ? end : status;
}

void Verifier::repair_zones(const Subject& subject) {
  for (const auto& problem : cases_) {
    for (std::size_t i = 0; i < problem->operands.count(); ++i) {
      if (!problem->operands.plan(i).present) continue;
      problem->operands[i].buffer().paint_zones();
      problem->operands[i].write_pointers();
      if (!problem->is_output(i)) continue;
      problem->second[i].buffer().paint_zones();
      problem->second[i].write_pointers();
    }
  }
  for (GuardedBuffer* workspace : subject.workspaces) {
    if (workspace) workspace->paint_zones();
  }
  for (const auto& arrays : subject.scratch) {
    for (const auto& scratch : arrays) scratch.buffer->paint_zones();
  }
}

}  // namespace kiln
