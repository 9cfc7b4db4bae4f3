// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What is right for a gemm: gemm_naive in float64, the bound of gemm_error_bound.hpp, and what an
// expression's amax() may record.

#include <algorithm>
#include <cmath>
#include <optional>

#include "tuner/gemm/case.hpp"
#include "tuner/gemm/error_bound.hpp"
#include "tuner/gemm/peaks.hpp"
#include "tuner/gemm/reference.hpp"
#include "tuner/gemm/setup.hpp"

namespace kiln {
namespace {

class GemmOracles : public OracleSource {
 public:
  GemmOracles(MemoryLedger& memory, SupportKernels& support, const EvaluationSetup& setup)
      : ledger(memory),
        kernels(support),
        reference(memory.device(), setup.reference, setup.epilogue),
        setup_(setup) {}

  [[nodiscard]] std::unique_ptr<Oracle> oracle(std::size_t index,
                                               std::uint64_t seed_of_case) override;

  MemoryLedger& ledger;
  SupportKernels& kernels;
  ReferenceKernel reference;

 private:
  const EvaluationSetup& setup_;
};

class GemmOracle : public Oracle {
 public:
  GemmOracle(GemmOracles& shared, const ProblemCase& one, const LaunchGeometry& geometry,
             std::uint64_t seed)
      : shared_(shared),
        gemm_(gemm_of(one)),
        scalars_(one.scalars),
        geometry_(geometry),
        seed_(seed),
        exact_(plan_exact(gemm_)) {}

  [[nodiscard]] bool has(DataKind kind) const override {
    return kind == DataKind::normal || exact_.possible;
  }
  [[nodiscard]] FillRecipe recipe(DataKind kind) const override {
    return {kind, seed_, exact_.range};
  }
  [[nodiscard]] std::vector<Scalar> scalars(DataKind kind) const override {
    return kind == DataKind::integer ? std::vector<Scalar>{exact_.alpha, exact_.beta} : scalars_;
  }
  void learn(DataKind kind, OperandSet& operands) override {
    const auto factors = scalars(kind);
    reference_of(kind) = shared_.reference.compute(shared_.ledger, shared_.kernels, geometry_,
                                                   operands, kind, factors[0].as_double(),
                                                   factors[1].as_double(), !compares_exactly(kind));
  }

  /// With beta 0 the content of C must not matter, not even if it is NaN.
  [[nodiscard]] std::optional<std::size_t> ignored(DataKind kind) const override {
    const bool unused = scalars(kind)[1] == 0 && gemm_.epilogue.is_default();
    if (!gemm_.reads_c || !unused) return std::nullopt;
    return kOperandC;
  }
  [[nodiscard]] std::optional<InPlace> in_place(DataKind kind) const override {
    if (!may_be_in_place(gemm_) || ignored(kind)) return std::nullopt;
    return InPlace{kOperandC, kOperandD};
  }

  [[nodiscard]] WrongOutput compare(DataKind kind, std::size_t output,
                                    const RunOperands& run) override;
  [[nodiscard]] std::optional<std::string> look_closer(DataKind kind, const OperandSet& operands,
                                                       bool second) override {
    const RecordedPeaks peaks(shared_.ledger.device(), operands);
    if (second) return first_peaks_->different(peaks);
    first_peaks_ = peaks;
    return peaks.outside(reference_of(kind).peaks);
  }

 private:
  [[nodiscard]] Reference& reference_of(DataKind kind) {
    return kind == DataKind::integer ? integer_ : normal_;
  }
  /// Integer arithmetic is exact whatever the data; what an expression computes need not be.
  [[nodiscard]] bool compares_exactly(DataKind kind) const {
    if (!gemm_.epilogue.is_default()) return false;
    return kind == DataKind::integer || has_whole_factors(gemm_);
  }

  GemmOracles& shared_;
  Gemm gemm_;
  std::vector<Scalar> scalars_;
  const LaunchGeometry& geometry_;
  std::uint64_t seed_;
  ExactPlan exact_;
  Reference integer_, normal_;
  std::optional<RecordedPeaks> first_peaks_;
};

WrongOutput GemmOracle::compare(DataKind kind, std::size_t output, const RunOperands& run) {
  const Matrix& result = *run[output];
  const Reference& reference = reference_of(kind);
  const MatrixShape& d = result.shape();
  const ErrorBound bound = error_bound(gemm_);
  WrongOutput total;
  std::int64_t reference_row = 0;
  for (const RowBlock& block : reference.blocks) {
    const std::int64_t skipped = reference_row * d.cols;
    CompareArgs args{};
    args.d =
        reinterpret_cast<const std::byte*>(result.data()) + block.first * d.ld * size_bytes(d.type);
    args.ref = reinterpret_cast<const double*>(reference.value.address()) + skipped;
    if (!compares_exactly(kind)) {
      args.absolute = reinterpret_cast<const double*>(reference.absolute.address()) + skipped;
    }
    args.rows = block.rows;
    args.cols = d.cols;
    args.ld_d = d.ld;
    args.ld_ref = d.cols;
    args.ld_absolute = d.cols;
    args.u_out = bound.u_out;
    args.c_factor = bound.c_factor;
    args.atol =
        gemm_.epilogue.is_default() ? std::abs(scalars(kind)[0].as_double()) * bound.least : 0.0;
    args.dtype = static_cast<int>(d.type);
    args.mode = compares_exactly(kind) ? kCompareExact : kCompareBounded;
    const CompareResult found = shared_.kernels.compare(args);
    if (found.failures != 0 && total.found.failures == 0) {
      total.row = block.first + static_cast<std::int64_t>(found.first_failure) / d.cols;
      total.col = static_cast<std::int64_t>(found.first_failure) % d.cols;
      total.found.first_value = found.first_value;
      total.found.first_expected = found.first_expected;
      total.found.first_bound = found.first_bound;
    }
    total.compared += block.rows * d.cols;
    total.found.failures += found.failures;
    total.found.unbounded += found.unbounded;
    total.found.worst_ratio = std::max(total.found.worst_ratio, found.worst_ratio);
    reference_row += block.rows;
  }
  return total;
}

std::unique_ptr<Oracle> GemmOracles::oracle(std::size_t index, std::uint64_t seed_of_case) {
  return std::make_unique<GemmOracle>(*this, setup_.cases[index], setup_.reference_geometry[index],
                                      seed_of_case);
}

}  // namespace

std::unique_ptr<OracleSource> make_gemm_oracles(MemoryLedger& ledger, SupportKernels& kernels,
                                                const EvaluationSetup& setup) {
  return std::make_unique<GemmOracles>(ledger, kernels, setup);
}

}  // namespace kiln
