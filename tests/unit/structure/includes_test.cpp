// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// templates -> cache -> runtime -> tuner -> tools: a folder includes itself and those to its left.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/structure/source_tree.hpp"

namespace kiln::test {
namespace {

constexpr std::array<std::string_view, 5> kLayers{"templates", "cache", "runtime", "tuner",
                                                  "tools"};
// Public headers that need only the standard library: the vocabulary of every folder.
constexpr std::array<std::string_view, 8> kVocabulary{
    "kiln/epilogue.hpp",  "kiln/error.hpp",  "kiln/export.hpp", "kiln/gemm.hpp",
    "kiln/operation.hpp", "kiln/scalar.hpp", "kiln/types.hpp",  "kiln/version.hpp"};

bool is_vocabulary(std::string_view header) {
  return std::find(kVocabulary.begin(), kVocabulary.end(), header) != kVocabulary.end();
}

/// What an `#include "..."` or `#include <kiln/...>` names; nothing for other lines.
std::optional<std::string> included(std::string_view line) {
  const std::size_t hash = line.find_first_not_of(' ');
  if (hash == line.npos || !line.substr(hash).starts_with("#include ")) return std::nullopt;
  const std::size_t open = line.find_first_of("\"<");
  const std::size_t close = line.find_first_of("\">", open + 1);
  if (open == line.npos || close == line.npos) return std::nullopt;
  const std::string header(line.substr(open + 1, close - open - 1));
  if (line[open] == '<' && !header.starts_with("kiln/")) return std::nullopt;
  return header;
}

/// The layer of a folder or of an included header; nothing if it is not a layer (tests, CUDA).
std::optional<std::size_t> layer_of(std::string_view name) {
  if (name.starts_with("kiln/")) name = "runtime";
  const std::string_view folder = name.substr(0, name.find('/'));
  const auto* const found = std::find(kLayers.begin(), kLayers.end(), folder);
  if (found == kLayers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kLayers.begin());
}

// Device code is inlined by Kiln's own renderer: its includes are relative to kernels/, and no host
// folder is reachable.
bool is_device_code(const SourceFile& file) {
  return file.path.starts_with("templates/kernels/") && !file.has_ending(".hpp");
}

TEST(Includes, PointToTheLeftOnly) {
  int checked = 0;
  for (const SourceFile& file : source_files()) {
    const std::optional<std::size_t> own = layer_of(file.path);
    if (!own || !file.is_cpp() || is_device_code(file)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::optional<std::string> header = included(file.lines[i]);
      if (!header || is_vocabulary(*header)) continue;
      ++checked;
      EXPECT_FALSE(header->starts_with("tests/"))
          << file.path << ":" << i + 1 << ": the product includes a test: " << *header;
      const std::optional<std::size_t> other = layer_of(*header);
      if (!other) continue;
      EXPECT_LE(*other, *own) << file.path << ":" << i + 1 << ": " << kLayers[*own]
                              << " must not know " << *header;
    }
  }
  EXPECT_GT(checked, 20);
}

TEST(Includes, OfOurOwnHeadersAreRootedAtTheCheckout) {
  for (const SourceFile& file : source_files()) {
    if (!layer_of(file.path) || !file.is_cpp() || is_device_code(file)) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::optional<std::string> header = included(file.lines[i]);
      if (!header) continue;
      EXPECT_NE(header->find('/'), header->npos)
          << file.path << ":" << i + 1 << ": add the folder of " << *header;
      EXPECT_FALSE(header->starts_with(".")) << file.path << ":" << i + 1;
    }
  }
}

TEST(Includes, VocabularyHeadersUseOnlyEachOther) {
  int checked = 0;
  for (const SourceFile& file : source_files()) {
    static constexpr std::string_view kIncludes = "runtime/include/";
    if (!file.path.starts_with(kIncludes) || !is_vocabulary(file.path.substr(kIncludes.size())))
      continue;
    ++checked;
    for (const std::string& line : file.lines) {
      const std::optional<std::string> header = included(line);
      if (header) {
        EXPECT_TRUE(is_vocabulary(*header)) << file.path << " includes " << *header;
      }
    }
  }
  EXPECT_EQ(checked, 8);
}

TEST(Includes, PublicHeadersUseOnlyPublicHeaders) {
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with("runtime/include/")) continue;
    for (const std::string& line : file.lines) {
      const std::optional<std::string> header = included(line);
      if (header) {
        EXPECT_TRUE(header->starts_with("kiln/")) << file.path << " includes " << *header;
      }
      EXPECT_EQ(line.find("#include <cuda"), line.npos) << file.path << ": " << line;
    }
  }
}

// Only one folder uses the database library, and searching needs a Device, not CUDA.
TEST(Includes, OfSqliteStayInTheCacheAndOfCudaInTheRuntimeAndTools) {
  for (const SourceFile& file : source_files()) {
    if (!layer_of(file.path) || !file.is_cpp() || is_device_code(file)) continue;
    for (const std::string& line : file.lines) {
      if (!line.starts_with("#include <")) continue;
      if (line.find("<SQLiteCpp") != line.npos || line.find("<sqlite3") != line.npos) {
        EXPECT_EQ(file.top_folder(), "cache") << file.path << ": " << line;
      }
      if (line.find("<cuda") != line.npos || line.find("<nvrtc") != line.npos) {
        EXPECT_GE(*layer_of(file.path), 2U) << file.path << ": " << line;
        EXPECT_NE(file.top_folder(), "tuner") << file.path << ": " << line;
      }
    }
  }
}

}  // namespace
}  // namespace kiln::test
