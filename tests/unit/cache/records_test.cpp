// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/records.hpp"

#include <gtest/gtest.h>

#include <set>

namespace kiln {
namespace {

TEST(Records, EveryOutcomeAndProvenanceIsFoundByItsName) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    EXPECT_EQ(parse_outcome(kOutcomeNames[i]), static_cast<Outcome>(i));
  }
  for (std::size_t i = 0; i < kProvenanceNames.size(); ++i) {
    EXPECT_EQ(parse_provenance(kProvenanceNames[i]), static_cast<Provenance>(i));
  }
  EXPECT_FALSE(parse_outcome("OK"));
  EXPECT_FALSE(parse_provenance(""));
}

TEST(Records, RandomIdsAreThirtyTwoHexadecimalDigitsAndDiffer) {
  std::set<std::string> ids;
  for (int i = 0; i < 1000; ++i) {
    const std::string id = random_id();
    EXPECT_EQ(id.size(), 32U);
    EXPECT_EQ(id.find_first_not_of("0123456789abcdef"), std::string::npos) << id;
    ids.insert(id);
  }
  EXPECT_EQ(ids.size(), 1000U);
}

TEST(Records, CanonicalTextsNameEveryField) {
  EXPECT_EQ((DeviceClass{"NVIDIA H200", "sm_90a", 132, 62914560, ""}.canonical()),
            "NVIDIA H200 arch=sm_90a sms=132 l2_bytes=62914560 mig=-");
  EXPECT_EQ((Environment{"580.1", "nvrtc 13.0", "cold"}.canonical()),
            "driver=580.1 toolkit=nvrtc 13.0 policy=cold");
}

}  // namespace
}  // namespace kiln
