// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gemm/setup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"
#include "templates/digest.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/render/renderer.hpp"
#include "tuner/measure/cublaslt_baselines.hpp"
#include "tuner/setup_parts.hpp"

namespace kiln {
namespace {

constexpr std::string_view kEpiloguePath = "support/epilogue.cu";
constexpr std::string_view kReferenceTemplate = "gemm_naive";

struct Sizes {
  std::int64_t m, n, k;
};

/// A single element; less than one tile, all odd; one and two beyond the edges of the usual tiles;
/// multiples of 8 and of no larger power of two, for templates that insist on whole vectors and
/// leave the last k tile partly empty.
constexpr std::array<Sizes, 4> kRaggedSizes{
    {{1, 1, 1}, {77, 141, 53}, {130, 257, 129}, {296, 72, 200}}};

/// Omitted from the brief set: the odd sizes before it cover the same on fewer tiles.
constexpr std::size_t kLargeOdd = 2;

/// Few rows and columns, one usual tile; then more, and rounder ones, for templates that insist
/// on that.
struct ThinSizes {
  std::int64_t m, n;
};
constexpr std::array<ThinSizes, 4> kThinSizes{{{24, 40}, {64, 64}, {128, 128}, {256, 256}}};

/// Bytes of a row of K: sixteen tiles of 64 halves twice over, so that rings of four stages go
/// round eight times and one that fills a multiprocessor's shared memory still twice.
constexpr std::int64_t kDeepRowBytes = 4096;
/// Added to that for a last tile that is partly empty: whole vectors, and no more.
constexpr std::int64_t kDeepTail = 40;
/// Less is not worth a case.
constexpr std::int64_t kLeastDeepK = 256;

/// The smallest leading dimension above `row_length` that gives the operand the wanted alignment.
/// Always above: padding reveals kernels that take a width for a leading dimension, or read it.
void pad(Gemm& gemm, std::int64_t Gemm::*ld, std::string_view trait, std::int64_t row_length,
         DType type, std::int64_t alignment) {
  // The alignment depends on the leading dimension modulo 16 elements of memory.
  constexpr std::int64_t kPeriod = 16;
  const std::int64_t packed = packed_values(type);
  const std::int64_t elements = elements_of(row_length, type);
  for (std::int64_t extra = 1; extra <= kPeriod; ++extra) {
    gemm.*ld = (elements + extra) * packed;
    if (to_problem(gemm).trait(trait) == alignment) return;
  }
  throw Error(
      ErrorKind::internal,
      fmt::format(
          "Kiln found no leading dimension for which {} = {}; please report this bug in Kiln",
          trait, alignment));
}

GemmCase ragged_case(const GemmCase& tuned, const Problem& problem, const Sizes& sizes) {
  GemmCase result = tuned;
  Gemm& gemm = result.gemm;
  gemm.m = sizes.m;
  gemm.n = sizes.n;
  gemm.k = sizes.k;
  // Templates may insist that packed values fill their bytes, as they do in the tuned problem.
  const std::int64_t packed = packed_values(gemm.a);
  if (tuned.gemm.k % packed == 0) gemm.k = elements_of(gemm.k, gemm.a) * packed;
  gemm.lda = gemm.ldb = gemm.ldc = gemm.ldd = 0;
  const bool a_as_written = gemm.storage_a == Storage::n;
  const bool b_as_written = gemm.storage_b == Storage::n;
  pad(gemm, &Gemm::lda, "align_a", a_as_written ? gemm.k : gemm.m, gemm.a,
      *problem.trait("align_a"));
  pad(gemm, &Gemm::ldb, "align_b", b_as_written ? gemm.n : gemm.k, gemm.b,
      *problem.trait("align_b"));
  pad(gemm, &Gemm::ldd, "align_d", gemm.n, gemm.d, *problem.trait("align_d"));
  // Without a C that is read its fields repeat those of D.
  if (gemm.reads_c) pad(gemm, &Gemm::ldc, "align_c", gemm.n, gemm.c, *problem.trait("align_c"));
  gemm = normalised(gemm);
  return result;
}

/// The kernel that takes the float64 reference through the problem's expression.
CompiledUnit compile_epilogue(Compiler& compiler, const DeviceInfo& device, const Gemm& gemm) {
  const Problem problem = to_problem(gemm);
  if (problem.epilogue.empty()) return {};
  CompileRequest request;
  request.source = render_support(embedded_files(), kEpiloguePath,
                                  embedded_files().at(std::string(kEpiloguePath)), problem);
  request.source_name = "epilogue.cu";
  request.name_expressions = {fmt::format("kiln_apply_epilogue<{}, {}>", device_type_name(gemm.c),
                                          device_type_name(epilogue_type(gemm))),
                              finishing_kernel(gemm)};
  // The text is the same for several types of C and D.
  request.source_digest =
      digest_hex(fmt::format("{}\n{}", fmt::join(request.name_expressions, "\n"), request.source));
  request.arch = device.limits.arch;
  request.code = device.code;
  return compile_or_throw(compiler, request);
}

/// The same operation with the result kept in float64.
Problem reference_problem(const Gemm& gemm) {
  Gemm reference = gemm;
  reference.d = reference.acc = DType::f64;
  // The reference is the product; what an expression makes of it is computed apart.
  reference.epilogue = {};
  reference.ldd = 0;
  reference.alignment_d = 16;
  return to_problem(reference);
}

}  // namespace

std::vector<GemmCase> verification_cases(const Gemm& gemm, double alpha, double beta,
                                         Thoroughness thoroughness) {
  std::vector<GemmCase> cases{{normalised(gemm), alpha, beta}};
  const GemmCase tuned = cases.front();
  const Problem problem = to_problem(tuned.gemm);
  for (std::size_t i = 0; i < kRaggedSizes.size(); ++i) {
    if (i == kLargeOdd && thoroughness == Thoroughness::brief) continue;
    cases.push_back(ragged_case(tuned, problem, kRaggedSizes[i]));
  }
  return cases;
}

std::vector<GemmCase> deep_cases(const Gemm& gemm, double alpha, double beta,
                                 std::int64_t most_products) {
  const GemmCase tuned{normalised(gemm), alpha, beta};
  const Problem problem = to_problem(tuned.gemm);
  const auto is_affordable = [&](const Sizes& sizes) {
    return most_products == 0 || sizes.m * sizes.n * sizes.k <= most_products;
  };
  const std::int64_t k =
      kDeepRowBytes / std::max(size_bytes(gemm.a), size_bytes(gemm.b)) * packed_values(gemm.a);
  std::vector<GemmCase> cases;
  // A problem that is as deep itself, and will be run, covers the same.
  if (gemm.k >= k && is_affordable({gemm.m, gemm.n, gemm.k})) return cases;
  for (const ThinSizes& thin : kThinSizes) {
    std::int64_t whole = k;
    while (whole >= kLeastDeepK && !is_affordable({thin.m, thin.n, whole})) whole /= 2;
    if (whole < kLeastDeepK) continue;
    for (const std::int64_t deep : {whole + kDeepTail, whole}) {
      const Sizes sizes{thin.m, thin.n, deep};
      if (is_affordable(sizes)) cases.push_back(ragged_case(tuned, problem, sizes));
    }
  }
  return cases;
}

std::vector<ProblemCase> gemm_cases(const ProblemCase& tuned, Thoroughness thoroughness,
                                    std::int64_t most_products) {
  const Gemm gemm = gemm_of(tuned);
  const double alpha = tuned.scalars[0].as_double();
  const double beta = tuned.scalars[1].as_double();
  auto cases = problem_cases(verification_cases(gemm, alpha, beta, thoroughness));
  cases.front() = tuned;
  if (thoroughness == Thoroughness::deep) {
    for (const GemmCase& deep : deep_cases(gemm, alpha, beta, most_products)) {
      cases.push_back(problem_case(deep));
    }
  }
  return cases;
}

void add_gemm_reference(Compiler& compiler, const DeviceInfo& device, EvaluationSetup& setup) {
  const Gemm gemm = gemm_of(setup.cases.front());
  setup.epilogue = compile_epilogue(compiler, device, gemm);

  // The oracle is always the built-in one: a user's template of its name is a candidate, not a
  // judge.
  const Catalog& builtin = Catalog::builtin();
  const KernelTemplate& naive = builtin.at(kReferenceTemplate);
  const Problem tuned = reference_problem(gemm);
  if (const auto why = naive.why_unsupported(tuned, device.limits)) {
    throw Error(ErrorKind::usage, fmt::format("Kiln has no float64 reference for this problem, so "
                                              "Kiln cannot verify any candidate: {}",
                                              *why));
  }
  const auto config = naive.space(tuned, device.limits).default_config();
  if (!config) {
    throw Error(ErrorKind::internal,
                fmt::format("the reference template {} has no valid configuration on {}; please "
                            "report this bug in Kiln",
                            kReferenceTemplate, device.limits.arch));
  }
  const RenderedKernel rendered = render(builtin, naive, *config, tuned, device.limits);
  CompileRequest compile;
  compile.source = rendered.text;
  compile.source_name = "reference.cu";
  compile.source_digest = rendered.digest;
  compile.name_expressions = rendered.name_expressions;
  compile.arch = device.limits.arch;
  compile.code = device.code;
  setup.reference = compile_or_throw(compiler, compile);
  for (const auto& one : setup.cases) {
    const Problem problem = reference_problem(gemm_of(one));
    const auto launches = LaunchPlanner(naive, problem, device.limits).geometry(*config);
    setup.reference_geometry.push_back(launches.front());
  }
}

}  // namespace kiln
