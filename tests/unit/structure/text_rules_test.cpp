// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// The form of every source file: short, marked with its licence, plain ASCII, finished.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/structure/source_tree.hpp"

namespace kiln::test {
namespace {

constexpr std::size_t kMaxLines = 600;
constexpr std::size_t kMostMaxLines = 350;  // for nine files in ten
constexpr std::size_t kMaxColumns = 100;

TEST(TextRules, NoFileIsLong) {
  std::vector<std::size_t> lengths;
  for (const SourceFile& file : source_files()) {
    EXPECT_LE(file.lines.size(), kMaxLines) << file.path << " has more than one idea";
    if (file.is_cpp()) lengths.push_back(file.lines.size());
  }
  std::sort(lengths.begin(), lengths.end());
  const std::size_t median = lengths[lengths.size() / 2];
  const std::size_t most = lengths[lengths.size() * 9 / 10];
  RecordProperty("median_lines", static_cast<int>(median));
  RecordProperty("ninetieth_percentile_lines", static_cast<int>(most));
  EXPECT_LE(most, kMostMaxLines);
}

TEST(TextRules, EveryFileNamesItsLicenceAtTheTop) {
  for (const SourceFile& file : source_files()) {
    const auto top = file.lines.begin() + std::min<std::ptrdiff_t>(4, std::ssize(file.lines));
    const auto names = [&](std::string_view mark) {
      return std::any_of(file.lines.begin(), top, [&](const std::string& line) {
        return line.find(mark) != std::string::npos;
      });
    };
    EXPECT_TRUE(names("SPDX-FileCopyrightText: 2026 The Kiln authors")) << file.path;
    EXPECT_TRUE(names("SPDX-License-Identifier: Apache-2.0")) << file.path;
  }
}

TEST(TextRules, LinesAreShortPlainAsciiWithoutTrailingBlanks) {
  for (const SourceFile& file : source_files()) {
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      EXPECT_LE(line.size(), kMaxColumns) << file.path << ":" << i + 1;
      EXPECT_TRUE(
          std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }))
          << file.path << ":" << i + 1 << ": a tab, a carriage return or a non-ASCII character";
      EXPECT_FALSE(line.ends_with(' ')) << file.path << ":" << i + 1;
    }
  }
}

/// One of several words between what these patterns match. Looks for the words first: most lines
/// have none of them, and a search for a pattern takes a hundred times as long.
class ForbiddenWords {
 public:
  ForbiddenWords(const std::string& before, std::vector<std::string> words,
                 const std::string& after)
      : words_(std::move(words)),
        pattern_(fmt::format("{}({}){}", before, fmt::join(words_, "|"), after)) {}

  [[nodiscard]] bool are_in(const std::string& line) const {
    const auto has = [&](const std::string& word) { return line.find(word) != std::string::npos; };
    return std::any_of(words_.begin(), words_.end(), has) && std::regex_search(line, pattern_);
  }

 private:
  std::vector<std::string> words_;
  std::regex pattern_;
};

/// Expects no line of code or of a page to have any.
void expect_nowhere(const ForbiddenWords& words) {
  for (const auto* files : {&source_files(), &document_files()}) {
    for (const SourceFile& file : *files) {
      for (std::size_t i = 0; i < file.lines.size(); ++i) {
        EXPECT_FALSE(words.are_in(file.lines[i]))
            << file.path << ":" << i + 1 << ": " << file.lines[i];
      }
    }
  }
}

// A family says how it puts building blocks together; what is longer belongs into one of those.
TEST(TextRules, KernelFamiliesAreShort) {
  constexpr std::size_t kMostLines = 350;
  std::size_t families = 0;
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with("templates/kernels/gemm/")) continue;
    ++families;
    EXPECT_LE(file.lines.size(), kMostLines) << file.path;
  }
  EXPECT_GE(families, 3U);
}

// So that a family reads from its picture to its end without the model of its time.
TEST(TextRules, KernelFamiliesLeaveHintsToTheFileBesideThem) {
  const std::regex hint(R"(^//@\s*(cost|prefer|usual)\b)");
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with("templates/kernels/gemm/") || !file.has_ending(".cu")) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_FALSE(std::regex_search(file.lines[i], hint))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

// Written in halves so that this file passes its own test.
TEST(TextRules, NothingIsMarkedUnfinished) {
  expect_nowhere({R"(\b)",
                  {"TO"
                   "DO",
                   "FIX"
                   "ME",
                   "X"
                   "XX",
                   "HA"
                   "CK"},
                  R"(\b)"});
}

TEST(TextRules, NoFileNamesAFolderOfOneMachine) {
  expect_nowhere({R"((^|[\s"'`=(])/)", {"work", "root"}, "/"});
}

TEST(TextRules, HeadersAreIncludedOnce) {
  for (const SourceFile& file : source_files()) {
    if (!file.has_ending(".hpp") && !file.has_ending(".cuh")) continue;
    EXPECT_EQ(std::count(file.lines.begin(), file.lines.end(), "#pragma once"), 1) << file.path;
  }
}

// Libraries never print and never end the program (CONTRIBUTING.md); tools do both.
TEST(TextRules, LibrariesNeitherPrintNorExit) {
  const ForbiddenWords streams(R"(\bstd::)", {"cout", "cerr", "clog", "exit", "abort", "terminate"},
                               R"(\b)");
  const ForbiddenWords functions(R"(\b)", {"printf", "puts", "abort", "exit"}, R"(\()");
  for (const SourceFile& file : source_files()) {
    const std::string_view folder = file.top_folder();
    const bool library =
        folder == "templates" || folder == "cache" || folder == "runtime" || folder == "tuner";
    if (!library || !(file.has_ending(".cpp") || file.has_ending(".hpp"))) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      EXPECT_FALSE(streams.are_in(code) || functions.are_in(code))
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

}  // namespace
}  // namespace kiln::test
