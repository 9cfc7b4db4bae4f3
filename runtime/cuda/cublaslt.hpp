// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kiln/gemm.hpp"
#include "kiln/library.hpp"
#include "runtime/device.hpp"

namespace kiln {

/// One gemm as cuBLASLt computes it, with the algorithms that its heuristics offer: the competitor
/// of measurements. Used by one thread; the device that was current for plan() must
/// be current for run().
class CublasLtMatmul {
 public:
  /// Asks for up to 32 algorithms that need at most `workspace_bytes`. The addresses in `operands`
  /// determine the alignments; runs must not use less aligned ones. Null and the reason, for a
  /// person, if cuBLASLt is not installed, does not compute this problem, or offers nothing.
  [[nodiscard]] static std::unique_ptr<CublasLtMatmul> plan(const Gemm& gemm,
                                                            const GemmOperands& operands,
                                                            std::int64_t workspace_bytes,
                                                            std::string& why);
  ~CublasLtMatmul();
  CublasLtMatmul(const CublasLtMatmul&) = delete;
  CublasLtMatmul& operator=(const CublasLtMatmul&) = delete;

  /// Number of algorithms, in the order of the heuristics' own estimate.
  [[nodiscard]] int algorithms() const;
  /// "cuBLASLt 13.0.2 heuristic 3".
  [[nodiscard]] std::string label(int algorithm) const;
  [[nodiscard]] std::int64_t workspace_bytes(int algorithm) const;

  /// Enqueues one run on `stream`. `workspace` has as many bytes as were passed to plan().
  [[nodiscard]] DeviceStatus run(int algorithm, const GemmOperands& operands, DevicePtr workspace,
                                 void* stream) const;

 private:
  struct Impl;
  explicit CublasLtMatmul(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kiln
