// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/ptx/special_registers.hpp"

#include <gtest/gtest.h>

namespace kiln::ptx {
namespace {

TEST(SpecialRegisters, AreFoundByTheirNames) {
  for (const char* name : {"tid", "laneid", "clock64", "envreg0", "envreg31", "pm7", "pm3_64",
                           "reserved_smem_offset_1", "reserved_smem_offset_begin"}) {
    EXPECT_NE(find_special(name), nullptr) << name;
  }
  for (const char* name : {"", "tidx", "t", "envreg", "envreg32", "envreg07", "envreg-1", "pm8",
                           "pm_64", "pm3_65", "reserved_smem_offset_2"}) {
    EXPECT_EQ(find_special(name), nullptr) << name;
  }
}

TEST(SpecialRegisters, OperandsNameAComponentOfThoseThatHaveSome) {
  const auto y = special_of("%tid.y");
  ASSERT_TRUE(y);
  EXPECT_EQ(y->special, find_special("tid"));
  EXPECT_EQ(y->component, 1U);
  EXPECT_TRUE(special_of("%laneid"));
  for (const char* operand : {"%tid", "%tid.w", "%tid.xy", "%tid.", "%laneid.x", "laneid", "%r1"}) {
    EXPECT_FALSE(special_of(operand)) << operand;
  }
}

TEST(SpecialRegisters, HaveTheValuesOfTheirPlace) {
  ThreadPlace place;
  place.tid = {3, 2, 1};
  place.ctaid = {5, 1, 0};
  place.nctaid = {8, 2, 1};
  place.cluster_nctaid = {2, 1, 1};
  place.laneid = 4;
  place.nsmid = 10;
  place.smem_bytes = 100;
  place.system_smem_bytes = 1024;
  const auto value = [&](const char* operand) {
    const auto use = special_of(operand);
    return use ? use->special->value(place, use->component) : 0xdeadU;
  };
  EXPECT_EQ(value("%tid.z"), 1U);
  EXPECT_EQ(value("%clusterid.x"), 2U);
  EXPECT_EQ(value("%nclusterid.x"), 4U);
  EXPECT_EQ(value("%cluster_ctaid.x"), 1U);
  EXPECT_EQ(value("%cluster_nctarank"), 2U);
  EXPECT_EQ(value("%is_explicit_cluster"), 1U);
  EXPECT_EQ(value("%smid"), (5U + 8U * 1U) % 10U);
  EXPECT_EQ(value("%lanemask_le"), 0x1fU);
  EXPECT_EQ(value("%lanemask_gt"), 0xffffffe0U);
  EXPECT_EQ(value("%aggr_smem_size"), 1124U);
  EXPECT_EQ(special_of("%clock")->special->value, nullptr);
}

}  // namespace
}  // namespace kiln::ptx
