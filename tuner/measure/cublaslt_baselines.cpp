// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/cublaslt_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cuda/cublaslt.hpp"
#include "runtime/cuda/cublaslt_epilogue.hpp"
#include "templates/operation/problem.hpp"
#include "templates/render/renderer.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln {
namespace {

struct Planned {
  std::unique_ptr<CublasLtMatmul> matmul;
  DeviceBuffer workspace;
  /// The pass over D that computes an expression which cuBLASLt has not.
  std::unique_ptr<LoadedModule> pass;
  LaunchRequest finish;
};

GemmOperands operands_of(const GemmArgs& args) {
  GemmOperands operands;
  operands.a = args.a;
  operands.b = args.b;
  operands.c = args.c;
  operands.d = args.d;
  operands.alpha = args.alpha;
  operands.beta = args.beta;
  for (std::size_t i = 0; i < operands.epilogue.size(); ++i) {
    operands.epilogue[i] = {args.operand[i], args.operand_ld[i]};
  }
  return operands;
}

/// Prepares the pass. Says why if it cannot be.
std::string load_pass(Device& device, const CompiledUnit& epilogue, const Gemm& gemm,
                      Planned& planned) {
  constexpr std::int64_t kBlock = 256;
  DeviceStatus status;
  planned.pass = device.load(epilogue.cubin, epilogue.names, status);
  if (!planned.pass) return status.message;
  planned.finish.function = planned.pass->functions()[1];
  const std::int64_t pieces = gemm.m * ((gemm.n - 1) / finished_at_once(gemm) + 1);
  planned.finish.geometry.grid[0] = static_cast<std::uint32_t>((pieces - 1) / kBlock + 1);
  planned.finish.geometry.block[0] = static_cast<std::uint32_t>(kBlock);
  planned.finish.argument_bytes = sizeof(GemmArgs);
  return {};
}

}  // namespace

int finished_at_once(const Gemm& gemm) {
  const auto aligned = static_cast<int>(to_problem(gemm).trait("align_d").value_or(1));
  return std::max(1, aligned / size_bytes(gemm.d));
}

std::string finishing_kernel(const Gemm& gemm) {
  const auto aligned = static_cast<int>(to_problem(gemm).trait("align_c").value_or(1));
  const int count = finished_at_once(gemm);
  return fmt::format("kiln_finish<{}, {}, {}, {}, {}, {}>", device_type_name(gemm.c),
                     device_type_name(gemm.d), device_type_name(epilogue_type(gemm)), count,
                     std::clamp(aligned / size_bytes(gemm.c), 1, count), gemm.reads_c);
}

Baselines cublaslt_baselines(MemoryLedger& ledger, const OperandSet& operands,
                             const CompiledUnit& epilogue, std::int64_t workspace_bytes) {
  Baselines baselines;
  const DeviceInfo& info = ledger.device().info();
  if (!info.spec.starts_with("cuda")) {
    baselines.note = fmt::format("cuBLASLt does not run on {}", info.spec);
    return baselines;
  }
  const auto planned = std::make_shared<Planned>();
  const std::int64_t granted = std::min(workspace_bytes, ledger.left_bytes());
  Device& device = ledger.device();
  if (operands.problem().problem.operation != "gemm") {
    baselines.note = "cuBLASLt computes only gemm";
    return baselines;
  }
  Gemm gemm = gemm_of(operands.problem());
  const bool in_two = !cublaslt_epilogue(gemm).has_value();
  if (in_two && gemm.acc == DType::s32) {
    baselines.note =
        "cuBLASLt does not support this epilogue, and Kiln cannot apply the epilogue to "
        "cuBLASLt's s32 results";
    return baselines;
  }
  if (in_two) {
    baselines.note = load_pass(device, epilogue, gemm, *planned);
    if (!baselines.note.empty()) return baselines;
    gemm.epilogue = {};
    gemm.reads_c = false;
  }
  device.with_current([&] {
    planned->matmul = CublasLtMatmul::plan(
        gemm, operands_of(gemm_argument(operands.problem(), operands.arguments({1.0, 0.0}, 0))),
        granted, baselines.note);
  });
  if (!planned->matmul) return baselines;
  if (granted > 0) planned->workspace = DeviceBuffer(ledger, granted, "cuBLASLt's workspace");
  const auto multiply = [planned, &device](int algorithm, const GemmArgs& args, void* stream) {
    DeviceStatus status;
    device.with_current([&] {
      status =
          planned->matmul->run(algorithm, operands_of(args), planned->workspace.address(), stream);
    });
    return status;
  };
  for (int i = 0; i < planned->matmul->algorithms(); ++i) {
    Baselines::Algorithm algorithm;
    algorithm.label = planned->matmul->label(i);
    if (in_two) {
      algorithm.label += " and a pass over D";
      algorithm.run = [multiply, planned, i, &device, problem = operands.problem()](
                          const RunArguments& arguments, void* stream) {
        const GemmArgs args = gemm_argument(problem, arguments);
        GemmArgs product = args;
        product.alpha = 1.0;
        product.beta = 0.0;
        if (DeviceStatus status = multiply(i, product, stream); !status.ok()) return status;
        LaunchRequest request = planned->finish;
        request.arguments = &args;
        return device.launch(request, stream);
      };
    } else {
      algorithm.run = [multiply, i, problem = operands.problem()](const RunArguments& arguments,
                                                                  void* stream) {
        return multiply(i, gemm_argument(problem, arguments), stream);
      };
    }
    baselines.algorithms.push_back(std::move(algorithm));
  }
  return baselines;
}

}  // namespace kiln
