// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/model/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kiln/error.hpp"
#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

/// One warp runs the kernel `k` of `text` on a buffer of 4 KiB.
class TracedWarp {
 public:
  explicit TracedWarp(const std::string& text) : module_(text, {"k"}, memory_) {
    state_.program =
        *static_cast<const std::shared_ptr<const Program>*>(module_.functions().front().handle);
    state_.memory = &memory_;
    state_.block = {32, 1, 1};
    const std::uint64_t address = memory_.allocate(4096).address;
    const auto* const bytes = reinterpret_cast<const std::byte*>(&address);
    state_.parameters.assign(bytes, bytes + sizeof address);
  }

  void run(std::size_t longest = kLongestTrace) {
    LaunchOptions options;
    options.host_threads = 1;
    options.make_observer = [&] { return trace_block(trace_, longest); };
    const LaunchResult result = run_grid(state_, options);
    EXPECT_FALSE(result.fault) << result.fault->describe();
  }

  /// Entries of the instruction with this opcode, in order.
  [[nodiscard]] std::vector<TraceEntry> of(const std::string& opcode) const {
    std::vector<TraceEntry> entries;
    for (const TraceEntry& entry : trace_.warps.at(0)) {
      if (state_.program->opcodes[entry.instruction] == opcode) entries.push_back(entry);
    }
    return entries;
  }

 private:
  GlobalMemory memory_{std::int64_t{1} << 20};
  EmulatedModule module_;
  LaunchState state_;
  BlockTrace trace_;
};

/// `body` three times over; %rd3 is the lane's word of the buffer.
std::string three_times(const std::string& body) {
  return test::kernel_text(R"(
    .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
    .local .align 4 .b8 kept[16];
    ld.param.u64 %rd1, [p0];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
  again:
)" + body + R"(
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, 3;
    @%p1 bra again;
    ret;
  )",
                           1);
}

std::vector<int> sectors_of(const std::vector<TraceEntry>& entries) {
  std::vector<int> counts;
  std::transform(entries.begin(), entries.end(), std::back_inserter(counts),
                 [](const TraceEntry& entry) { return static_cast<int>(entry.sectors); });
  return counts;
}

TEST(Trace, TheFirstLevelServesLoadsAgainButNeitherStoresNorAtomics) {
  using ::testing::ElementsAre;
  TracedWarp loads(three_times("st.global.u32 [%rd3+2048], %r1; ld.global.u32 %r3, [%rd3+2048];"));
  loads.run();
  EXPECT_THAT(sectors_of(loads.of("st.global.u32")), ElementsAre(4, 4, 4));
  EXPECT_THAT(sectors_of(loads.of("ld.global.u32")), ElementsAre(0, 0, 0)) << "stored before";

  TracedWarp atomics(three_times("atom.global.add.u32 %r3, [%rd3], %r1;"));
  atomics.run();
  EXPECT_THAT(sectors_of(atomics.of("atom.global.add.u32")), ElementsAre(4, 4, 4));
}

TEST(Trace, LocalMemoryIsLookedUpAndStaysInTheFirstLevel) {
  TracedWarp warp(three_times("st.local.u32 [kept], %r1; ld.local.u32 %r3, [kept];"));
  warp.run();
  const auto loads = warp.of("ld.local.u32");
  ASSERT_EQ(loads.size(), 3U);
  EXPECT_EQ(loads[0].lookups, 1);
  EXPECT_EQ(loads[0].returns, 1);
  EXPECT_EQ(loads[0].sectors, 0);
}

TEST(Trace, EndsWithAClearErrorWhenTheBlockRunsOn) {
  const std::string endless = test::kernel_text("again: bra again; ret;", 1);
  TracedWarp warp(endless);
  try {
    warp.run(1000);
    FAIL() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(
        error.what(),
        ::testing::StartsWith(
            "Kiln cannot predict a time, because one block executes more than 1000 instructions"));
  }
}

}  // namespace
}  // namespace kiln::emulated
