// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/types.hpp"

#include <gtest/gtest.h>

namespace kiln {
namespace {

// Constant evaluation refuses to read outside of a table.
static_assert(to_string(DType(77)) == "invalid" && size_bytes(DType(77)) == 0);
static_assert(to_string(DType(21)) == "invalid" && to_string(DType::b1_xor) == "b1_xor");

TEST(TypesTest, ValuesThatAreNoEnumeratorsHaveATextAndNoSize) {
  for (int value = 0; value < 256; ++value) {
    const auto index = static_cast<std::size_t>(value);
    const bool is_type = index < kDTypeNames.size();
    EXPECT_EQ(to_string(DType(value)), is_type ? kDTypeNames[index] : "invalid");
    EXPECT_EQ(size_bytes(DType(value)), is_type ? kDTypeBytes[index] : 0);
    EXPECT_EQ(packed_values(DType(value)), is_type ? kDTypeValues[index] : 1);
    EXPECT_EQ(to_string(Match(value)), index < kMatchNames.size() ? kMatchNames[index] : "invalid");
    EXPECT_EQ(to_string(Mode(value)), index < kModeNames.size() ? kModeNames[index] : "invalid");
  }
  EXPECT_FALSE(parse_dtype("invalid"));
  EXPECT_FALSE(parse_mode("invalid"));
}

}  // namespace
}  // namespace kiln
