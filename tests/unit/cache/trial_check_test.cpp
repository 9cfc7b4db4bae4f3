// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/rows/trial_check.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "tests/unit/cache/cache_fixture.hpp"

namespace kiln {
namespace {

using test::error_of;
using test::good_trial;

TEST(TrialCheck, FillsIdAndDate) {
  Trial trial = good_trial(10.0);
  trial.created_unix_ms = 0;
  const Trial row = checked(trial);
  EXPECT_TRUE(is_id(row.id));
  EXPECT_GT(row.created_unix_ms, 1'600'000'000'000);
}

TEST(TrialCheck, NamesTheFieldThatBreaksARule) {
  const std::vector<std::pair<std::string, std::function<void(Trial&)>>> cases{
      {"'id'", [](Trial& t) { t.id = "xyz"; }},
      {"'problem'", [](Trial& t) { t.key.problem.operation = ""; }},
      {"'problem'", [](Trial& t) { t.key.problem.sizes[0].value = 0; }},
      {"'problem'", [](Trial& t) { t.key.problem.sizes[0].name = "m m"; }},
      {"'device'", [](Trial& t) { t.key.device.name = ""; }},
      {"'device sm_count'", [](Trial& t) { t.key.device.sm_count = -1; }},
      {"'template'", [](Trial& t) { t.key.template_name = "a\nb"; }},
      {"'driver'", [](Trial& t) { t.environment.driver = "\x01"; }},
      {"'toolkit'", [](Trial& t) { t.environment.toolkit = "\xff"; }},
      {"'session_id'", [](Trial& t) { t.session_id = std::string(5000, 's'); }},
      {"'registers'", [](Trial& t) { t.resources->registers = -1; }},
      {"'occupancy'", [](Trial& t) { t.resources->occupancy = NAN; }},
      {"'median_ns'", [](Trial& t) { t.timing->median_ns = INFINITY; }},
      {"'samples_ns'", [](Trial& t) { t.timing->samples_ns[0] = NAN; }},
      {"'worst_ratio'", [](Trial& t) { t.verification->worst_ratio = -1; }},
      {"'compile_seconds'", [](Trial& t) { t.compile_seconds = -1; }},
      {"'code_digest'", [](Trial& t) { t.code_digest = "abc"; }},
      {"'shared_from'", [](Trial& t) { t.shared_from = std::string(32, 'a'); }},
      {"'shared_from'",
       [](Trial& t) {
         t.code_digest = std::string(32, 'c');
         t.shared_from = "not an id";
       }},
      {"'shared_from'",
       [](Trial& t) {
         t.code_digest = std::string(32, 'c');
         t.id = t.shared_from = std::string(32, 'a');
       }},
  };
  for (const auto& [field, spoil] : cases) {
    Trial trial = good_trial(10.0);
    spoil(trial);
    const std::string text = error_of(ErrorKind::usage, [&] { (void)checked(trial); });
    EXPECT_NE(text.find(field), std::string::npos) << text;
  }
}

TEST(TrialCheck, AResultThatIsNotANumberHasAnInfiniteRatio) {
  Trial trial = good_trial(10.0);
  trial.outcome = Outcome::wrong_result;
  trial.verification->worst_ratio = NAN;
  EXPECT_TRUE(std::isinf(checked(trial).verification->worst_ratio));
}

TEST(TrialCheck, KeepsUtf8AndReplacesWhatIsNone) {
  Trial trial = good_trial(10.0);
  trial.message = "\xc2\xb5s \xe2\x82\xac \xf0\x9f\x94\xa5 tab\t\xff\xc3 \xed\xa0\x80 \xc0\xaf";
  trial.message += '\0';
  EXPECT_EQ(checked(trial).message, "\xc2\xb5s \xe2\x82\xac \xf0\x9f\x94\xa5 tab\t?? ??? ???");
}

RC_GTEST_PROP(TrialCheck, CheckingTwiceChangesNothing, (const std::string& bytes)) {
  Trial trial = good_trial(10.0);
  trial.message = bytes;
  const Trial once = checked(trial);
  RC_ASSERT(checked(once) == once);
  RC_ASSERT(once.message.size() <= bytes.size());
}

TEST(TrialCheck, CutsLongLogsAtACharacter) {
  Trial trial = good_trial(10.0);
  for (int i = 0; i < 40'000; ++i) trial.message += "\xe2\x82\xac";
  const std::string message = checked(trial).message;
  EXPECT_LE(message.size(), 65536U);
  EXPECT_EQ(message.size() % 3, 0U);
}

TEST(TrialCheck, SessionStatesAreAFixedSet) {
  SessionRecord session = test::session("s1");
  session.space_size = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(checked(session).space_size, 0x7fffffffffffffffU);
  session.state = "done";
  EXPECT_NE(error_of(ErrorKind::usage, [&] { (void)checked(session); }).find("'done'"),
            std::string::npos);
}

}  // namespace
}  // namespace kiln
