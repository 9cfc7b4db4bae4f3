// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/warning_sink.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kiln::detail {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// What a sink of that level prints of three warnings, of two kinds, and of a piece of news.
std::string printed(std::string_view level, PrintedKinds& kinds,
                    const WarningSink::Receiver& receiver = nullptr) {
  ::testing::internal::CaptureStderr();
  WarningSink sink(receiver, level, kinds);
  sink.warn(WarningKind::database, "a", "first database");
  sink.warn(WarningKind::database, "b", "second database");
  sink.warn(WarningKind::untuned, "c", "first\x1buntuned");
  sink.inform("news");
  return ::testing::internal::GetCapturedStderr();
}

TEST(WarningSinkTest, TheFirstOfEachKindIsPrintedOncePerProcessUnlessAnythingIsSaid) {
  PrintedKinds process;
  const std::string first = printed("", process);
  EXPECT_THAT(
      first,
      HasSubstr("kiln: warning: first database (Kiln hides further warnings of this "
                "kind. KILN_LOG=warning prints all warnings, and KILN_LOG=none prints none)\n"));
  EXPECT_THAT(first, HasSubstr("first\\u001buntuned"));
  EXPECT_THAT(first, Not(HasSubstr("second database")));
  EXPECT_THAT(first, Not(HasSubstr("news")));
  EXPECT_EQ(printed("", process), "") << "another library of the process";
}

TEST(WarningSinkTest, LevelsSayHowMuchIsPrinted) {
  PrintedKinds process;
  EXPECT_EQ(printed("none", process), "");
  const std::string all =
      "kiln: warning: first database\nkiln: warning: second database\n"
      "kiln: warning: first\\u001buntuned\n";
  EXPECT_EQ(printed("warning", process), all);
  EXPECT_EQ(printed("info", process), all + "kiln: news\n");
}

TEST(WarningSinkTest, AnApplicationThatListensIsToldAllAndNothingIsPrinted) {
  PrintedKinds process;
  for (const char* const level : {"", "none", "warning"}) {
    std::string heard;
    const auto listen = [&](std::string_view text) { heard.append(text).append("|"); };
    EXPECT_EQ(printed(level, process, listen), "");
    EXPECT_EQ(heard, "first database|second database|first\\u001buntuned|") << level;
  }
}

TEST(WarningSinkTest, AMisspeltLevelIsAWarningAndPrintsTheFirstOfEachKind) {
  PrintedKinds process;
  const std::string text = printed("warn", process);
  EXPECT_THAT(text, HasSubstr("log level 'warn' (KILN_LOG) is unknown; the levels are none, "
                              "warning, info"));
  EXPECT_THAT(text, HasSubstr("first database"));
}

}  // namespace
}  // namespace kiln::detail
