// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/device_profile.hpp"
#include "runtime/emulated/unit_names.hpp"

/// \file
/// The one list of a profile's keys: reader and writer both walk it.

namespace kiln {

/// What values a key takes.
enum class Range : std::uint8_t { positive, not_negative };

/// Shows every key of a profile to `visitor`, in the order of the file: section(name, comment) and
/// value(key, reference, comment), with a Range before the comment for numbers. What follows from
/// the rest (limits.sm, the device class's copies) has no key.
template <class Profile, class Visitor>
void visit_profile(Profile& profile, Visitor& visitor) {
  using enum Range;
  visitor.value("name", profile.name, "as in emulated:NAME");
  visitor.value("gpu", profile.device_class.name, "as its driver calls it");
  visitor.value("mig_profile", profile.device_class.mig_profile, "empty: not partitioned");
  visitor.value("clock_ghz", profile.clock_ghz, positive, "of the multiprocessors, under load");
  visitor.value("launch_ns", profile.launch_ns, not_negative, "each further kernel of a graph");
  visitor.value("issue_per_clock", profile.issue_per_clock, positive,
                "warp instructions per multiprocessor");
  visitor.value("shared_wavefronts_per_clock", profile.shared_wavefronts_per_clock, positive,
                "per multiprocessor");
  visitor.value("l1_sectors_per_clock", profile.l1_sectors_per_clock, positive,
                "of 32 bytes, per multiprocessor");
  visitor.value("l2_bytes_per_ns", profile.l2_bytes_per_ns, positive, "whole GPU, reads");
  visitor.value("dram_bytes_per_ns", profile.dram_bytes_per_ns, positive, "whole GPU, reads");

  auto& limits = profile.limits;
  visitor.section("limits", "what a launch may ask for; bytes and counts");
  visitor.value("arch", limits.arch, "what its kernels are compiled for");
  visitor.value("sm_count", limits.sm_count, positive, "multiprocessors");
  visitor.value("l2_bytes", limits.l2_bytes, positive, "");
  visitor.value("smem_static", limits.smem_static, positive, "of a block without opting in");
  visitor.value("smem_optin", limits.smem_optin, positive, "of a block at most");
  visitor.value("smem_per_sm", limits.smem_per_sm, positive, "");
  visitor.value("smem_reserved", limits.smem_reserved, not_negative, "the driver's, per block");
  visitor.value("regs_per_block", limits.regs_per_block, positive, "");
  visitor.value("regs_per_sm", limits.regs_per_sm, positive, "");
  visitor.value("regs_per_thread", limits.regs_per_thread, positive, "");
  visitor.value("max_threads", limits.max_threads, positive, "of a block");
  visitor.value("max_threads_per_sm", limits.max_threads_per_sm, positive, "");
  visitor.value("max_blocks_per_sm", limits.max_blocks_per_sm, positive, "");
  visitor.value("warp_size", limits.warp_size, positive, "");

  visitor.section("lanes_per_clock",
                  "per multiprocessor, by unit; 0: no limit but issue, or one stated elsewhere");
  for (std::size_t i = 0; i < profile.lanes_per_clock.size(); ++i) {
    visitor.value(emulated::kUnitNames[i], profile.lanes_per_clock[i], not_negative, "");
  }

  const auto tensor = [&](const char* name, auto& rates, const char* comment) {
    visitor.section(name, comment);
    visitor.value("f16", rates.f16, not_negative, "and bf16");
    visitor.value("tf32", rates.tf32, not_negative, "");
    visitor.value("f64", rates.f64, not_negative, "");
    visitor.value("s8", rates.s8, not_negative, "and u8");
    visitor.value("e4m3", rates.e4m3, not_negative, "and e5m2");
  };
  tensor("mma", profile.mma,
         "mma.sync and wmma: multiply-adds per clock and multiprocessor; 0: there is none");
  tensor("wgmma", profile.wgmma, "wgmma with both operands in shared memory, likewise");

  auto& latency = profile.latency;
  visitor.section("latency_clocks", "until the next instruction can use the result");
  visitor.value("alu", latency.alu, not_negative, "fp32 multiply-add");
  visitor.value("mma", latency.mma, not_negative, "f16 mma.sync m16n8k16; 0: there is none");
  visitor.value("shared", latency.shared, not_negative, "");
  visitor.value("l1", latency.l1, not_negative, "");
  visitor.value("l2", latency.l2, not_negative, "");
  visitor.value("dram", latency.dram, not_negative, "");
  visitor.value("barrier", latency.barrier, not_negative, "__syncthreads() of 256 threads");
}

}  // namespace kiln
