// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/random/random_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <vector>

#include "kiln/error.hpp"
#include "templates/epilogue/epilogue.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {
namespace {

using Random = std::mt19937_64;

/// The distributions of <random> differ between libraries; problems should not.
std::int64_t below(Random& random, std::int64_t count) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}
std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return least + below(random, most - least + 1);
}
template <class Values>
auto one_of(Random& random, const Values& values) {
  return values[static_cast<std::size_t>(below(random, static_cast<std::int64_t>(values.size())))];
}

/// A type for every slot. What is the type of another slot waits for that.
std::map<std::string, DType> draw_types(Random& random, const TypeRow& row) {
  std::map<std::string, DType> types;
  std::map<std::string, std::string> waiting;
  for (const auto& slot : row.slots) {
    const auto own = static_cast<std::int64_t>(slot.allowed.size());
    const auto choice = below(random, own + static_cast<std::int64_t>(slot.same_as.size()));
    if (choice < own) {
      types[slot.name] = slot.allowed[static_cast<std::size_t>(choice)];
    } else {
      waiting[slot.name] = slot.same_as[static_cast<std::size_t>(choice - own)];
    }
  }
  while (!waiting.empty()) {
    const auto ready = std::find_if(waiting.begin(), waiting.end(),
                                    [&](const auto& one) { return types.contains(one.second); });
    if (ready == waiting.end()) throw Error(ErrorKind::internal, "types that wait for each other");
    types[ready->first] = types.at(ready->second);
    waiting.erase(ready);
  }
  return types;
}

std::int64_t draw_size(Random& random, std::int64_t longest) {
  static constexpr std::array<std::int64_t, 7> kEdges{8, 16, 32, 64, 96, 128, 256};
  std::int64_t size = 1;
  switch (below(random, 6)) {
    case 0:
      break;
    case 1:
      size = between(random, 1, 9);
      break;
    case 2:
      size = one_of(random, kEdges) * between(random, 1, 2) + between(random, -2, 2);
      break;
    case 3:
      size = 8 * between(random, 1, longest / 8);
      break;
    case 4:
      size = between(random, 1, std::min<std::int64_t>(longest, 200));
      break;
    default:
      size = between(random, 1, longest);
  }
  return std::clamp<std::int64_t>(size, 1, longest);
}

void draw_sizes(Random& random, const RandomLimits& limits, Gemm& gemm) {
  do {
    gemm.m = draw_size(random, limits.longest);
    gemm.n = draw_size(random, limits.longest);
    gemm.k = draw_size(random, limits.longest);
    // Long dot products go through rings of tiles; few rows and columns leave room for them.
    if (below(random, 4) == 0) gemm.k *= between(random, 2, 16);
  } while (gemm.m * gemm.n * gemm.k > limits.most_products);
  if (below(random, 20) == 0) gemm.k = 0;
}

/// Tight, whole vectors, or anything a little longer than the row; in whole bytes where they have
/// several values.
std::int64_t draw_leading_dimension(Random& random, std::int64_t row, DType type) {
  const std::int64_t packed = packed_values(type);
  const std::int64_t elements = elements_of(row, type);
  switch (below(random, 4)) {
    case 0:
      return elements * packed;
    case 1:
      return (elements + between(random, 1, 17)) * packed;
    default:
      return (elements / 16 + between(random, 1, 2)) * 16 * packed;
  }
}

void draw_places(Random& random, Gemm& gemm) {
  const auto alignment = [&] {
    static constexpr std::array<int, 8> kAlignments{1, 2, 4, 8, 16, 16, 16, 16};
    return one_of(random, kAlignments);
  };
  gemm.alignment_a = alignment();
  gemm.alignment_b = alignment();
  gemm.alignment_c = alignment();
  gemm.alignment_d = alignment();
  gemm.lda = draw_leading_dimension(random, gemm.storage_a == Storage::n ? gemm.k : gemm.m, gemm.a);
  gemm.ldb = draw_leading_dimension(random, gemm.storage_b == Storage::n ? gemm.n : gemm.k, gemm.b);
  gemm.ldd = draw_leading_dimension(random, gemm.n, gemm.d);
  // Half of the time as D, so that the second run works in place.
  gemm.ldc = below(random, 2) == 0 ? gemm.ldd : draw_leading_dimension(random, gemm.n, gemm.c);
  if (gemm.ldc == gemm.ldd) gemm.alignment_c = std::min(gemm.alignment_c, gemm.alignment_d);
}

void draw_factors(Random& random, GemmCase& problem) {
  static constexpr std::array<double, 5> kFractions{1.0, 0.7, -1.5, 2.0, 0.0};
  static constexpr std::array<double, 4> kWhole{1.0, 3.0, -2.0, 0.0};
  const bool whole = has_whole_factors(problem.gemm);
  problem.alpha = whole ? one_of(random, kWhole) : one_of(random, kFractions);
  problem.gemm.reads_c = below(random, 3) != 0;
  if (!problem.gemm.reads_c) return;
  problem.beta = whole ? one_of(random, kWhole) : one_of(random, kFractions);
  if (problem.beta == 0.0) problem.beta = -1.0;
}

/// An expression of a few operations that stays finite: what can overflow or leave the domain of a
/// function is kept from it.
std::string draw_expression(Random& random, int depth) {
  static constexpr std::array<const char*, 7> kCurves{"relu",    "gelu", "gelu_tanh", "silu",
                                                      "sigmoid", "tanh", "abs"};
  static constexpr std::array<const char*, 6> kOperands{"bias[n]", "rows:f32[m]",  "other[m,n]",
                                                        "scale[]", "far:f64[m,n]", "c"};
  static constexpr std::array<const char*, 3> kSymbols{"+", "-", "*"};
  const auto inner = [&] { return draw_expression(random, depth - 1); };
  switch (depth > 0 ? below(random, 9) : below(random, 3)) {
    case 0:
      return "acc*alpha";
    case 1:
      return one_of(random, kOperands);
    case 2:
      return below(random, 2) == 0 ? "acc" : "beta*c";
    case 3:
    case 4:
      return fmt::format("{}({})", one_of(random, kCurves), inner());
    case 5:
      return fmt::format("clamp({},-{},max({},0.5))", inner(), between(random, 1, 9), inner());
    case 6:
      return fmt::format("({}<{}?{}:-{})", inner(), inner(), inner(), inner());
    case 7:
      return fmt::format("({})/(1+abs({}))*exp(-abs({}))+sqrt(abs({}))", inner(), inner(), inner(),
                         inner());
    default:
      return fmt::format("({}){}({})", inner(), one_of(random, kSymbols), inner());
  }
}

void draw_epilogue(Random& random, GemmCase& problem) {
  std::string text = draw_expression(random, 3);
  static constexpr std::array<const char*, 3> kPeaks{"peak[]", "peak[m]", "peak[n]"};
  if (below(random, 3) == 0) text = fmt::format("amax({},{})*0.5", text, one_of(random, kPeaks));
  problem.gemm.epilogue = Epilogue(text);
  const EpilogueExpression& expression = problem.gemm.epilogue.entry()->expression;
  static constexpr std::array<double, 4> kFactors{1.0, 0.7, -1.5, 0.125};
  problem.alpha = expression.names("alpha") ? one_of(random, kFactors) : 1.0;
  problem.beta = expression.names("beta") ? one_of(random, kFactors) : 0.0;
}

/// What a problem consists of; a new part of it is drawn here.
GemmCase draw_case(Random& random, const KernelTemplate& kernel, const RandomLimits& limits) {
  GemmCase problem;
  Gemm& gemm = problem.gemm;
  const auto types = draw_types(random, one_of(random, kernel.type_rows()));
  gemm.a = types.at("a");
  gemm.b = types.at("b");
  gemm.c = types.at("c");
  gemm.d = types.at("d");
  gemm.acc = types.at("acc");
  gemm.storage_a = below(random, 2) == 0 ? Storage::n : Storage::t;
  gemm.storage_b = below(random, 2) == 0 ? Storage::n : Storage::t;
  draw_sizes(random, limits, gemm);
  // Most templates want packed values as products take them: along k, in whole bytes.
  if (const std::int64_t packed = packed_values(gemm.a); packed > 1 && below(random, 4) != 0) {
    gemm.storage_a = Storage::n;
    gemm.storage_b = Storage::t;
    gemm.k = gemm.k / packed * packed;
  }
  draw_places(random, gemm);
  draw_factors(random, problem);
  if (kernel.takes_epilogue() && below(random, 3) == 0) draw_epilogue(random, problem);
  gemm = normalised(gemm);
  return problem;
}

std::optional<Config> draw_config(Random& random, const ParamSpace& space) {
  switch (below(random, 5)) {
    case 0:
      return space.default_config();
    case 1:
      return space.sample(random);
    default: {
      const ParamSpace preferred = space.preferred();
      return (preferred.count() > 0 ? preferred : space).sample(random);
    }
  }
}

}  // namespace

RandomProblem draw_problem(std::uint64_t seed, std::uint64_t index, int attempt,
                           const Catalog& catalog, const DeviceLimits& device,
                           const RandomLimits& limits, const std::string& template_name) {
  constexpr int kTries = 2000;
  std::seed_seq mixed{seed, index};
  Random random(mixed);
  const KernelTemplate& any = one_of(random, catalog.templates());
  const KernelTemplate& kernel = template_name.empty() ? any : catalog.at(template_name);
  for (int i = 0; i < kTries; ++i) {
    const GemmCase problem = draw_case(random, kernel, limits);
    const Problem as_problem = to_problem(problem.gemm);
    if (kernel.why_unsupported(as_problem, device)) continue;
    const ParamSpace space = kernel.space(as_problem, device);
    for (int skipped = 0; skipped < attempt; ++skipped)
      static_cast<void>(draw_config(random, space));
    if (const auto config = draw_config(random, space)) {
      return {problem, {kernel.name(), *config}};
    }
  }
  throw Error(ErrorKind::internal,
              fmt::format("{} takes none of {} random problems", kernel.name(), kTries));
}

std::string command_to_repeat(const RandomProblem& drawn, const std::string& device,
                              std::uint64_t data_seed) {
  return fmt::format("kiln verify {} --template {} --set \"{}\" --seed {} --device {}",
                     tools::problem_words(problem_case(drawn.problem)),
                     drawn.candidate.template_name, drawn.candidate.config.canonical(), data_seed,
                     device);
}

}  // namespace kiln::testing
