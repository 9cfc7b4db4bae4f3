// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

#include "runtime/model/device_profile.hpp"
#include "runtime/model/units.hpp"

/// \file
/// The one list of a profile's keys: reader and writer both walk it.

namespace kiln {

/// What values a key takes. The bounds are far from any GPU's, and keep what is computed with them
/// finite.
struct Range {
  double least;
  double most;
  bool or_zero = false;
};

/// The units that lanes_per_clock has keys for: those that the performance models ask for.
inline constexpr std::array<emulated::Unit, 9> kLaneUnits{
    emulated::Unit::integer, emulated::Unit::integer64, emulated::Unit::multiply,
    emulated::Unit::fp32,    emulated::Unit::fp64,      emulated::Unit::fp16,
    emulated::Unit::convert, emulated::Unit::special,   emulated::Unit::shuffle};

/// Shows every key of a profile to `visitor`, in the order of the file: section(name, comment) and
/// value(key, reference, comment), with a Range before the comment for numbers. What follows from
/// the rest (limits.sm, the device class's copies) has no key.
template <class Profile, class Visitor>
void visit_profile(Profile& profile, Visitor& visitor) {
  constexpr Range kPerClock{0.01, 1e3};
  constexpr Range kBytesPerNs{1.0, 1e6};
  constexpr Range kOptionalRate{0.01, 1e6, true};
  constexpr Range kSharedBytes{1, 1 << 23};
  constexpr Range kRegisters{1, 1 << 20};
  constexpr Range kClocks{0.0, 1e6};

  visitor.value("name", profile.name, "NAME in the device name emulated:NAME");
  visitor.value("figures", profile.figures, "measured by Kiln on a GPU, or published by others");
  visitor.value("gpu", profile.device_class.name, "the driver's name for this GPU");
  visitor.value("mig_profile", profile.device_class.mig_profile,
                "the MIG profile; empty if the GPU is not partitioned");
  visitor.value("clock_ghz", profile.clock_ghz, Range{0.01, 100.0},
                "clock frequency of the multiprocessors under load");
  visitor.value("launch_ns", profile.launch_ns, Range{0.0, 1e9},
                "in a CUDA graph: launch time of each kernel after the first");
  visitor.value("issue_per_clock", profile.issue_per_clock, kPerClock,
                "warp instructions that one multiprocessor issues per clock");
  visitor.value("shared_wavefronts_per_clock", profile.shared_wavefronts_per_clock, kPerClock,
                "per multiprocessor");
  visitor.value("l2_bytes_per_ns", profile.l2_bytes_per_ns, kBytesPerNs, "whole GPU, reads");
  visitor.value("dram_bytes_per_ns", profile.dram_bytes_per_ns, kBytesPerNs, "whole GPU, reads");

  auto& limits = profile.limits;
  visitor.section("limits", "hardware limits for kernels and launches");
  visitor.value("arch", limits.arch, "target architecture of the compiler");
  visitor.value("sm_count", limits.sm_count, Range{1, 1024}, "multiprocessors");
  visitor.value("l2_bytes", limits.l2_bytes, Range{1, 1e12}, "");
  visitor.value("smem_static", limits.smem_static, kSharedBytes,
                "maximum bytes of shared memory per block, without opt-in");
  visitor.value("smem_optin", limits.smem_optin, kSharedBytes,
                "maximum bytes of shared memory per block, with opt-in");
  visitor.value("smem_per_sm", limits.smem_per_sm, kSharedBytes, "");
  visitor.value("smem_reserved", limits.smem_reserved, Range{0, 1 << 16},
                "bytes of shared memory per block that the driver reserves");
  visitor.value("regs_per_block", limits.regs_per_block, kRegisters, "");
  visitor.value("regs_per_sm", limits.regs_per_sm, kRegisters, "");
  visitor.value("regs_per_thread", limits.regs_per_thread, Range{1, 1024}, "");
  visitor.value("max_threads", limits.max_threads, Range{32, 1024}, "per block");
  visitor.value("max_threads_per_sm", limits.max_threads_per_sm, Range{32, 4096}, "");
  visitor.value("max_blocks_per_sm", limits.max_blocks_per_sm, Range{1, 64}, "");
  visitor.value("warp_size", limits.warp_size, Range{32, 32}, "");

  visitor.section(
      "lanes_per_clock",
      "for each unit: lanes per clock and multiprocessor; 0: no limit besides the issue rate");
  for (const emulated::Unit unit : kLaneUnits) {
    const auto at = static_cast<std::size_t>(unit);
    visitor.value(emulated::kUnitNames[at], profile.lanes_per_clock[at], kOptionalRate, "");
  }

  const auto tensor = [&](const char* name, auto& rates, const char* comment) {
    visitor.section(name, comment);
    visitor.value("f16", rates.f16, kOptionalRate, "and bf16");
    visitor.value("tf32", rates.tf32, kOptionalRate, "");
    visitor.value("f64", rates.f64, kOptionalRate, "");
    visitor.value("s8", rates.s8, kOptionalRate, "and u8");
    visitor.value("e4m3", rates.e4m3, kOptionalRate, "and e5m2");
  };
  tensor("mma", profile.mma,
         "mma.sync and wmma: multiply-adds per clock and multiprocessor; 0: not supported");
  tensor("wgmma", profile.wgmma,
         "wgmma, both operands in shared memory: multiply-adds per clock and multiprocessor");

  auto& latency = profile.latency;
  visitor.section("latency_clocks", "clocks until a dependent instruction can use the result");
  visitor.value("alu", latency.alu, kClocks, "fp32 multiply-add");
  visitor.value("mma", latency.mma, kClocks,
                "mma.sync m16n8k16 on f16; 0: the GPU does not support it");
  visitor.value("shared", latency.shared, kClocks, "");
  visitor.value("l1", latency.l1, kClocks, "");
  visitor.value("l2", latency.l2, kClocks, "");
  visitor.value("dram", latency.dram, kClocks, "");
  visitor.value("barrier", latency.barrier, kClocks, "__syncthreads() of 256 threads");
}

}  // namespace kiln
