// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The catalog: the machine code and the PTX of one configuration give the same matrices.
#include <fmt/format.h>

#include <random>

#include "templates/catalog.hpp"
#include "templates/launch/launch_planner.hpp"
#include "templates/operation/problem.hpp"
#include "templates/render/renderer.hpp"
#include "tests/gpu/emulator_fragments.hpp"
#include "tests/support/host_element.hpp"
#include "tests/support/row_gemm.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {
namespace {

struct GemmCaseName {
  std::string kernel;
  std::size_t turn;  ///< chooses types, layouts, beta and the configuration
};

class Gemms : public EmulatorPair, public ::testing::WithParamInterface<GemmCaseName> {
 protected:
  std::optional<PairResult> multiply(const Gemm& gemm, Values whole);
  Config config_;
};

Element element_of(DType type) {
  switch (type) {
    case DType::f16:
      return Element::f16;
    case DType::bf16:
      return Element::bf16;
    case DType::tf32:
      return Element::tf32;
    case DType::f32:
      return Element::f32;
    case DType::f64:
      return Element::f64;
    case DType::e4m3:
      return Element::e4m3;
    case DType::e5m2:
      return Element::e5m2;
    case DType::s32:
      return Element::s32;
    default:
      return Element::s8;
  }
}

Gemm problem_of(const KernelTemplate& kernel, std::size_t turn) {
  const DeviceLimits limits = limits_of_arch("sm_90a").value();
  Gemm gemm = gemm_of_turn(kernel, turn);
  if (gemm.alignment_a == 1) {
    // Ragged: no tile divides any of them.
    gemm.m = 77;
    gemm.n = 91;
    gemm.k = 53;
    if (!kernel.why_unsupported(to_problem(gemm), limits)) return normalised(gemm);
    gemm.alignment_a = gemm.alignment_b = gemm.alignment_c = gemm.alignment_d = 16;
  }
  gemm.m = gemm.storage_a == Storage::t ? 80 : 77;
  gemm.n = 112;
  gemm.k = 80;
  return normalised(supported_gemm(kernel, gemm, limits));
}

/// The first round over all types takes the default configuration.
bool takes_default(const KernelTemplate& kernel, std::size_t turn) {
  return turn < type_choices(kernel).size();
}

std::optional<PairResult> Gemms::multiply(const Gemm& gemm, Values whole) {
  const Catalog& catalog = Catalog::builtin();
  const KernelTemplate& kernel = catalog.at(GetParam().kernel);
  const Problem problem = to_problem(gemm);
  if (const auto why = kernel.why_unsupported(problem, limits())) {
    ADD_FAILURE() << *why;
    return std::nullopt;
  }
  const ParamSpace space = kernel.space(problem, limits());
  std::mt19937_64 random(GetParam().turn);
  config_ = space.default_config().value();
  if (!takes_default(kernel, GetParam().turn)) config_ = space.sample(random).value_or(config_);
  RenderedKernel rendered = render(catalog, kernel, config_, problem, limits());
  LaunchPlan plan = LaunchPlanner(kernel, problem, limits()).plan(config_);
  const ProblemCase tuned =
      problem_case({gemm, gemm.acc == DType::s32 ? 3.0 : 0.5, gemm.reads_c ? -1.0 : 0.0});
  const auto bytes = [&](std::size_t operand) {
    const MatrixShape& shape = tuned.operands[operand].shape;
    return static_cast<std::size_t>(shape.rows * shape.ld * size_bytes(shape.type));
  };

  PairProgram program;
  program.source = std::move(rendered.text);
  program.names = std::move(rendered.name_expressions);
  program.launches = std::move(plan.launches);
  program.workspace_bytes = plan.workspace_bytes;
  program.inputs = {elements(element_of(gemm.a), bytes(kOperandA), whole, 11),
                    elements(element_of(gemm.b), bytes(kOperandB), whole, 12),
                    elements(element_of(gemm.c), bytes(kOperandC), whole, 13)};
  program.out_bytes = bytes(kOperandD);
  program.argument = [&](const std::vector<DevicePtr>& in, DevicePtr out, DevicePtr workspace) {
    const GemmArgs args =
        gemm_argument(tuned, {{in[0], in[1], in[2], out}, tuned.scalars, workspace});
    Bytes argument(sizeof args);
    std::memcpy(argument.data(), &args, sizeof args);
    return argument;
  };
  return run(program);
}

TEST_P(Gemms, GiveTheSameMatrices) {
  const KernelTemplate& kernel = Catalog::builtin().at(GetParam().kernel);
  const Gemm gemm = problem_of(kernel, GetParam().turn);
  const auto whole = multiply(gemm, Values::whole);
  ASSERT_TRUE(whole);
  const std::string label =
      GetParam().kernel + " " + to_problem(gemm).kind_text() + " " + config_.canonical();
  SCOPED_TRACE(label);
  expect_identical(*whole);
  if (gemm.acc == DType::s32) return;

  const auto real = multiply(gemm, Values::real);
  ASSERT_TRUE(real);
  const auto size = static_cast<std::size_t>(size_bytes(gemm.d));
  // Products are below 4; the sum's rounding, and one unit of the output's.
  const double unit = gemm.acc == DType::f64   ? 1e-15
                      : gemm.acc == DType::f16 ? 1.0 / (1 << 10)
                                               : 1.0 / (1 << 20);
  const double output = gemm.d == DType::f16    ? 1.0 / (1 << 10)
                        : gemm.d == DType::bf16 ? 1.0 / (1 << 7)
                                                : 0.0;
  double worst = 0.0;
  for (std::size_t at = 0; at < real->gpu.size(); at += size) {
    const double x = load_element(gemm.d, real->gpu.data() + at, 0);
    const double y = load_element(gemm.d, real->emulated.data() + at, 0);
    const double excess = std::abs(x - y) - output * std::abs(y);
    worst = std::isnan(excess) ? HUGE_VAL : std::max(worst, excess);
  }
  EXPECT_LE(worst, unit * 4 * static_cast<double>(gemm.k));
  fmt::print("{}: largest difference {:.3g}\n", label, worst);
}

std::vector<GemmCaseName> gemm_cases() {
  std::vector<GemmCaseName> cases;
  for (const KernelTemplate& kernel : Catalog::builtin().templates()) {
    const std::size_t turns = 2 * type_choices(kernel).size();
    for (std::size_t turn = 0; turn < turns; ++turn) cases.push_back({kernel.name(), turn});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Catalog, Gemms, ::testing::ValuesIn(gemm_cases()), [](const auto& test) {
  return fmt::format("{}_{}", test.param.kernel, test.param.turn);
});

}  // namespace
}  // namespace kiln::testing
