// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// What people read agrees with the program: links are valid, and the pages and the prose of the
/// manual name existing flags. (What names all of them is generated.) The golden help texts,
/// against which the tests of the command line check it, stand for the program.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "tests/unit/structure/source_tree.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

const fs::path kRoot = KILN_SOURCE_DIR;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

Words matches(const std::string& text, const std::regex& pattern) {
  Words words;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
    words.insert((*at)[1]);
  }
  return words;
}

/// The long flags that a text names.
Words flags_in(const std::string& text) {
  return matches(text, std::regex("(?:^|[^a-z-])(--[a-z][a-z-]*)"));
}

/// Every flag that some verb of the program describes.
Words flags_of_the_program() {
  Words flags;
  const std::regex described("\n  (?:-[a-z], )?(--[a-z][a-z-]*)");
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/cli/golden")) {
    if (!entry.path().filename().string().starts_with("help")) continue;
    flags.merge(matches(text_of(entry.path()), described));
  }
  return flags;
}

/// The prose of the manual without its escapes.
std::string manual() {
  return std::regex_replace(text_of(kRoot / "tools/man/kiln.1.in"), std::regex(R"(\\-)"), "-");
}

Words without(const Words& words, const Words& others) {
  Words rest;
  for (const auto& word : words) {
    if (!others.contains(word)) rest.insert(word);
  }
  return rest;
}

TEST(Documents, RelativeLinksLead) {
  int links = 0;
  for (const SourceFile& page : document_files()) {
    std::string text;
    bool in_code = false;  // where `](` begins a lambda's parameters
    for (const std::string& line : page.lines) {
      if (line.starts_with("```")) in_code = !in_code;
      if (!in_code) text += line + "\n";
    }
    for (const auto& link : matches(text, std::regex(R"(\]\(([^)#\s]+)[^)]*\))"))) {
      if (link.starts_with("http")) continue;
      ++links;
      EXPECT_TRUE(fs::exists(kRoot / fs::path(page.path).parent_path() / link))
          << page.path << " links to " << link;
    }
  }
  EXPECT_GT(links, 10);
}

TEST(Documents, ManualAndPagesNameNoFlagThatIsNotThere) {
  Words known = flags_of_the_program();
  EXPECT_GT(known.size(), 30U);
  for (const char* script : {"bench-plot", "quickstart", "road", "road-plot", "run-tests"}) {
    known.merge(flags_in(text_of(kRoot / "tools" / script)));
  }
  // Operations of the examples.
  for (const auto& file : fs::recursive_directory_iterator(kRoot / "examples")) {
    if (file.path().extension() != ".cu") continue;
    const std::regex name(R"(//@ (?:size|type|scalar) +([a-z_]+))");
    for (const auto& word : matches(text_of(file.path()), name)) known.insert("--" + word);
  }
  known.merge(flags_in(text_of(kRoot / "tests/random/main.cpp")));
  known.insert("--sort-top");  // of an operation that cli.md invents
  known.insert("--data");      // of declared operations only
  // Of `compile` lines.
  for (const char* file : {"compile_options.hpp", "compile_options.cpp"}) {
    known.merge(flags_in(text_of(kRoot / "templates" / file)));
  }
  // Of cmake, pkg-config and docker, which the pages mention.
  known.insert({"--build", "--cflags", "--gpus", "--install", "--libs", "--prefix", "--target"});
  EXPECT_THAT(without(flags_in(manual()), known), testing::IsEmpty());
  for (const SourceFile& page : document_files()) {
    if (page.path == "docs/design.md") continue;  // which also mentions compilers' flags
    std::string text;
    for (const std::string& line : page.lines) text += line + "\n";
    EXPECT_THAT(without(flags_in(text), known), testing::IsEmpty()) << page.path;
  }
}

/// Names of all tests, and of their suites followed by a star.
Words names_of_tests() {
  const std::regex test(
      "\\n(?:TEST|TEST_F|TEST_P|RC_GTEST_PROP|RC_GTEST_FIXTURE_PROP)\\((\\w+),\\s*(\\w+)");
  Words names;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests")) {
    if (entry.path().extension() != ".cpp") continue;
    const std::string text = text_of(entry.path());
    for (std::sregex_iterator at(text.begin(), text.end(), test), end; at != end; ++at) {
      names.insert((*at)[1].str() + "." + (*at)[2].str());
      names.insert((*at)[1].str() + "_RapidCheck." + (*at)[2].str());
      names.insert((*at)[1].str() + ".*");
    }
  }
  return names;
}

TEST(Documents, EveryPromiseNamesTestsThatThereAre) {
  const Words tests = names_of_tests();
  const Words named = matches(text_of(kRoot / "docs/explanation/trust.md"),
                              std::regex("`([A-Z]\\w+\\.(?:\\w+|\\*))`"));
  EXPECT_GT(named.size(), 30U);
  for (const std::string& name : named) EXPECT_TRUE(tests.contains(name)) << name;
}

}  // namespace
}  // namespace kiln::test
