// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "kiln/library.hpp"
#include "runtime/library/gemm_kernels.hpp"
#include "runtime/library/kernel_loader.hpp"
#include "runtime/library/library_parts.hpp"
#include "runtime/library/operation_kernels.hpp"
#include "runtime/process/fork_guard.hpp"

namespace kiln::detail {

/// Behind Library: what loads kernels, and the tables of those that are loaded.
class LibraryState {
 public:
  explicit LibraryState(LibraryParts parts) : loader_(std::move(parts)) {}
  LibraryState(const LibraryState&) = delete;
  LibraryState& operator=(const LibraryState&) = delete;

  [[nodiscard]] static Library make_library(LibraryParts parts) {
    return Library(std::make_unique<LibraryState>(std::move(parts)));
  }

  [[nodiscard]] GemmKernels& gemms() { return gemms_; }
  [[nodiscard]] OperationKernels& operations() { return operations_; }
  [[nodiscard]] const Device& device() const { return *loader_.parts().device; }
  [[nodiscard]] const std::shared_ptr<Device>& shared_device() const {
    return loader_.parts().device;
  }
  [[nodiscard]] LibraryCounters counters() const noexcept { return loader_.counters(); }
  /// False in a child of the process that created it, which must neither use nor destroy it.
  [[nodiscard]] bool is_of_this_process() const noexcept { return process_ == this_process(); }

 private:
  std::uint32_t process_ = this_process();
  KernelLoader loader_;
  GemmKernels gemms_{loader_};
  OperationKernels operations_{loader_};
};

}  // namespace kiln::detail
