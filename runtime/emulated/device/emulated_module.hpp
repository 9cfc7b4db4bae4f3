// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/device.hpp"
#include "runtime/emulated/decode/program.hpp"
#include "runtime/emulated/memory/global_memory.hpp"

namespace kiln::emulated {

/// PTX text with its variables placed in memory and the wanted kernels decoded. The handle of a
/// function points to a std::shared_ptr<const Program>.
class EmulatedModule : public LoadedModule {
 public:
  /// Throws Error(device) when the text cannot be read, a kernel is missing, or an instruction is
  /// not known to the emulator.
  EmulatedModule(std::string_view ptx, const std::vector<std::string>& names, GlobalMemory& memory);
  ~EmulatedModule() override;

  [[nodiscard]] std::span<const DeviceFunction> functions() const override { return functions_; }
  [[nodiscard]] std::optional<DeviceVariable> variable(const std::string& name) const override;

 private:
  void free_variables();

  GlobalMemory& memory_;
  /// By name: allocations that are freed with the module.
  std::vector<std::pair<std::string, DeviceVariable>> variables_;
  std::vector<std::unique_ptr<std::shared_ptr<const Program>>> programs_;
  std::vector<DeviceFunction> functions_;
};

}  // namespace kiln::emulated
