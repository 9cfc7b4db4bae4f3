// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/shortlist.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kiln/error.hpp"

namespace kiln {
namespace {

std::vector<Contender> two_contenders() {
  return {{"0123",
           {0, 1000.5, 2.25, 128},
           "gemm_wmma",
           "d1",
           "stages=3",
           "580.1",
           "nvrtc 13.0",
           "judge"},
          {"4567", {1, 1e300, 0, 0}, "\"quoted\"\n", "", "", "\xc3\xa9", "", ""}};
}

TEST(ShortlistText, ComesBackAsItWas) {
  EXPECT_EQ(parse_contenders(contenders_text(two_contenders())), two_contenders());
  EXPECT_EQ(parse_contenders(contenders_text({})), std::vector<Contender>{});
}

TEST(ShortlistText, WhatIsNoneIsRefused) {
  const std::string text = contenders_text({two_contenders().front()});
  const std::string fields = text.substr(2, text.size() - 4);
  EXPECT_EQ(parse_contenders("[[" + fields + "]]").size(), 1U);
  const std::vector<std::string> wrong_texts{"",
                                             "[",
                                             "{}",
                                             "[{}]",
                                             "[7]",
                                             "[\"a\"]",
                                             "[[]]",
                                             "[null]",
                                             text + "x",
                                             "[" + text + "]",
                                             "[[" + fields + ",1]]",
                                             "[[" + fields + ",\"more\"]]",
                                             "[[" + fields.substr(0, fields.rfind(',')) + "]]",
                                             "[[1," + fields + "]]",
                                             R"([["a","b",1,1,1,"t","d","c","dr","to","j"]])",
                                             R"([["a",0,1,1,1e10,"t","d","c","dr","to","j"]])",
                                             R"([["a",0,1,1,1,5,"d","c","dr","to","j"]])",
                                             R"([["a",0,1,1,[1],"t","d","c","dr","to","j"]])"};
  for (const std::string& wrong : wrong_texts) {
    EXPECT_THROW((void)parse_contenders(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace kiln
