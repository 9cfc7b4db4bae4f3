// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/remote_uses.hpp"

#include <fmt/format.h>

namespace kiln::emulated {

void RemoteUses::note(Warp& warp, const Instr& instr, std::size_t block,
                      const ClusterOrder& order) {
  const std::size_t agent = order.agents().of(warp);
  uses_[{block, agent, instr.index}] = order.of(agent).step();
}

void RemoteUses::report(Cluster& cluster, const ClusterOrder& order) const {
  const std::size_t warps = order.agents().warps_per_block();
  for (const auto& [use, step] : uses_) {
    const Block& owner = *cluster.blocks()[use.block];
    if (owner.live_threads() > 0) continue;
    const std::size_t first = use.block * warps;
    bool known = false;
    for (std::size_t warp = first; warp < first + warps; ++warp) {
      known |= order.is_over(warp, use.agent, step);
    }
    if (known) continue;
    Block& from = *cluster.blocks()[use.agent / warps];
    const Warp& warp = *from.warps()[use.agent % warps];
    warp.report(warp.program().code[use.instruction], kAllLanes, Finding::missing_wait,
                fmt::format("uses shared memory of block rank {}, but all threads of that block "
                            "may exit before this access",
                            use.block));
  }
}

}  // namespace kiln::emulated
