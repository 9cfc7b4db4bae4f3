// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Findings that a kernel's author accepts, and that nothing else is accepted with them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::findings;
using test::found_only;
using test::kernel_text;
using test::PtxRunner;

constexpr auto kSameValue = static_cast<std::uint8_t>(Allowed::race_same_value);
constexpr auto kUnused = static_cast<std::uint8_t>(Allowed::uninitialised_unused);

constexpr const char* kAllowedRegisters = R"(
    .shared .align 4 .b8 place[256];
    .reg .pred %p<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, 1;
    mov.u32 %r4, place;
)";

/// Two blocks of two warps, with `p0` of 64 zeros.
LaunchResult found_in(const std::string& body, std::uint8_t allowed) {
  PtxRunner run(kernel_text(kAllowedRegisters + body + "\nret;", 1));
  run.allowed = allowed;
  const auto words = run.buffer(std::vector<std::uint32_t>(64, 0));
  return run.launch({2, 1, 1}, {64, 1, 1}, words);
}

TEST(AllowedFindings, StoresOfOneValueMayRace) {
  for (const std::string store : {"st.shared.u32 [%r4], %r3;", "st.global.u32 [%rd1], %r3;"}) {
    EXPECT_TRUE(found_only(found_in(store, 0), Finding::race)) << store;
    EXPECT_TRUE(findings(found_in(store, kSameValue)).empty()) << store;
    EXPECT_TRUE(found_only(found_in(store, kUnused), Finding::race)) << store;
  }
}

TEST(AllowedFindings, StoresOfDifferentValuesStillRace) {
  EXPECT_TRUE(found_only(found_in("st.shared.u32 [%r4], %r1;", kSameValue), Finding::race));
  EXPECT_TRUE(found_only(found_in("st.global.u32 [%rd1], %r2;", kSameValue), Finding::race));
}

TEST(AllowedFindings, ReadersStillRaceWithStores) {
  EXPECT_TRUE(found_only(
      found_in("st.shared.u32 [%r4], %r3; ld.shared.u32 %r5, [%r4];", kSameValue), Finding::race));
}

TEST(AllowedFindings, UnwrittenMemoryMayBeRead) {
  const std::string load = "ld.shared.u32 %r5, [%r4];";
  EXPECT_TRUE(found_only(found_in(load, 0), Finding::uninitialised));
  EXPECT_TRUE(found_only(found_in(load, kSameValue), Finding::uninitialised));
  EXPECT_TRUE(findings(found_in(load, kUnused)).empty());
}

}  // namespace
}  // namespace kiln::emulated
