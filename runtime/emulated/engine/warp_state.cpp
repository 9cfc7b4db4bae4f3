// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a warp begins with, and the words of its findings.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

Extent thread_place(const Extent& block, std::uint32_t thread) {
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

ptx::ThreadPlace::Three three(const Extent& extent) {
  return {extent.x, extent.y, extent.z};
}

/// What all threads of a block have in common.
ptx::ThreadPlace place_in(const Block& block) {
  const LaunchState& launch = block.launch();
  ptx::ThreadPlace place;
  place.ntid = three(launch.block);
  place.ctaid = three(block.place());
  place.nctaid = three(launch.grid);
  place.cluster_nctaid = three(launch.cluster);
  place.cluster_ctarank = block.rank();
  place.nsmid = launch.sm_count;
  place.smem_bytes = block.shared_bytes();
  place.dynamic_smem_bytes = launch.dynamic_smem_bytes;
  place.system_smem_bytes = kSharedBase;
  place.grid_workspace = launch.grid_workspace.address;
  return place;
}

/// Lanes of the warp that begins with thread `first`; the last warp of a block may have fewer.
LaneMask lanes_from(const Block& block, std::uint32_t first) {
  const std::uint32_t lanes = std::min<std::uint32_t>(kLanes, block.threads() - first);
  return lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
}

template <class T>
void put_in_all(std::byte* row, T value) {
  for (int lane = 0; lane < kLanes; ++lane) put(row, lane, value);
}

}  // namespace

Warp::Warp(Block& block, int index, const Program& program)
    : block_(block),
      program_(program),
      index_(index),
      queues_(make_warp_queues(*this)),
      registers_(std::make_unique_for_overwrite<std::byte[]>(program.register_bytes)),
      groups_(lanes_from(block, static_cast<std::uint32_t>(index) * kLanes)) {
  std::memset(registers_.get(), 0, program.register_bytes);  // a loop over bytes at -O1 otherwise
  if (block.launch().overlaps) launch_waited_ = 0;
  fill_constants();
  fill_specials(static_cast<std::uint32_t>(index) * kLanes);
}

void Warp::fill_constants() {
  for (const ConstantRow& constant : program_.constants) {
    std::byte* const to = row(constant.row);
    switch (constant.lane_bytes) {
      case 0:
        set_predicate(constant.row, constant.low != 0 ? kAllLanes : 0, kAllLanes);
        break;
      case 2:
        put_in_all(to, static_cast<std::uint16_t>(constant.low));
        break;
      case 4:
        put_in_all(to, static_cast<std::uint32_t>(constant.low));
        break;
      case 8:
        put_in_all(to, constant.low);
        break;
      default:
        put_in_all(to, std::array{constant.low, constant.high});
        break;
    }
  }
}

/// Rows of special registers, which never change.
void Warp::fill_specials(std::uint32_t first_thread) {
  ptx::ThreadPlace place = place_in(block_);
  place.warpid = static_cast<std::uint32_t>(index_);
  for (int lane = 0; lane < kLanes; ++lane) {
    place.laneid = static_cast<std::uint32_t>(lane);
    place.tid = three(thread_place(block_.launch().block, first_thread + place.laneid));
    for (const SpecialRow& special : program_.specials) {
      const std::uint32_t value = special.use.special->value(place, special.use.component);
      std::byte* const to = row(special.row);
      switch (special.lane_bytes) {
        case 0:
          set_predicate(special.row, value != 0 ? kAllLanes : 0, kAllLanes);
          break;
        case 2:
          put(to, lane, static_cast<std::uint16_t>(value));
          break;
        case 4:
          put(to, lane, value);
          break;
        default:
          put(to, lane, std::uint64_t{value});
          break;
      }
    }
  }
}

Report Warp::describe(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                      std::uint64_t address) const {
  const Extent place = block_.place();
  const int lane = lanes == 0 ? 0 : std::countr_zero(lanes);
  const Extent thread =
      thread_place(block_.launch().block, static_cast<std::uint32_t>(index_ * kLanes + lane));
  return {finding,
          program_.name,
          {place.x, place.y, place.z},
          {thread.x, thread.y, thread.z},
          address,
          instr.index,
          program_.place_of(instr.index),
          fmt::format("{} {}", program_.opcodes[instr.index], text),
          1,
          program_.caller_of(instr.index),
          false,
          {},
          {},
          Reach::none};
}

void Warp::fail(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                std::uint64_t address) const {
  throw KernelFault(describe(instr, lanes, finding, std::move(text), address));
}

void Warp::report(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                  std::uint64_t address) const {
  block_.launch().report(describe(instr, lanes, finding, std::move(text), address));
}

void Warp::report_race(const Instr& instr, LaneMask lanes, Rival rival, std::string text,
                       std::uint64_t address) const {
  Report race = describe(instr, lanes, Finding::race, std::move(text), address);
  race.other = program_.place_of(rival.instruction);
  race.other_caller = program_.caller_of(rival.instruction);
  race.reach = rival.reach;
  block_.launch().report(std::move(race));
}

}  // namespace kiln::emulated
