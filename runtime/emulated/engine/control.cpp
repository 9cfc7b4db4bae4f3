// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/decode/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/emulated/decode/function_decoder.hpp"
#include "runtime/emulated/engine/lane_loops.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
/// That finding the joins of a kernel may take: about a second.
constexpr std::uint64_t kMostSteps = 50'000'000;

void execute_assert(Warp& warp, const Instr& instr, LaneMask active) {
  warp.fail(instr, active, Finding::trap, "reports that an assert() of the kernel failed");
}

void execute_nothing(Warp&, const Instr&, LaneMask) {}

/// Basic blocks of a program as a graph, with a virtual end after the last.
struct Graph {
  std::vector<std::uint32_t> begins;                   ///< first instruction of each block
  std::vector<std::vector<std::uint32_t>> successors;  ///< the end is block begins.size()
};

bool is_branch(const Instr& instr) {
  return instr.execute == &execute_branch || instr.execute == &execute_branch_table;
}

bool ends_block(const Instr& instr) {
  return is_branch(instr) || instr.execute == &execute_exit || instr.execute == &execute_trap ||
         instr.execute == &execute_assert;
}

Graph graph_of(const Program& program, std::vector<std::uint32_t>& block_of) {
  const auto size = static_cast<std::uint32_t>(program.code.size());
  std::vector<bool> leads(size + 1, false);
  leads[0] = true;
  for (const Instr& instr : program.code) {
    if (!ends_block(instr)) continue;
    leads[instr.index + 1] = true;
    if (instr.execute == &execute_branch) leads[instr.target] = true;
    if (instr.execute == &execute_branch_table) {
      std::for_each_n(instr.rows, instr.count, [&](std::uint32_t to) { leads[to] = true; });
    }
  }
  Graph graph;
  block_of.assign(size, 0);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (leads[i]) graph.begins.push_back(i);
    block_of[i] = static_cast<std::uint32_t>(graph.begins.size()) - 1;
  }
  const auto blocks = static_cast<std::uint32_t>(graph.begins.size());
  graph.successors.resize(blocks);
  for (std::uint32_t block = 0; block < blocks; ++block) {
    const std::uint32_t end = block + 1 < blocks ? graph.begins[block + 1] : size;
    const Instr& last = program.code[end - 1];
    auto& to = graph.successors[block];
    const bool guarded = last.guard != kNoRow;
    if (last.execute == &execute_branch) to.push_back(block_of[last.target]);
    if (last.execute == &execute_branch_table) {
      std::for_each_n(last.rows, last.count,
                      [&](std::uint32_t target) { to.push_back(block_of[target]); });
    }
    if (ends_block(last) && !is_branch(last)) to.push_back(blocks);
    if (!ends_block(last) || guarded) to.push_back(block + 1 < blocks ? block + 1 : blocks);
  }
  return graph;
}

/// Immediate post-dominators of all blocks: the method of Cooper, Harvey and Kennedy (2001) on the
/// reversed graph. kNowhere where no path leads to the end.
std::vector<std::uint32_t> post_dominators(const Graph& graph) {
  const auto end = static_cast<std::uint32_t>(graph.begins.size());
  std::vector<std::vector<std::uint32_t>> predecessors(end + 1);
  for (std::uint32_t block = 0; block < end; ++block) {
    for (const std::uint32_t to : graph.successors[block]) predecessors[to].push_back(block);
  }
  // Postorder of the reversed graph from the end, without recursion.
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> number(end + 1, kNowhere);
  std::vector<bool> seen(end + 1, false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{end, 0}};
  seen[end] = true;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    if (next < predecessors[block].size()) {
      const std::uint32_t to = predecessors[block][next++];
      if (!seen[to]) {
        seen[to] = true;
        stack.emplace_back(to, 0);
      }
      continue;
    }
    number[block] = static_cast<std::uint32_t>(order.size());
    order.push_back(block);
    stack.pop_back();
  }
  std::vector<std::uint32_t> dominator(end + 1, kNowhere);
  dominator[end] = end;
  // Nearly linear for what compilers write, but no worse than cubic.
  std::uint64_t steps = 0;
  const auto count_step = [&steps] {
    if (++steps <= kMostSteps) return;
    throw Error(ErrorKind::device,
                "the emulator cannot find where lanes reconverge, because the control flow of the "
                "kernel is too complex. Next: simplify the branches, or run the kernel on a GPU.");
  };
  const auto meet = [&](std::uint32_t left, std::uint32_t right) {
    while (left != right) {
      count_step();
      std::uint32_t& behind = number[left] < number[right] ? left : right;
      behind = dominator[behind];
    }
    return left;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto at = order.rbegin() + 1; at != order.rend(); ++at) {
      std::uint32_t best = kNowhere;
      for (const std::uint32_t to : graph.successors[*at]) {
        count_step();
        if (dominator[to] == kNowhere) continue;
        best = best == kNowhere ? to : meet(best, to);
      }
      if (dominator[*at] != best) {
        dominator[*at] = best;
        changed = true;
      }
    }
  }
  return dominator;
}

}  // namespace

void execute_branch(Warp& warp, const Instr& instr, LaneMask active) {
  warp.branch(instr, active);
}

void execute_branch_table(Warp& warp, const Instr& instr, LaneMask active) {
  std::uint32_t targets[kLanes] = {};
  const std::byte* const index = warp.row(instr.a);
  for (int lane = 0; lane < kLanes; ++lane) {
    const bool takes = (active & kLaneBit[lane]) != 0;
    const auto at = get<std::uint32_t>(index, lane);
    if (takes && at >= instr.count) {
      warp.fail(instr, LaneMask{1} << lane, Finding::invalid_operand,
                fmt::format("selects branch target {}, but the instruction has only {} targets", at,
                            instr.count));
    }
    targets[lane] = takes ? instr.rows[at] : instr.index + 1;
  }
  warp.branch_indirect(instr, targets);
}

void execute_exit(Warp& warp, const Instr& instr, LaneMask active) {
  if (warp.queues().products_unfinished()) {
    warp.report(instr, active, Finding::missing_wait, "exits without waiting for a pending wgmma");
  }
  // The launch behind this one takes its end for the end of all that came before.
  warp.require_launch_wait(instr, active, "exits");
  warp.retire(active);
}

void execute_trap(Warp& warp, const Instr& instr, LaneMask active) {
  warp.fail(instr, active, Finding::trap, "stops the kernel");
}

bool decode_host_call(const std::string& name, Instr& out) {
  if (name == "__assertfail") {
    out.execute = &execute_assert;
    return true;
  }
  if (name == "vprintf") {
    out.execute = &execute_nothing;
    return true;
  }
  return false;
}

void place_joins(Program& program) {
  std::vector<std::uint32_t> block_of;
  const Graph graph = graph_of(program, block_of);
  const std::vector<std::uint32_t> dominator = post_dominators(graph);
  for (Instr& instr : program.code) {
    instr.reconverge = kNowhere;
    if (!is_branch(instr)) continue;
    const std::uint32_t to = dominator[block_of[instr.index]];
    if (to != kNowhere && to < graph.begins.size()) instr.reconverge = graph.begins[to];
  }
}

}  // namespace kiln::emulated
