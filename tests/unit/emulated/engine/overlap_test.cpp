// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Launches that may begin while the one before them runs: every thread waits for it first. A GPU
// does not notice a thread that forgets to; the results are wrong now and then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/emulated/ptx_runner.hpp"

namespace kiln::emulated {
namespace {

using test::kernel_text;
using test::PtxRunner;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kLoad = "ld.param.u64 %rd1, [p0];\nld.global.u32 %r1, [%rd1];\n";

std::vector<Report> reports_of(const std::string& body, bool overlaps) {
  const std::string registers = ".reg .b64 %rd<4>;\n.reg .b32 %r<4>;\n.reg .pred %p<2>;\n";
  PtxRunner runner(kernel_text(registers + body, 1));
  runner.overlaps = overlaps;
  const std::uint64_t values = runner.buffer(std::vector<std::uint32_t>(32, 7));
  return runner.launch({1, 1, 1}, {32, 1, 1}, values).reports;
}

TEST(Overlap, ThreadsWaitBeforeTheyTouchMemory) {
  EXPECT_THAT(reports_of("griddepcontrol.wait;\n" + kLoad + "ret;", true), IsEmpty());
  const auto reports = reports_of(kLoad + "griddepcontrol.wait;\nret;", true);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].finding, Finding::missing_wait);
  EXPECT_THAT(reports[0].text, HasSubstr("touches global memory before griddepcontrol.wait"));
}

TEST(Overlap, ThreadsWaitBeforeTheyExit) {
  const auto reports = reports_of(R"(
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 4;
    @%p1 bra DONE;
    griddepcontrol.wait;
  DONE:
    griddepcontrol.launch_dependents;
    ret;)",
                                  true);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].finding, Finding::missing_wait);
  EXPECT_THAT(reports[0].text, HasSubstr("exits before griddepcontrol.wait"));
}

TEST(Overlap, OtherLaunchesNeedNotWait) {
  EXPECT_THAT(reports_of(kLoad + "ret;", false), IsEmpty());
}

}  // namespace
}  // namespace kiln::emulated
