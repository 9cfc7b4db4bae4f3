// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/library.hpp"
#include "runtime/library/kernel_loader.hpp"
#include "runtime/library/operation_entry.hpp"
#include "runtime/library/published_table.hpp"
#include "runtime/process/fork_guard.hpp"

namespace kiln::detail {

/// The problem with its fields in the operation's order, checked. `template_path` is for errors.
/// Throws Error(usage) for an operation that nobody declared, and for what is missing, unknown or
/// outside of what is declared.
[[nodiscard]] Problem checked_problem(const OperationProblem& asked,
                                      const std::vector<std::string>& template_path);

/// A problem as `kiln tune` is told it: "softmax", "--rows", "1000", ...
[[nodiscard]] std::vector<std::string> operation_tuner_words(const Problem& problem);

/// The loaded kernels for declared operations: a table that is read without a lock. Thread-safe.
class OperationKernels {
 public:
  /// The loader must outlive it.
  explicit OperationKernels(KernelLoader& loader) : loader_(loader) {}

  [[nodiscard]] OperationKernel get(const OperationProblem& problem) {
    if (process_ != this_process()) [[unlikely]]
      refuse_parents_object();
    const OperationEntry* entry = table_.find(OperationRequest(problem));
    return OperationKernel(entry != nullptr ? entry : load(problem));
  }

 private:
  [[nodiscard]] const OperationEntry* load(const OperationProblem& asked);

  std::uint32_t process_ = this_process();
  KernelLoader& loader_;
  PublishedTable<OperationEntry> table_;
};

}  // namespace kiln::detail
