// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/digest.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace kiln {
namespace {

TEST(Digest, IsXxh3OfTheBytes) {
  // The published value for the empty input.
  EXPECT_EQ(digest_hex(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(digest_hex("kiln").size(), 32U);
  EXPECT_NE(digest_hex("kiln"), digest_hex("kilN"));
  EXPECT_NE(digest_hex(std::string_view("a\0b", 3)), digest_hex(std::string_view("a\0c", 3)));
}

TEST(Digest, FieldsDoNotRunTogether) {
  EXPECT_NE(DigestBuilder().add("ab").add("c").hex(), DigestBuilder().add("a").add("bc").hex());
  EXPECT_NE(DigestBuilder().add("").add("a").hex(), DigestBuilder().add("a").add("").hex());
  EXPECT_NE(DigestBuilder().add("1:a").hex(), DigestBuilder().add("").add("a").hex());
}

RC_GTEST_PROP(DigestProperty, EqualFieldsAndOnlyThoseAgree,
              (const std::vector<std::string>& a, const std::vector<std::string>& b)) {
  const auto digest = [](const std::vector<std::string>& fields) {
    DigestBuilder builder;
    for (const auto& field : fields) builder.add(field);
    return builder.hex();
  };
  RC_ASSERT(digest(a) == digest(a));
  RC_ASSERT((digest(a) == digest(b)) == (a == b));
}

}  // namespace
}  // namespace kiln
