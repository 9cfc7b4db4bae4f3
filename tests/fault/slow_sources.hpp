// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::test {

/// An operation and templates whose compilation, or kernel, takes as long as a test wants.
struct SlowSources {
  std::string reference;  ///< statements in the reference kernel
  std::string kernel;     ///< in the template `slow`, where the tunable `slow` is 1

  /// Statements that take NVRTC minutes with some thousand loops, and seconds with some hundred.
  [[nodiscard]] static std::string loops(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "for (int i = 0; i < len; ++i) ";
    return text + "y[0] = x[len];";
  }
  /// A kernel that never ends.
  [[nodiscard]] static std::string endless_kernel() {
    return "while (len > 0) asm volatile(\"\");";
  }
  /// An expression that overflows the stack of the compiler.
  [[nodiscard]] static std::string nested() {
    constexpr int kDepth = 20'000;
    return "y[0] = " + std::string(kDepth, '(') + "x[0]" + std::string(kDepth, ')') + ";";
  }

  [[nodiscard]] std::string operation_file() const {
    return R"(//@ operation  threefold
//@ purpose    Three times a vector.
//@ size       len 1..1000000
//@ type       y f32
//@ type       x f32
//@ operand    y out: len
//@ operand    x in: len
//@ right      y within 1e-5 1e-6
//@ ragged     len=33
//@ flops      len
//@ reference  threefold_reference
//@   grid     ceil_div(len, 256)
//@   block    256
//@   args     y.f64, x.f64, len
__global__ void threefold_reference(double* y, const double* x, int len) {
  if (len < 0) { )" +
           reference + R"( }
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at < len) y[at] = 3 * x[at];
}
)";
  }

  /// Its default, and half of its configurations, are quick.
  [[nodiscard]] std::string template_file(const std::string& name = "slow") const {
    return "//@ template   " + name + R"(
//@ purpose    Three times a vector.
//@ operation  threefold
//@ tune       slow = 0* 1
//@ tune       threads = 32 64* 128
//@ launch     threefold
//@   grid     ceil_div(len, threads)
//@   block    threads
//@   args     y, x, len
__global__ void threefold(float* y, const float* x, int len) {
#if slow
  )" + kernel +
           R"(
#endif
  const int at = blockIdx.x * threads + threadIdx.x;
  if (at < len) y[at] = 3.0f * x[at];
}
)";
  }
};

}  // namespace kiln::test
