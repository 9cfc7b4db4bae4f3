// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/wgmma_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"

namespace kiln::emulated {
namespace {

/// Where both are missed, the product is the one to be named.
bool multiplies(const Warp& warp, const Instr& instr) {
  return warp.program().traits[instr.index].by_warpgroup;
}

std::size_t rank_of(const Warp& warp) {
  return static_cast<std::size_t>(warp.index()) % WgmmaSequence::kWarps;
}

/// Calls visit(other) for those warps of its warpgroup that the block has.
template <class Visit>
void for_each_warp(Warp& warp, Visit visit) {
  const auto& warps = warp.block().warps();
  const std::size_t first = static_cast<std::size_t>(warp.index()) - rank_of(warp);
  const std::size_t end = std::min(first + WgmmaSequence::kWarps, warps.size());
  for (std::size_t i = first; i < end; ++i) visit(*warps[i]);
}

}  // namespace

void WgmmaSequence::execute(Warp& warp, const Instr& instr) {
  if (reported_) return;
  const Step own{&instr, &warp};
  const std::uint64_t number = executed_[rank_of(warp)]++;
  if (number - first_ == steps_.size()) {
    steps_.push_back(own);
    for_each_warp(warp, [&](const Warp& other) {
      if (other.live() == 0) report(own, other, "this warp has exited");
    });
  } else if (const Step known = steps_[static_cast<std::size_t>(number - first_)];
             known.instr != &instr) {
    const bool was_missed = multiplies(warp, *known.instr) && !multiplies(warp, instr);
    const Step& missed = was_missed ? known : own;
    const Step& instead = was_missed ? own : known;
    report(missed, *instead.warp,
           fmt::format("the next wgmma instruction of this warp is {} at {}",
                       warp.program().opcodes[instead.instr->index],
                       warp.program().site_of(instead.instr->index)));
  }
  forget_common(warp);
}

void WgmmaSequence::abandon(Warp& warp) {
  const std::uint64_t executed = executed_[rank_of(warp)] - first_;
  const auto missed = steps_.begin() + static_cast<std::ptrdiff_t>(executed);
  if (missed == steps_.end()) return;
  const auto product = std::find_if(
      missed, steps_.end(), [&](const Step& step) { return multiplies(warp, *step.instr); });
  report(product != steps_.end() ? *product : *missed, warp,
         warp.live() == 0 ? "this warp has exited" : "this warp waits at another instruction");
}

void WgmmaSequence::report(const Step& step, const Warp& other, const std::string& why) {
  if (std::exchange(reported_, true)) return;
  step.warp->report(*step.instr, kAllLanes, Finding::divergent,
                    fmt::format("is not executed by warp {} ({}). All four warps of a warpgroup "
                                "must execute this instruction",
                                other.index(), why));
}

void WgmmaSequence::forget_common(Warp& warp) {
  std::uint64_t common = executed_[rank_of(warp)];
  for_each_warp(warp,
                [&](const Warp& other) { common = std::min(common, executed_[rank_of(other)]); });
  for (; first_ < common; ++first_) steps_.pop_front();
}

}  // namespace kiln::emulated
