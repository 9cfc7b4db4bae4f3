// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/cublaslt_baselines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cuda/cublaslt.hpp"

namespace kiln {
namespace {

struct Planned {
  std::unique_ptr<CublasLtMatmul> matmul;
  DeviceBuffer workspace;
};

GemmOperands operands_of(const GemmArgs& args) {
  GemmOperands operands;
  operands.a = args.a;
  operands.b = args.b;
  operands.c = args.c;
  operands.d = args.d;
  operands.alpha = args.alpha;
  operands.beta = args.beta;
  return operands;
}

}  // namespace

Baselines cublaslt_baselines(MemoryLedger& ledger, const OperandSet& operands,
                             std::int64_t workspace_bytes) {
  Baselines baselines;
  const DeviceInfo& info = ledger.device().info();
  if (!info.spec.starts_with("cuda")) {
    baselines.note = fmt::format("cuBLASLt does not run on {}", info.spec);
    return baselines;
  }
  const auto planned = std::make_shared<Planned>();
  const std::int64_t granted = std::min(workspace_bytes, ledger.left_bytes());
  Device& device = ledger.device();
  device.with_current([&] {
    planned->matmul = CublasLtMatmul::plan(
        operands.gemm(), operands_of(operands.arguments(1.0, 0.0, 0)), granted, baselines.note);
  });
  if (!planned->matmul) return baselines;
  if (granted > 0) planned->workspace = DeviceBuffer(ledger, granted, "cuBLASLt's workspace");
  for (int i = 0; i < planned->matmul->algorithms(); ++i) {
    baselines.algorithms.push_back(
        {planned->matmul->label(i), [planned, i, &device](const GemmArgs& args, void* stream) {
           DeviceStatus status;
           device.with_current([&] {
             status =
                 planned->matmul->run(i, operands_of(args), planned->workspace.address(), stream);
           });
           return status;
         }});
  }
  return baselines;
}

}  // namespace kiln
