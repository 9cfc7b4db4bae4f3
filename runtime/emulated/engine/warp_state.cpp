// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a warp begins with, and the words of its findings.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/emulated/engine/cluster.hpp"
#include "runtime/emulated/engine/warp.hpp"

namespace kiln::emulated {
namespace {

Extent thread_place(const Extent& block, std::uint32_t thread) {
  return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

/// As many as compute capability 9.0 has.
constexpr std::uint32_t kWarpsOfMultiprocessor = 64;

}  // namespace

Warp::Warp(Block& block, int index, const Program& program)
    : block_(block),
      program_(program),
      index_(index),
      queues_(make_warp_queues(*this)),
      registers_(std::make_unique<std::byte[]>(program.register_bytes)) {
  const auto first = static_cast<std::uint32_t>(index) * kLanes;
  const std::uint32_t lanes = std::min<std::uint32_t>(kLanes, block.threads() - first);
  live_ = lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1;
  groups_.push_back({live_, 0, -1, Wait::none, 0, 0});
  for (const ConstantRow& constant : program.constants) {
    std::byte* const to = row(constant.row);
    if (constant.lane_bytes == 0) {
      set_predicate(constant.row, constant.low != 0 ? kAllLanes : 0, kAllLanes);
      continue;
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      std::memcpy(to + lane * constant.lane_bytes, &constant.low,
                  std::min<std::size_t>(8, constant.lane_bytes));
      if (constant.lane_bytes == 16) std::memcpy(to + lane * 16 + 8, &constant.high, 8);
    }
  }
  for (const SpecialRow& special : program.specials) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint32_t value = special_value(special.special, lane);
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

std::uint32_t Warp::special_value(Special special, int lane) const {
  const LaunchState& launch = block_.launch();
  const Extent thread =
      thread_place(launch.block, static_cast<std::uint32_t>(index_ * kLanes + lane));
  const Extent place = block_.place();
  const Extent& cluster = launch.cluster;
  const LaneMask bit = LaneMask{1} << lane;
  const auto smem = static_cast<std::uint32_t>(block_.shared_bytes());
  switch (special) {
    case Special::tid_x:
      return thread.x;
    case Special::tid_y:
      return thread.y;
    case Special::tid_z:
      return thread.z;
    case Special::ntid_x:
      return launch.block.x;
    case Special::ntid_y:
      return launch.block.y;
    case Special::ntid_z:
      return launch.block.z;
    case Special::ctaid_x:
      return place.x;
    case Special::ctaid_y:
      return place.y;
    case Special::ctaid_z:
      return place.z;
    case Special::nctaid_x:
      return launch.grid.x;
    case Special::nctaid_y:
      return launch.grid.y;
    case Special::nctaid_z:
      return launch.grid.z;
    case Special::laneid:
      return static_cast<std::uint32_t>(lane);
    case Special::warpid:
      return static_cast<std::uint32_t>(index_);
    case Special::nwarpid:
      return kWarpsOfMultiprocessor;
    case Special::smid: {
      const std::uint64_t flat = place.x + std::uint64_t{launch.grid.x} *
                                               (place.y + std::uint64_t{launch.grid.y} * place.z);
      return static_cast<std::uint32_t>(flat % launch.sm_count);
    }
    case Special::nsmid:
      return launch.sm_count;
    case Special::gridid:
      return 1;
    case Special::lanemask_eq:
      return bit;
    case Special::lanemask_lt:
      return bit - 1;
    case Special::lanemask_le:
      return bit | (bit - 1);
    case Special::lanemask_gt:
      return ~(bit | (bit - 1));
    case Special::lanemask_ge:
      return ~(bit - 1);
    case Special::clusterid_x:
      return place.x / cluster.x;
    case Special::clusterid_y:
      return place.y / cluster.y;
    case Special::clusterid_z:
      return place.z / cluster.z;
    case Special::nclusterid_x:
      return launch.grid.x / cluster.x;
    case Special::nclusterid_y:
      return launch.grid.y / cluster.y;
    case Special::nclusterid_z:
      return launch.grid.z / cluster.z;
    case Special::cluster_ctaid_x:
      return place.x % cluster.x;
    case Special::cluster_ctaid_y:
      return place.y % cluster.y;
    case Special::cluster_ctaid_z:
      return place.z % cluster.z;
    case Special::cluster_nctaid_x:
      return cluster.x;
    case Special::cluster_nctaid_y:
      return cluster.y;
    case Special::cluster_nctaid_z:
      return cluster.z;
    case Special::cluster_ctarank:
      return block_.rank();
    case Special::cluster_nctarank:
      return static_cast<std::uint32_t>(cluster.count());
    case Special::is_explicit_cluster:
      return cluster.count() > 1 ? 1 : 0;
    case Special::dynamic_smem_size:
      return launch.dynamic_smem_bytes;
    case Special::total_smem_size:
      return smem;
    case Special::aggr_smem_size:
      return smem + kSharedBase;
  }
  return 0;
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
          false};
}

void Warp::fail(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                std::uint64_t address) const {
  throw KernelFault(describe(instr, lanes, finding, std::move(text), address));
}

void Warp::report(const Instr& instr, LaneMask lanes, Finding finding, std::string text,
                  std::uint64_t address) const {
  block_.launch().report(describe(instr, lanes, finding, std::move(text), address));
}

}  // namespace kiln::emulated
