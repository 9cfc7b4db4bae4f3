// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/library.hpp"
#include "runtime/library/gemm_entry.hpp"
#include "runtime/library/gemm_key.hpp"
#include "runtime/library/kernel_loader.hpp"
#include "runtime/library/published_table.hpp"
#include "runtime/process/fork_guard.hpp"

namespace kiln::detail {

/// A (normalised) product as `kiln tune` is told it: "gemm", "--m", "64", ...
[[nodiscard]] std::vector<std::string> gemm_tuner_words(const Gemm& gemm);

/// The loaded kernels for products: a table that is read without a lock. Thread-safe.
class GemmKernels {
 public:
  /// The loader must outlive it.
  explicit GemmKernels(KernelLoader& loader) : loader_(loader) {}

  [[nodiscard]] Kernel get(const Gemm& gemm) {
    if (process_ != this_process()) [[unlikely]]
      refuse_parents_object();
    const GemmRequest request = make_request(gemm);
    if (request.valid) [[likely]] {
      const GemmEntry* entry = table_.find(request.key);
      if (entry != nullptr) [[likely]] {
        return {entry, request.ld.a, request.ld.b, request.ld.c, request.ld.d};
      }
    }
    const GemmEntry* entry = load(gemm, request);
    return {entry, request.ld.a, request.ld.b, request.ld.c, request.ld.d};
  }

 private:
  [[nodiscard]] const GemmEntry* load(const Gemm& gemm, const GemmRequest& request);

  std::uint32_t process_ = this_process();
  KernelLoader& loader_;
  PublishedTable<GemmEntry> table_;
};

}  // namespace kiln::detail
