// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/foreign_results.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "cache/exchange/packed_text.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHeader =
    "{\"device_name\": \"NVIDIA A100\", \"kernel_name\": \"scale\", \"problem_size\": [64, 32],\n"
    "\"tune_params_keys\": [\"block\"], \"tune_params\": {\"block\": [32, 64]},\n\"cache\": {\n";

std::string cache_with(std::string_view entries) {
  return fmt::format("{}{}", kHeader, entries);
}

std::string entry_of(std::string_view block, std::string_view rest) {
  return fmt::format("\"{0}\": {{\"block\": {0}, {1}}}", block, rest);
}

ForeignResults parse(const std::string& text) {
  return parse_foreign_results(text, "x.json");
}

std::string refusal_of(const std::string& text) {
  try {
    (void)parse(text);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
}

void expect_refusal(const std::string& text, std::string_view part) {
  const std::string refusal = refusal_of(text);
  EXPECT_NE(refusal.find(part), std::string::npos) << refusal;
  EXPECT_TRUE(refusal.starts_with("x.json")) << refusal;
}

TEST(ForeignResults, OfACacheFileHaveTimesSamplesAndTheOtherFields) {
  const ForeignResults file = parse(cache_with(
      entry_of("32",
               "\"time\": 0.5, \"times\": [0.4, 0.6], \"compile_time\": 12.5, \"GFLOP/s\": 7, "
               "\"timestamp\": \"2023-01-24 01:03:17.677311+00:00\"") +
      "}}"));
  EXPECT_EQ(file.format, ForeignFormat::kernel_tuner);
  EXPECT_EQ(file.device, "NVIDIA A100");
  EXPECT_EQ(file.kernel, "scale");
  EXPECT_EQ(file.problem_size, "[64,32]");
  EXPECT_EQ(file.objective, "time");
  EXPECT_EQ(file.names, std::vector<std::string>{"block"});
  ASSERT_EQ(file.results.size(), 1U);
  const ForeignResult& result = file.results[0];
  EXPECT_EQ(result.line, 4U);
  EXPECT_EQ(result.time_ms, 0.5);
  EXPECT_EQ(result.samples_ms, (std::vector<double>{0.4, 0.6}));
  EXPECT_EQ(result.compile_ms, 12.5);
  EXPECT_EQ(result.created_unix_ms, 1674522197677);
  EXPECT_EQ(result.others, "{\"GFLOP/s\":7,\"timestamp\":\"2023-01-24 01:03:17.677311+00:00\"}");
}

TEST(ForeignResults, OfAnUnfinishedCacheFileAreRead) {
  const std::string entries = entry_of("32", "\"time\": 0.5");
  EXPECT_EQ(parse(cache_with(entries + ",")).results.size(), 1U);
  EXPECT_EQ(parse(cache_with(entries + ",\n")).results.size(), 1U);
  EXPECT_EQ(parse(cache_with(entries)).results.size(), 1U);
  EXPECT_EQ(parse(cache_with(entries + "}")).results.size(), 1U);
}

TEST(ForeignResults, ThatEndWithinAResultAreRefused) {
  expect_refusal(cache_with(entry_of("32", "\"time\": 0.5") + ",\n\"64\": {\"block\": 64,"),
                 "x.json:5:20: the file ends within a result");
  expect_refusal(cache_with("\"32\": {\"blo"), "ends within a string");
  expect_refusal("{\"results\": [{\"configuration\": {}}", "ends within a result");
}

TEST(ForeignResults, KnowTheFailuresOfBothFormats) {
  const ForeignResults cache =
      parse(cache_with(entry_of("1", "\"time\": \"InvalidConfig\"") + ",\n" +
                       entry_of("2", "\"time\": \"CompilationFailedConfig\"") + ",\n" +
                       entry_of("3", "\"time\": \"RuntimeFailedConfig\", \"times\": [1.0]") +
                       ",\n" + entry_of("4", "\"energy\": \"RuntimeFailedConfig\"") + ",\n" +
                       entry_of("5", "\"__error__\": \"InvalidConfig\"") + ",\n" +
                       entry_of("6", "\"time\": 1e20") + "}}"));
  std::vector<Outcome> outcomes;
  for (const ForeignResult& result : cache.results) {
    outcomes.push_back(result.outcome);
    EXPECT_EQ(result.time_ms, 0.0);
    EXPECT_NE(result.failure, "");
  }
  using enum Outcome;
  EXPECT_EQ(outcomes, (std::vector<Outcome>{rejected, compile_failed, launch_failed, launch_failed,
                                            rejected, rejected}));

  std::string results;
  for (const std::string_view word :
       {"constraints", "compile", "runtime", "correctness", "timeout"}) {
    results += fmt::format(R"({}{{"configuration": {{"block": {}}}, "times": {{}},)"
                           R"("invalidity": "{}", "correctness": 0}})",
                           results.empty() ? "" : ",", results.size(), word);
  }
  outcomes.clear();
  for (const ForeignResult& result : parse("{\"results\": [" + results + "]}").results) {
    outcomes.push_back(result.outcome);
  }
  EXPECT_EQ(outcomes, (std::vector<Outcome>{rejected, compile_failed, launch_failed, wrong_result,
                                            timed_out}));
}

TEST(ForeignResults, MayUsePythonsWordsForNumbers) {
  const ForeignResults file = parse(cache_with(
      entry_of("32", "\"time\": 0.5, \"energy\": NaN, \"a\": Infinity, \"b\": -Infinity") + "}}"));
  EXPECT_EQ(file.results[0].others, R"({"energy":"?","a":"inf","b":"inf"})");
}

TEST(ForeignResults, MayHaveSortedKeys) {
  const ForeignResults file =
      parse(R"({"cache": {"2": {"block": 2, "time": 1.5}}, "device_name": "x",)"
            R"("tune_params_keys": ["block"]})");
  ASSERT_EQ(file.results.size(), 1U);
  EXPECT_EQ(file.results[0].time_ms, 1.5);
}

TEST(ForeignResults, OfT4AreConvertedFromTheUnitOfTheFileAndOfTheMeasurement) {
  const auto t4 = [](std::string_view file_unit, std::string_view unit) {
    return parse(fmt::format(
                     R"({{"results": [{{"configuration": {{"block": 32}}, "invalidity": "correct",
      "correctness": 1, "times": {{"compilation": 2, "runtimes": [3.0], "framework": 4}},
      "measurements": [{{"name": "time", "value": 5.0, "unit": "{}"}}]}}],
      "metadata": {{"timeunit": "{}"}}}})",
                     unit, file_unit))
        .results.at(0);
  };
  EXPECT_EQ(t4("miliseconds", "miliseconds").time_ms, 5.0);
  EXPECT_EQ(t4("milliseconds", "ms").others, R"({"framework_time":4})");
  EXPECT_EQ(t4("seconds", "").time_ms, 5000.0);
  EXPECT_EQ(t4("seconds", "ms").time_ms, 5.0);
  EXPECT_EQ(t4("seconds", "ms").compile_ms, 2000.0);
  EXPECT_EQ(t4("seconds", "ms").samples_ms, std::vector<double>{3000.0});
  EXPECT_EQ(t4("seconds", "ms").others, R"({"framework_time":4000.0})");
}

TEST(ForeignResults, OfAConfigurationThatRepeatsAreThoseOfTheLast) {
  const ForeignResults file =
      parse(cache_with(entry_of("32", "\"time\": 1.0") + ",\n" + entry_of("64", "\"time\": 2.0") +
                       ",\n" + entry_of("32.0", "\"time\": 3.0") + "}}"));
  ASSERT_EQ(file.results.size(), 2U);
  EXPECT_EQ(file.results[0].time_ms, 3.0);
  EXPECT_EQ(file.replaced, 1U);
}

TEST(ForeignResults, WithoutATimeUseTheMeanOfTheRuns) {
  const auto file = parse(cache_with(entry_of("32", "\"times\": [1.0, 2.0]") + "}}"));
  EXPECT_EQ(file.results[0].time_ms, 1.5);
  expect_refusal(cache_with(entry_of("32", "\"energy\": 4") + "}}"),
                 "x.json:4: cache entry \"32\": the result has no time");
}

TEST(ForeignResults, ThatAreMalformedAreRefusedWithTheirPlace) {
  expect_refusal("", "x.json:1:1: the file is not JSON");
  expect_refusal("{\"cache\": {\n\"a\": }}", "x.json:2:6: the file is not JSON");
  expect_refusal("[1]", "x.json: the file is neither");
  expect_refusal("{\"kiln\": \"trials\"}", "x.json: the file is neither");
  expect_refusal(cache_with("}}"), "x.json: the file has no results");
  expect_refusal("{\"cache\": {\"1\": {\"time\": 1.0}}}", "no field 'tune_params_keys'");
  expect_refusal(cache_with("\"1\": 7}}"), "x.json:4: 'cache' must contain only objects");
  expect_refusal(cache_with(entry_of("[1]", "\"time\": 1.0") + "}}"),
                 "tunable block has the value");
  expect_refusal(cache_with("\"1\": {\"time\": 1.0}}}"), "the result has no value for block");
  expect_refusal(cache_with(entry_of("32", "\"time\": -1.0") + "}}"), "field 'time' is -1.0");
  expect_refusal(cache_with(entry_of("32", "\"time\": \"slow\"") + "}}"),
                 "field 'time' is \"slow\"");
  expect_refusal(cache_with(entry_of("32", "\"time\": NaN") + "}}"), "field 'time' is \"?\"");
  expect_refusal(cache_with(entry_of("32", "\"time\": 1.0, \"times\": [null]") + "}}"), "'times'");
  expect_refusal("{\"results\": [{}]}",
                 "x.json:1: result 1: the result has no field 'configuration'");
  expect_refusal(R"({"results": [{"configuration": {"a": 1}, "times": {}, "invalidity": "odd"}]})",
                 "field 'invalidity' is \"odd\"");
  expect_refusal(R"({"results": [], "metadata": {"timeunit": "days"}})", "'metadata.timeunit'");
  expect_refusal(R"({"results": [
      {"configuration": {"a": 1}, "times": {"runtimes": [1]}, "invalidity": "correct"},
      {"configuration": {"a": 1, "b": 2}, "times": {"runtimes": [1]}, "invalidity": "correct"}]})",
                 "x.json:3: result 2: the configuration has other tunables");
  expect_refusal(cache_with("\"\xff\": {}}}"), "x.json:4:2: the file is not JSON");
  expect_refusal(std::string(1000, '['), "levels of brackets");
  std::string many = "\"32\": {\"block\": 32";
  for (int i = 0; i < 5000; ++i) many += fmt::format(", \"k{}\": 1", i);
  expect_refusal(cache_with(many + "}}}"), "more than 4096 fields");
}

TEST(ForeignResults, AreToldFromKilnsOwnFiles) {
  EXPECT_TRUE(begins_foreign("{\n\"device_name\": "));
  EXPECT_TRUE(begins_foreign("\x1f\x8b\x08"));
  EXPECT_FALSE(begins_foreign("{\"kiln\":\"trials\",\"schema\":4}"));
  EXPECT_FALSE(begins_foreign("SQLite format 3"));
  EXPECT_FALSE(begins_foreign(""));
}

class PackedText : public testing::Test {
 protected:
  PackedText() : path_(fs::path(testing::TempDir()) / fmt::format("packed{}.gz", getpid())) {}
  ~PackedText() override { fs::remove(path_); }

  void write_packed(const std::string& text) const {
    gzFile const file = gzopen(path_.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }
  [[nodiscard]] std::string refusal(std::size_t most_bytes) const {
    try {
      return "read: " + read_packed_text(path_, most_bytes);
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path path_;
};

TEST_F(PackedText, IsTheSameWithAndWithoutCompression) {
  const std::string text(1 << 20, 'x');
  write_packed(text);
  EXPECT_EQ(read_packed_text(path_, 2 << 20), text);
  std::ofstream(path_) << text;
  EXPECT_EQ(read_packed_text(path_, 2 << 20), text);
}

TEST_F(PackedText, ThatIsTooLongCutOrDamagedIsRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i * 7919);
  write_packed(text);
  EXPECT_NE(refusal(1 << 18).find("more than 0 MiB"), std::string::npos);
  fs::resize_file(path_, fs::file_size(path_) / 2);
  EXPECT_NE(refusal(8 << 20).find("ends early"), std::string::npos)
      << refusal(8 << 20).substr(0, 99);
  write_packed(text);
  std::fstream(path_, std::ios::in | std::ios::out).seekp(5000) << "\xff\xff\xff\xff";
  EXPECT_NE(refusal(8 << 20).find("damaged"), std::string::npos) << refusal(8 << 20).substr(0, 99);
}

TEST_F(PackedText, OfWhatIsNoFileIsRefusedWithTheReason) {
  EXPECT_NE(refusal(1).find("cannot open the file: No such file"), std::string::npos);
  fs::create_directory(path_);
  EXPECT_NE(refusal(1).find("this is a directory"), std::string::npos);
}

}  // namespace
}  // namespace kiln
