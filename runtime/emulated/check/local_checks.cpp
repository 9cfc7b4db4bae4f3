// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/local_checks.hpp"

#include <algorithm>
#include <bit>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {

void LocalChecks::check(Warp& warp, const Instr& instr, const WarpAccess& access, LaneMask lanes) {
  std::vector<bool>& written = written_[warp.block().rank()];
  if (written.empty()) written.resize(warp.block().local_bytes());
  const auto bytes = static_cast<std::ptrdiff_t>(access.bytes);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const auto begin = written.begin() + static_cast<std::ptrdiff_t>(
                                             warp.block().local_offset(access.host[lane]).value());
    if (access.kind != AccessKind::load) {
      std::fill(begin, begin + bytes, true);
      continue;
    }
    // Copies of a struct move what it has between its members as well.
    if (std::find(begin, begin + bytes, true) != begin + bytes) continue;
    // Arguments and results of calls are a compiler's.
    if (warp.program().opcodes[instr.index].starts_with("ld.param")) continue;
    if (allows(warp.block().launch().allowed, Allowed::uninitialised_unused)) continue;
    warp.report(instr, LaneMask{1} << lane, Finding::uninitialised,
                "reads uninitialised local memory: the thread has not yet written this part of a "
                "local array or struct",
                access.address[lane]);
  }
}

}  // namespace kiln::emulated
