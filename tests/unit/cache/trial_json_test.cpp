// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/trial_json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::good_trial;

RC_GTEST_PROP(TrialJson, AnyTrialComesBackFromItsLine, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  Trial trial = test::random_trial(random);
  if (trial.verification && random() % 2 == 0) trial.verification->worst_ratio = INFINITY;
  trial.message = "quote \" backslash \\ \xe2\x82\xac\ttab\n";
  const std::string line = trial_to_json(trial);
  RC_ASSERT(line.find('\n') == std::string::npos);
  RC_ASSERT(trial_from_json(line) == trial);
}

RC_GTEST_PROP(TrialJson, NoTextCrashesTheReader, (std::uint64_t seed)) {
  std::mt19937_64 random(seed);
  std::string line = trial_to_json(test::random_trial(random));
  for (int change = 0; change < 3; ++change) {
    line[random() % line.size()] = static_cast<char>(random() % 256);
  }
  if (random() % 4 == 0) line.resize(random() % line.size());
  try {
    (void)trial_from_json(line);
  } catch (const Error& error) {
    RC_ASSERT(error.kind() == ErrorKind::usage);
  }
}

TEST(TrialJson, IsReadable) {
  Trial trial = good_trial(1000);
  trial.id = "0123456789abcdef0123456789abcdef";
  trial.verification->worst_ratio = INFINITY;
  const std::string line = trial_to_json(trial);
  for (const std::string part :
       {R"("problem":{"operation":"gemm","sizes":{"m":4096,"n":4096,"k":4096},"types":{"a":"f16")",
        R"("template":"gemm_wmma")", R"("config":{"stages":3,"tile_m":128})",
        R"("worst_ratio":"inf")", R"("median_ns":1000.0)"}) {
    EXPECT_NE(line.find(part), std::string::npos) << part << " is not in " << line;
  }
}

TEST(SessionJson, AnySessionComesBackFromItsLine) {
  SessionRecord session = test::session("s1");
  EXPECT_EQ(session_from_json(session_to_json(session)), session);
  session.space_size = std::numeric_limits<std::int64_t>::max();
  session.state = "budget";
  session.ended_unix_ms = session.started_unix_ms + 5;
  EXPECT_EQ(session_from_json(session_to_json(session)), session);
}

TEST(SessionJson, WhatIsNoSessionIsNamed) {
  std::string line = session_to_json(test::session("s1"));
  line.replace(line.find("\"running\""), 9, "\"flying\"");
  const auto refusal = [](const std::string& text) {
    return test::error_of(ErrorKind::usage, [&] { (void)session_from_json(text); });
  };
  EXPECT_NE(refusal(line).find("'session state' is 'flying'"), std::string::npos);
  EXPECT_NE(refusal("{}").find("not a session"), std::string::npos);
  EXPECT_NE(refusal("[1]").find("not a session"), std::string::npos);
}

}  // namespace
}  // namespace kiln
