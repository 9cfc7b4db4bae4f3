// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "kiln/kiln.hpp"

namespace kiln::tools {

/// What a comparison of results with what is right has found.
struct RunCheck {
  std::int64_t checked = 0;  ///< elements
  std::int64_t wrong = 0;    ///< of them, and of the numbers that amax() records
  double worst_ratio = 0.0;  ///< largest |error| / bound; infinite where a result is not a number
  std::string evidence;      ///< the first wrong element
};

/// One problem that is run through the library, as an application does. Its functions are called in
/// this order, by one thread.
class ProblemRun {
 public:
  ProblemRun() = default;
  ProblemRun(const ProblemRun&) = delete;
  ProblemRun& operator=(const ProblemRun&) = delete;
  virtual ~ProblemRun() = default;

  /// Gets the kernel. The library must outlive this.
  [[nodiscard]] virtual const AnyKernel& get(const Library& library) = 0;
  /// Makes operands in the library's memory: inputs with random data, outputs full of poison.
  virtual void make_operands(const Library& library) = 0;
  /// Enqueues a launch on the default stream.
  virtual void launch() const = 0;
  /// Compares what a launch has left, which has ended.
  [[nodiscard]] virtual RunCheck check() = 0;
};

}  // namespace kiln::tools
