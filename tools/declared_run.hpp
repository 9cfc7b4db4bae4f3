// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kiln/kiln.hpp"
#include "runtime/device.hpp"
#include "tools/context.hpp"
#include "tools/run_check.hpp"
#include "tuner/oracle.hpp"

namespace kiln::tools {

/// The data of one run of a declared operation, and what is right for it. Data and reference are
/// made on a device object of its own, so that nothing of the library's is relied on.
class DeclaredRun {
 public:
  /// Throws like make_setup() and Verifier().
  DeclaredRun(Context& context, const ProblemCase& one, std::uint64_t seed);

  /// Operands in the library's memory: inputs with their data, outputs full of poison. None for an
  /// operand without memory.
  [[nodiscard]] std::vector<DeviceMemory> operands(const Library& library) const;
  /// Compares what a launch with these operands has left.
  [[nodiscard]] RunCheck check(const std::vector<DeviceMemory>& operands);

 private:
  std::unique_ptr<Device> device_;
  EvaluationSetup setup_;
  std::optional<MemoryLedger> ledger_;
  std::optional<SupportKernels> kernels_;
  std::unique_ptr<OracleSource> oracles_;
  std::unique_ptr<Oracle> oracle_;
  OperandSet set_;
  std::vector<std::vector<std::byte>> data_;
};

}  // namespace kiln::tools
