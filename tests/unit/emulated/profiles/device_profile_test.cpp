// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Device profiles: their text, what is built in, and every way a file can be wrong.
#include "runtime/emulated/profiles/device_profile.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>

#include "kiln/error.hpp"
#include "runtime/model/device_profile_keys.hpp"
#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string h200_text() {
  return profile_text(profile_of("h200"));
}

/// The built-in profile's text with its one `from` replaced.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = h200_text();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

/// The line of `text` (1 is the first) that begins with `begin`.
int line_of(const std::string& text, const std::string& begin) {
  const std::size_t at = ("\n" + text).find("\n" + begin);
  EXPECT_NE(at, text.npos) << begin;
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<int>(at), '\n'));
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(read_profile(text, "mine.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return "";
}

/// Expects the complaint at the line that begins with `begin`, at `column`.
void expect_complaint(const std::string& text, const std::string& begin, int column,
                      const std::string& what) {
  const std::string place = "mine.toml:" + std::to_string(line_of(text, begin)) + ":" +
                            std::to_string(column) + ": " + what;
  EXPECT_THAT(error_of(text), StartsWith(place));
}

TEST(DeviceProfileTest, TheH200IsBuiltInAndPlausible) {
  const DeviceProfile profile = profile_of("h200");
  EXPECT_EQ(profile.name, "h200");
  const DeviceLimits known = *limits_of_arch("sm_90a");
  EXPECT_EQ(profile.limits.arch, known.arch);
  EXPECT_EQ(profile.limits.sm, known.sm);
  EXPECT_EQ(profile.limits.sm_count, known.sm_count);
  EXPECT_EQ(profile.limits.smem_optin, known.smem_optin);
  EXPECT_EQ(profile.limits.smem_per_sm, known.smem_per_sm);
  EXPECT_EQ(profile.limits.max_blocks_per_sm, known.max_blocks_per_sm);
  EXPECT_EQ(profile.device_class.canonical(),
            "NVIDIA H200 arch=sm_90a sms=132 l2_bytes=62914560 mig=-");
  // NVIDIA's data sheet: 67 TFLOP/s of fp32, 990 of dense f16; nothing is faster than that at the
  // highest clock of 1.98 GHz.
  const double per_clock = 132 * 1.98e-3 * 2;
  EXPECT_LE(profile.lanes(emulated::Unit::fp32) * per_clock, 67.0 * 1.05);
  EXPECT_GE(profile.lanes(emulated::Unit::fp32) * per_clock, 67.0 * 0.8);
  EXPECT_LE(profile.wgmma.f16 * per_clock, 1080.0);
  EXPECT_GT(profile.wgmma.f16, profile.mma.f16);
  EXPECT_LT(profile.dram_bytes_per_ns, profile.l2_bytes_per_ns);
  EXPECT_LT(profile.latency.shared, profile.latency.l2);
  EXPECT_LT(profile.latency.l2, profile.latency.dram);
  EXPECT_THAT(built_in_profiles(), ::testing::Contains("h200"));
}

TEST(DeviceProfileTest, AnUnknownModelNamesTheKnownOnes) {
  try {
    static_cast<void>(profile_of("b300"));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("'b300'"));
    EXPECT_THAT(error.what(), HasSubstr("h200"));
  }
}

TEST(DeviceProfileTest, APathIsRead) {
  const kiln::testing::TemporaryFolder folder;
  const std::string path = folder.file("mine.toml");
  std::ofstream(path) << changed("clock_ghz = ", "clock_ghz = 1.25 # was ");
  EXPECT_EQ(profile_of(path).clock_ghz, 1.25);
  std::filesystem::remove(path);
  try {
    static_cast<void>(profile_of(path));
    FAIL() << "found";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr(path));
  }
}

TEST(DeviceProfileTest, MistakesAreNamedWithTheirPlace) {
  // Of the whole file.
  EXPECT_THAT(error_of("name = \n"), StartsWith("mine.toml:1:"));
  EXPECT_THAT(error_of(""), StartsWith("mine.toml:1:1: name is missing"));
  expect_complaint(changed("gpu =", "gpu = \"x\"\ngpu ="), "gpu = \"NVIDIA", 7, "");
  // Keys: unknown, missing, in the wrong place.
  expect_complaint(changed("launch_ns", "lunch_ns"), "name", 1, "launch_ns is missing");
  expect_complaint(h200_text() + "colour = 3\n", "colour", 1,
                   "latency_clocks.colour is not a known key of a device profile");
  expect_complaint("speed = 3\n" + h200_text(), "speed", 1, "speed ");
  expect_complaint(h200_text() + "[extra]\n", "[extra]", 2,
                   "extra is not a known section of a device profile");
  expect_complaint(changed("\nfp32 =", "\nfp31 ="), "[lanes_per_clock]", 1, "lanes_per_clock.fp32");
  EXPECT_THAT(error_of(h200_text().substr(0, h200_text().find("[latency_clocks]"))),
              HasSubstr("[latency_clocks] is missing"));
  EXPECT_THAT(error_of("mma = 3\n" + changed("[mma]", "[mna]")), HasSubstr("mma"));
  // Values.
  expect_complaint(changed("clock_ghz = ", "clock_ghz = \"fast\" # "), "clock_ghz", 13,
                   "clock_ghz must be a number");
  expect_complaint(changed("clock_ghz = ", "clock_ghz = 0 # "), "clock_ghz", 13,
                   "clock_ghz is 0, but must be from 0.01 to 100");
  expect_complaint(changed("clock_ghz = ", "clock_ghz = 9007199254740993 # "), "clock_ghz", 13,
                   "clock_ghz is 9007199254740992, but must be from 0.01 to 100");
  expect_complaint(changed("clock_ghz = ", "clock_ghz = inf # "), "clock_ghz", 13,
                   "clock_ghz is inf, but must be from 0.01 to 100");
  expect_complaint(changed("clock_ghz = ", "clock_ghz = nan # "), "clock_ghz", 13,
                   "clock_ghz is nan, but must be from 0.01 to 100");
  expect_complaint(changed("\nfp64 = ", "\nfp64 = -1 # "), "fp64", 8,
                   "lanes_per_clock.fp64 is -1, but must be 0 or a number from 0.01 to 1000000");
  expect_complaint(changed("sm_count = 132", "sm_count = 1.5"), "sm_count", 12,
                   "limits.sm_count must be a whole number");
  expect_complaint(changed("sm_count = 132", "sm_count = 0"), "sm_count", 12,
                   "limits.sm_count is 0, but must be from 1 to 1024");
  expect_complaint(changed("sm_count = 132", "sm_count = 4294967296"), "sm_count", 12,
                   "limits.sm_count is 4294967296, but must be from 1 to 1024");
  expect_complaint(changed("name = \"h200\"", "name = 200"), "name", 8,
                   "name must be a string in quotes");
  expect_complaint(changed("figures = \"measured\"", "figures = \"guessed\""), "figures", 11,
                   "figures must be \"measured\" or \"published\"");
  expect_complaint(changed("arch = \"sm_90a\"", "arch = \"sm_3\""), "arch", 8,
                   "limits.arch must be one of these: sm_75");
}

/// Walks a profile's keys and makes texts of it in which one number is out of range.
class OutOfRange {
 public:
  void section(std::string_view name, std::string_view) { section_ = name; }
  void value(std::string_view, const std::string&, std::string_view) {}
  template <class Number>
  void value(std::string_view key, const Number& number, Range range, std::string_view) {
    const auto at = [](double value) {
      return std::is_integral_v<Number> ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
    };
    const double below = range.or_zero ? range.least / 2 : range.least - 1;
    for (const double wrong : {below, 2 * range.most + 1}) expect_refused(key, number, at(wrong));
    if (!std::is_integral_v<Number>) expect_refused(key, number, "1e300");
    ++keys_;
  }
  [[nodiscard]] int keys() const { return keys_; }

 private:
  template <class Number>
  void expect_refused(std::string_view key, const Number& number, const std::string& wrong) {
    std::string text = h200_text();
    const std::string line = fmt::format("\n{} = ", key);
    const std::size_t section = section_.empty() ? 0 : text.find(fmt::format("\n[{}]", section_));
    const std::size_t place = text.find(line + fmt::format("{}", number), section);
    ASSERT_NE(place, text.npos) << section_ << key;
    text.replace(place, line.size(), line + wrong + " # ");
    const std::string error = error_of(text);
    const std::string name =
        section_.empty() ? std::string(key) : fmt::format("{}.{}", section_, key);
    EXPECT_THAT(error, HasSubstr(": " + name + " is "));
    EXPECT_THAT(error, HasSubstr(", but must be "));
  }

  std::string section_;
  int keys_ = 0;
};

TEST(DeviceProfileTest, EveryNumberHasItsRange) {
  OutOfRange wrong;
  const DeviceProfile profile = profile_of("h200");
  visit_profile(profile, wrong);
  EXPECT_GT(wrong.keys(), 40);
  EXPECT_THAT(error_of(changed("warp_size = 32", "warp_size = 2147483647")),
              HasSubstr("limits.warp_size is 2147483647, but must be 32"));
  EXPECT_EQ(read_profile(changed("\ntf32 = ", "\ntf32 = 0 # "), "mine.toml").mma.tf32, 0.0)
      << "there is none";
}

/// A number that a figure may have, with and without a fraction.
rc::Gen<double> figures() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 53),
                                    rc::gen::inRange(0, 7)),
                      [](const auto& parts) {
                        return 1.0 +
                               std::ldexp(static_cast<double>(parts.first), parts.second - 54);
                      });
}

RC_GTEST_PROP(DeviceProfileProperty, TextReadsBackAsTheSame, ()) {
  DeviceProfile profile = profile_of("h200");
  profile.name = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  profile.device_class.name = *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
  profile.limits.sm_count = *rc::gen::inRange(1, 1000);
  profile.limits.l2_bytes = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  profile.device_class.sm_count = profile.limits.sm_count;
  profile.device_class.l2_bytes = profile.limits.l2_bytes;
  for (double* figure : {&profile.clock_ghz, &profile.launch_ns, &profile.l2_bytes_per_ns,
                         &profile.mma.f16, &profile.wgmma.e4m3, &profile.latency.dram}) {
    *figure = *figures();
  }
  for (const emulated::Unit unit : kLaneUnits) {
    profile.lanes_per_clock[static_cast<std::size_t>(unit)] =
        *rc::gen::oneOf(figures(), rc::gen::just(0.0));
  }
  const DeviceProfile read = read_profile(profile_text(profile), "text");
  RC_ASSERT(read.name == profile.name);
  RC_ASSERT(read.device_class == profile.device_class);
  RC_ASSERT(read.clock_ghz == profile.clock_ghz);
  RC_ASSERT(read.launch_ns == profile.launch_ns);
  RC_ASSERT(read.l2_bytes_per_ns == profile.l2_bytes_per_ns);
  RC_ASSERT(read.lanes_per_clock == profile.lanes_per_clock);
  RC_ASSERT(read.mma == profile.mma);
  RC_ASSERT(read.wgmma == profile.wgmma);
  RC_ASSERT(read.latency == profile.latency);
  // What is left shows in the text.
  RC_ASSERT(profile_text(read) == profile_text(profile));
}

}  // namespace
}  // namespace kiln
