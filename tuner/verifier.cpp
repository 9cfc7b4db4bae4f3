// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kiln/error.hpp"
#include "tuner/peaks.hpp"

namespace kiln {
namespace {

std::string describe(const Gemm& gemm) {
  return fmt::format("m={} n={} k={}", gemm.m, gemm.n, gemm.k);
}

std::string_view describe(DataKind kind) {
  return kind == DataKind::integer ? "integers" : "normal data";
}

/// Of fill_arguments().
constexpr int kSlotOfC = 2;

/// A ratio that a database and JSON can represent.
double finite_ratio(float ratio) {
  return std::isfinite(ratio) ? static_cast<double>(ratio) : 1e30;
}

/// Whether an application may let D be C.
bool may_be_in_place(const Gemm& gemm) {
  return gemm.reads_c && gemm.c == gemm.d && gemm.ldc == gemm.ldd &&
         gemm.alignment_c <= gemm.alignment_d;
}

void check_case(const GemmCase& problem) {
  if (problem.beta != 0.0 && !problem.gemm.reads_c && problem.gemm.epilogue.is_default()) {
    throw Error(ErrorKind::usage,
                "beta is not zero for a problem that does not read C; set "
                "reads_c, or leave beta out");
  }
}

}  // namespace

bool is_checkable(const DeviceInfo& device, const Gemm& gemm) {
  if (device.most_products == 0) return true;
  return static_cast<double>(gemm.m) * static_cast<double>(gemm.n) * static_cast<double>(gemm.k) <=
         static_cast<double>(device.most_products);
}

/// One problem to be solved, with everything known about its answer.
struct Verifier::Case {
  Case(MemoryLedger& ledger, const GemmCase& from, std::uint64_t seed_of_case)
      : gemm(normalised(from.gemm)),
        alpha(from.alpha),
        beta(from.beta),
        seed(seed_of_case),
        exact(plan_exact(gemm)),
        operands(ledger, gemm, describe(gemm)),
        second_d(ledger, shapes_of(gemm).d, "the second result of " + describe(gemm)) {}

  [[nodiscard]] FillRecipe recipe(DataKind kind) const { return {kind, seed, exact.range}; }
  [[nodiscard]] double alpha_for(DataKind kind) const {
    return kind == DataKind::integer ? exact.alpha : alpha;
  }
  [[nodiscard]] double beta_for(DataKind kind) const {
    return kind == DataKind::integer ? exact.beta : beta;
  }
  [[nodiscard]] const Reference& reference(DataKind kind) const {
    return kind == DataKind::integer ? integer : normal;
  }
  /// Integer arithmetic is exact whatever the data; what an expression computes need not be.
  [[nodiscard]] bool compares_exactly(DataKind kind) const {
    if (!gemm.epilogue.is_default()) return false;
    return kind == DataKind::integer || has_whole_factors(gemm);
  }

  Gemm gemm;
  double alpha, beta;
  std::uint64_t seed;
  bool judged = true;
  ExactPlan exact;
  OperandSet operands;
  Matrix second_d;
  Reference integer, normal;
};

/// Device-side counts that must all be zero, with the message for each that is not.
class Verifier::Checks {
 public:
  explicit Checks(SupportKernels& kernels) : kernels_(kernels) {}

  void zones(const GuardedBuffer& buffer, const std::string& name) {
    if (buffer.front_bytes() == 0) return;  // an access outside is a fault
    bytes_are(buffer.front(), buffer.front_bytes(), GuardedBuffer::kPattern,
              [name, length = buffer.front_bytes()](const CountResult& found) {
                return fmt::format("wrote {} bytes before {}, {} bytes ahead of its start",
                                   found.count, name,
                                   length - static_cast<std::int64_t>(found.first));
              });
    bytes_are(buffer.back(), buffer.back_bytes(), GuardedBuffer::kPattern,
              [name](const CountResult& found) {
                return fmt::format("wrote {} bytes after {}, {} bytes past its end", found.count,
                                   name, found.first);
              });
  }

  /// The workspace was poisoned; what comes after `used` must still be.
  void unused_workspace(const GuardedBuffer& workspace, std::int64_t used) {
    if (used == workspace.bytes()) return;
    bytes_are(workspace.data() + static_cast<DevicePtr>(used), workspace.bytes() - used,
              GuardedBuffer::kPoison, [](const CountResult& found) {
                return fmt::format("wrote {} bytes after the workspace, {} bytes past its end",
                                   found.count, found.first);
              });
  }

  void padding(const Matrix& d, int poison) {
    const MatrixShape& shape = d.shape();
    if (shape.ld == shape.cols || shape.rows == 1) return;
    const std::int64_t element = size_bytes(shape.type);
    MismatchArgs args{};
    args.data = reinterpret_cast<const void*>(d.data());
    args.rows = shape.rows - 1;  // what follows the last row is a zone already
    args.pitch = shape.ld * element;
    args.begin = shape.cols * element;
    args.end = shape.ld * element;
    args.pattern = poison;
    kernels_.count_mismatch(args);
    words_.emplace_back([pitch = args.pitch, element](const CountResult& found) {
      const auto first = static_cast<std::int64_t>(found.first);
      return fmt::format("wrote {} bytes into the padding of D, first at row {} column {}",
                         found.count, first / pitch, first % pitch / element);
    });
  }

  /// What lies between the rows of both is the same.
  void same_padding(const MatrixShape& shape, DevicePtr x, DevicePtr y) {
    if (shape.ld == shape.cols || shape.rows == 1) return;
    MatrixShape between = shape;
    between.rows = shape.rows - 1;
    const auto skipped = static_cast<DevicePtr>(shape.cols * size_bytes(shape.type));
    difference(between, between.rows, shape.ld - shape.cols, shape.ld - shape.cols, x + skipped,
               y + skipped, "wrote into the padding of D, in place");
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
    words_.emplace_back([complaint, pitch](const CountResult& found) {
      const auto first = static_cast<std::int64_t>(found.first);
      return fmt::format("{} in {} elements, first at row {} column {}", complaint, found.count,
                         first / pitch, first % pitch);
    });
  }

  SupportKernels& kernels_;
  std::vector<Words> words_;
};

Verifier::Verifier(MemoryLedger& ledger, SupportKernels& kernels, const EvaluationSetup& setup)
    : device_(ledger.device()), kernels_(kernels) {
  if (setup.cases.empty() || setup.reference_geometry.size() != setup.cases.size()) {
    throw Error(ErrorKind::internal, "an evaluation needs a reference launch for each case");
  }
  ReferenceKernel reference_kernel(device_, setup.reference, setup.epilogue);
  std::int64_t scratch_bytes = 0;
  for (std::size_t i = 0; i < setup.cases.size(); ++i) {
    check_case(setup.cases[i]);
    auto& added =
        *cases_.emplace_back(std::make_unique<Case>(ledger, setup.cases[i], setup.seed * 64 + i));
    added.judged = is_checkable(device_.info(), added.gemm);
    if (!added.judged) continue;
    const GemmShapes shapes = shapes_of(added.gemm);
    scratch_bytes = std::max({scratch_bytes, shapes.a.bytes(), shapes.b.bytes(),
                              added.gemm.reads_c ? shapes.c.bytes() : 0});
    for (const MatrixShape& shape : shapes.epilogue) {
      scratch_bytes = std::max(scratch_bytes, shape.bytes());
    }
    for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
      if (kind == DataKind::integer && !added.exact.possible) continue;
      added.operands.fill_inputs(kernels, added.recipe(kind));
      (kind == DataKind::integer ? added.integer : added.normal) = reference_kernel.compute(
          ledger, kernels, setup.reference_geometry[i], added.operands, kind, added.alpha_for(kind),
          added.beta_for(kind), !added.compares_exactly(kind));
    }
  }
  scratch_ = DeviceBuffer(ledger, scratch_bytes, "the copy that inputs are compared with");
}

Verifier::~Verifier() = default;

OperandSet& Verifier::tuned_operands() {
  return cases_.front()->operands;
}

Verdict Verifier::judge(const Subject& subject) {
  Verdict verdict;
  for (const std::size_t index : subject.cases) {
    if (!cases_[index]->judged) continue;
    verdict.judged = true;
    for (const DataKind kind : {DataKind::integer, DataKind::normal}) {
      if (kind == DataKind::integer && !cases_[index]->exact.possible) continue;
      if (!judge_case(subject, index, kind, verdict)) {
        if (!verdict.status.sticky) repair_zones(subject);
        return verdict;
      }
    }
  }
  verdict.verification.passed = verdict.judged;
  // An expression can make any error of a sum an error without limit: 1 / acc where acc may be 0.
  if (verdict.unbounded > 0) {
    verdict.verification.evidence =
        fmt::format("nothing bounds the error of {} elements", verdict.unbounded);
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
  GemmArgs args = operands.arguments(problem.alpha_for(kind), problem.beta_for(kind),
                                     workspace_bytes > 0 ? workspace->data() : 0);
  verdict.place = fmt::format("{} ({})", describe(problem.gemm), describe(kind));

  operands.fill_inputs(kernels_, problem.recipe(kind));
  // With beta 0 the content of C must not matter, not even if it is NaN.
  const bool ignores_c = operands.has_c() && args.beta == 0.0 && problem.gemm.epilogue.is_default();
  if (ignores_c) operands.c.buffer().poison();
  operands.d.buffer().poison();
  problem.second_d.buffer().poison(GuardedBuffer::kSecondPoison);
  if (workspace) workspace->poison();
  verdict.status = run(subject, index, args);
  if (!verdict.status.ok()) return false;

  std::int64_t row = 0;
  std::int64_t col = 0;
  const CompareResult compared = compare(problem, kind, row, col);
  Verification& verification = verdict.verification;
  verification.worst_ratio = std::max(verification.worst_ratio, finite_ratio(compared.worst_ratio));
  verdict.unbounded += compared.unbounded;
  if (compared.failures != 0) {
    verification.evidence =
        fmt::format("{}: row {} column {}: {:g}, expected {:g}, bound {:.3g}; {} elements wrong",
                    verdict.place, row, col, compared.first_value, compared.first_expected,
                    compared.first_bound, compared.failures);
    return false;
  }
  const RecordedPeaks recorded(device_, operands);
  if (const auto complaint = recorded.outside(problem.reference(kind).peaks)) {
    verification.evidence = fmt::format("{}: {}", verdict.place, *complaint);
    return false;
  }

  // The second run finds the first one's leftovers in the workspace, as runs in an application do,
  // and where it can it works in place.
  const FillRecipe recipe = problem.recipe(kind);
  const bool in_place = may_be_in_place(problem.gemm) && !ignores_c;
  args.d = reinterpret_cast<void*>(problem.second_d.data());
  if (in_place) {
    args.c = args.d;
    kernels_.fill_random(
        fill_arguments(operands.c.shape(), problem.second_d.data(), kSlotOfC, recipe));
  }
  operands.reset_peaks();
  verdict.status = run(subject, index, args);
  if (!verdict.status.ok()) return false;

  Checks checks(kernels_);
  const MatrixShape& d = operands.d.shape();
  checks.padding(operands.d, GuardedBuffer::kPoison);
  if (in_place) {
    checks.same_padding(d, problem.second_d.data(), operands.c.data());
  } else {
    checks.padding(problem.second_d, GuardedBuffer::kSecondPoison);
  }
  const auto check_input = [&](const Matrix& input, int slot, const std::string& name) {
    if (input.is_empty()) return;
    kernels_.fill_random(fill_arguments(input.shape(), scratch_.address(), slot, recipe));
    checks.same_with_padding(input.shape(), input.data(), scratch_.address(),
                             "changed input " + name);
    checks.zones(input.buffer(), name);
  };
  check_input(operands.a, 0, "A");
  check_input(operands.b, 1, "B");
  if (operands.has_c() && !ignores_c) check_input(operands.c, kSlotOfC, "C");
  for (std::size_t i = 0; i < operands.epilogue.size(); ++i) {
    const Matrix& operand = operands.epilogue[i];
    const std::string name = problem.gemm.epilogue.operand_name(static_cast<int>(i));
    if (operand.shape().recorded) {
      checks.zones(operand.buffer(), name);
    } else {
      check_input(operand, kFirstEpilogueSlot + static_cast<int>(i), name);
    }
  }
  checks.zones(operands.d.buffer(), "D");
  checks.zones(problem.second_d.buffer(), "D");
  if (workspace) {
    checks.unused_workspace(*workspace, workspace_bytes);
    checks.zones(*workspace, "the workspace");
  }
  checks.same(d, operands.d.data(), problem.second_d.data(),
              in_place ? "two runs, the second in place (D is C), differ" : "two runs differ");
  auto complaint = checks.first_complaint();
  if (!complaint) complaint = recorded.different(RecordedPeaks(device_, operands));
  if (complaint) {
    verification.evidence = fmt::format("{}: {}", verdict.place, *complaint);
    return false;
  }
  return true;
}

DeviceStatus Verifier::run(const Subject& subject, std::size_t index, const GemmArgs& args) {
  DeviceStatus status = subject.run(index, args, device_.own_stream());
  // Launches before the refused one may still be running; only their end makes buffers ours again.
  const DeviceStatus end = device_.synchronize();
  return status.ok() || end.sticky ? end : status;
}

CompareResult Verifier::compare(const Case& problem, DataKind kind, std::int64_t& row,
                                std::int64_t& col) {
  const Reference& reference = problem.reference(kind);
  const MatrixShape& d = problem.operands.d.shape();
  const ErrorBound bound = error_bound(problem.gemm);
  CompareResult total;
  std::int64_t reference_row = 0;
  for (const RowBlock& block : reference.blocks) {
    const std::int64_t skipped = reference_row * d.cols;
    CompareArgs args{};
    args.d = reinterpret_cast<const std::byte*>(problem.operands.d.data()) +
             block.first * d.ld * size_bytes(d.type);
    args.ref = reinterpret_cast<const double*>(reference.value.address()) + skipped;
    if (!problem.compares_exactly(kind)) {
      args.absolute = reinterpret_cast<const double*>(reference.absolute.address()) + skipped;
    }
    args.rows = block.rows;
    args.cols = d.cols;
    args.ld_d = d.ld;
    args.ld_ref = d.cols;
    args.ld_absolute = d.cols;
    args.u_out = bound.u_out;
    args.c_factor = bound.c_factor;
    args.dtype = static_cast<int>(d.type);
    args.mode = problem.compares_exactly(kind) ? kCompareExact : kCompareBounded;
    const CompareResult found = kernels_.compare(args);
    if (found.failures != 0 && total.failures == 0) {
      row = block.first + static_cast<std::int64_t>(found.first_failure) / d.cols;
      col = static_cast<std::int64_t>(found.first_failure) % d.cols;
      total.first_value = found.first_value;
      total.first_expected = found.first_expected;
      total.first_bound = found.first_bound;
    }
    total.failures += found.failures;
    total.unbounded += found.unbounded;
    total.worst_ratio = std::max(total.worst_ratio, found.worst_ratio);
    reference_row += block.rows;
  }
  return total;
}

void Verifier::repair_zones(const Subject& subject) {
  for (const auto& problem : cases_) {
    OperandSet& operands = problem->operands;
    for (Matrix* matrix : {&operands.a, &operands.b, &operands.d, &problem->second_d}) {
      matrix->buffer().paint_zones();
    }
    if (operands.has_c()) operands.c.buffer().paint_zones();
    for (Matrix& operand : operands.epilogue) operand.buffer().paint_zones();
  }
  for (GuardedBuffer* workspace : subject.workspaces) {
    if (workspace) workspace->paint_zones();
  }
}

}  // namespace kiln
