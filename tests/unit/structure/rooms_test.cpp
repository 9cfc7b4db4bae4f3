// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Folders stay small enough to look through. The rooms of the emulated GPU, runtime/emulated/*:
/// their includes of each other have no cycle.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/structure/source_tree.hpp"

namespace kiln::test {
namespace {

constexpr std::string_view kHouse = "runtime/emulated/";

/// The room of a path; nothing for one outside the house, "" for one in no room.
std::optional<std::string> room_of(std::string_view path) {
  if (!path.starts_with(kHouse)) return std::nullopt;
  path.remove_prefix(kHouse.size());
  const std::size_t slash = path.find('/');
  return std::string(slash == path.npos ? "" : path.substr(0, slash));
}

/// For each room, those that it includes, each with an example: "file.cpp:12".
using Graph = std::map<std::string, std::map<std::string, std::string>>;

Graph graph_of(const std::vector<SourceFile>& files) {
  constexpr std::string_view kInclude = "#include \"";
  Graph graph;
  for (const SourceFile& file : files) {
    const std::optional<std::string> own = room_of(file.path);
    if (!own || !file.is_cpp()) continue;
    graph.try_emplace(*own);
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      const std::string_view line = file.lines[i];
      if (!line.starts_with(kInclude)) continue;
      const std::optional<std::string> other = room_of(line.substr(kInclude.size()));
      if (!other || *other == *own) continue;
      graph[*own].try_emplace(*other, file.path + ":" + std::to_string(i + 1));
    }
  }
  return graph;
}

/// The first cycle that a walk in depth finds, as a line for each step: "b includes a (b/x.cpp:3)".
/// Empty if there is none.
std::string cycle_of(const Graph& graph) {
  std::vector<std::string> trail;
  std::map<std::string, bool> finished;
  std::string found;
  const auto walk = [&](const auto& self, const std::string& room) -> bool {
    const auto seen = std::find(trail.begin(), trail.end(), room);
    if (seen != trail.end()) {
      trail.erase(trail.begin(), seen);
      trail.push_back(room);
      for (std::size_t i = 0; i + 1 < trail.size(); ++i) {
        found += trail[i] + " includes " + trail[i + 1] + " (" +
                 graph.at(trail[i]).at(trail[i + 1]) + ")\n";
      }
      return true;
    }
    if (finished[room]) return false;
    trail.push_back(room);
    if (const auto at = graph.find(room); at != graph.end()) {
      for (const auto& [other, place] : at->second) {
        if (self(self, other)) return true;
      }
    }
    trail.pop_back();
    finished[room] = true;
    return false;
  };
  for (const auto& [room, others] : graph) {
    if (walk(walk, room)) break;
  }
  return found;
}

TEST(Folders, HaveAtMostSixtyFiles) {
  std::map<std::string, int> counts;
  for (const SourceFile& file : source_files()) {
    ++counts[file.path.substr(0, file.path.rfind('/'))];
  }
  EXPECT_GT(counts.size(), 30U);
  for (const auto& [folder, count] : counts) {
    EXPECT_LE(count, 60) << folder << ": make folders in it for what belongs together";
  }
}

TEST(Rooms, OfTheEmulatorIncludeEachOtherWithoutCycles) {
  const Graph graph = graph_of(source_files());
  EXPECT_GE(graph.size(), 10U);
  EXPECT_EQ(cycle_of(graph), "");
  EXPECT_FALSE(graph.contains("")) << "a file of " << kHouse << " is in no room";
}

TEST(Rooms, ThatFormACycleAreNamedWithTheLinesThatDo) {
  const std::vector<SourceFile> files{
      {"runtime/emulated/a/one.hpp", {"#pragma once", "#include \"runtime/emulated/b/two.hpp\""}},
      {"runtime/emulated/b/two.hpp", {"#include \"runtime/emulated/b/other.hpp\""}},
      {"runtime/emulated/b/two.cpp", {"", "", "#include \"runtime/emulated/c/three.hpp\""}},
      {"runtime/emulated/c/three.hpp", {"#include \"runtime/emulated/b/two.hpp\""}},
      {"runtime/device.hpp", {"#include \"runtime/emulated/a/one.hpp\""}}};
  EXPECT_EQ(cycle_of(graph_of(files)),
            "b includes c (runtime/emulated/b/two.cpp:3)\n"
            "c includes b (runtime/emulated/c/three.hpp:1)\n");
}

// It is a library of its own, which the runtime opens on request.
TEST(Rooms, AreNotKnownToTheRuntime) {
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with("runtime/") || room_of(file.path) || !file.is_cpp()) continue;
    for (std::size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_EQ(file.lines[i].find("#include \"runtime/emulated/"), std::string::npos)
          << file.path << ":" << i + 1 << ": " << file.lines[i];
    }
  }
}

// A test is in the room of what it tests.
TEST(Rooms, OfTheTestsAreThoseOfTheEmulator) {
  const Graph graph = graph_of(source_files());
  constexpr std::string_view kTests = "tests/unit/emulated/";
  int checked = 0;
  for (const SourceFile& file : source_files()) {
    if (!file.path.starts_with(kTests) || !file.has_ending("_test.cpp")) continue;
    ++checked;
    const std::string_view rest = std::string_view(file.path).substr(kTests.size());
    const std::string room(rest.substr(0, std::min(rest.find('/'), rest.size())));
    EXPECT_TRUE(graph.contains(room)) << file.path << ": " << kHouse << " has no such room";
  }
  EXPECT_GT(checked, 40);
}

}  // namespace
}  // namespace kiln::test
