// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// Finds reads of arrays of a thread's own that it never wrote.
class LocalChecks {
 public:
  void begin(std::size_t blocks) { written_.assign(blocks, {}); }
  void check(Warp& warp, const Instr& instr, const WarpAccess& access, LaneMask lanes);

 private:
  std::vector<std::vector<bool>> written_;  ///< of each block, by byte; empty: nothing was
};

}  // namespace kiln::emulated
