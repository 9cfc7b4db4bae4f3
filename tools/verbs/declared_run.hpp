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
#include "tools/problem_run.hpp"
#include "tuner/verify/oracle.hpp"

namespace kiln::tools {

/// A run of a declared operation. Data and reference are made on a device object of its own, so
/// that nothing of the library's is relied on.
class DeclaredRun : public ProblemRun {
 public:
  DeclaredRun(Context& context, const ProblemCase& one, std::uint64_t seed)
      : context_(context), one_(one), seed_(seed) {}

  [[nodiscard]] const AnyKernel& get(const Library& library) override;
  /// Throws like make_setup() and Verifier().
  void make_operands(const Library& library) override;
  void launch() const override;
  [[nodiscard]] RunCheck check() override;

 private:
  void make_data();

  Context& context_;
  const ProblemCase& one_;
  std::uint64_t seed_;
  std::optional<OperationKernel> kernel_;
  std::unique_ptr<Device> device_;
  EvaluationSetup setup_;
  std::optional<MemoryLedger> ledger_;
  std::optional<SupportKernels> kernels_;
  std::unique_ptr<OracleSource> oracles_;
  std::unique_ptr<Oracle> oracle_;
  OperandSet set_;
  std::vector<std::vector<std::byte>> data_;
  std::vector<DeviceMemory> operands_;  ///< in the library's memory
  std::vector<DeviceMemory> pointers_;  ///< to the rows of some of these
  Arguments arguments_;
};

}  // namespace kiln::tools
