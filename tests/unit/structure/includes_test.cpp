// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// templates -> cache -> runtime -> tuner -> tools: a folder includes itself and those to its left.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "tests/unit/structure/source_tree.hpp"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kLayers{"templates", "cache", "runtime", "tuner",
                                                  "tools"};
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
/// A public header `kiln/NAME` belongs to the folder whose `include/` has it.
std::optional<std::size_t> layer_of(std::string_view name) {
  const std::string_view folder = name.substr(0, name.find('/'));
  if (folder == "kiln") {
    for (std::size_t i = 0; i < kLayers.size(); ++i) {
      const auto file = fs::path(KILN_SOURCE_DIR) / kLayers[i] / "include" / name;
      if (fs::exists(file)) return i;
    }
    return std::nullopt;
  }
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
      if (!header) continue;
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

TEST(Includes, PublicHeadersUseOnlyPublicHeaders) {
  for (const SourceFile& file : source_files()) {
    if (file.path.find("/include/kiln/") == file.path.npos || file.top_folder() == "tests")
      continue;
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
