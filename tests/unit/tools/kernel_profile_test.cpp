// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/kernel_profile.hpp"

#include <gtest/gtest.h>

namespace kiln::tools {
namespace {

/// Four instructions: two of kernel.cu:10, one of helper.cuh:5 called at kernel.cu:20, and one that
/// is never issued.
emulated::FactSheet four_instructions() {
  auto program = std::make_shared<emulated::Program>();
  program->name = "kernel";
  program->files = {"", "kernel.cu", "helper.cuh"};
  const auto origin = [](int file, int line, int outer_file, int outer_line) {
    ptx::Origin at;
    at.file = file;
    at.line = line;
    at.outer_file = outer_file;
    at.outer_line = outer_line;
    return at;
  };
  program->origins = {origin(1, 10, 0, 0), origin(2, 5, 1, 20), origin(1, 10, 0, 0),
                      origin(1, 30, 0, 0)};
  emulated::FactSheet sheet;
  sheet.program = program;
  sheet.instructions.resize(4);
  sheet.instructions[0].issues = 3;
  sheet.instructions[2].issues = 4;
  sheet.instructions[1].issues = 1;
  sheet.instructions[1].shared_wavefronts = 16;
  sheet.instructions[1].shared_fewest = 4;
  sheet.blocks = 2;
  return sheet;
}

TEST(KernelProfile, SumsInstructionsByLineHeaviestFirst) {
  const auto lines = lines_of(four_instructions());
  ASSERT_EQ(lines.size(), 2U) << "what was never issued has no line";
  EXPECT_EQ(lines[0].place, "helper.cuh:5");
  EXPECT_EQ(lines[0].caller, "kernel.cu:20");
  EXPECT_EQ(lines[0].conflicts, 12U);
  EXPECT_EQ(lines[0].weight(), 17U);
  EXPECT_EQ(lines[1].place, "kernel.cu:10");
  EXPECT_EQ(lines[1].caller, "");
  EXPECT_EQ(lines[1].facts.issues, 7U);
}

TEST(KernelProfile, CodeThatIsCalledWhereItStandsHasNoCaller) {
  emulated::Program program;
  program.files = {"", "kernel.cu"};
  ptx::Origin at;  // of a lambda, or of one of CUDA's headers in place of which its caller is named
  at.file = at.outer_file = 1;
  at.line = at.outer_line = 10;
  program.origins = {at};
  EXPECT_EQ(program.place_of(0), "kernel.cu:10");
  EXPECT_EQ(program.caller_of(0), "");
}

TEST(KernelProfile, SharingMakesUpForNoWaste) {
  emulated::InstructionFacts shares;
  shares.global_sectors = 1;  // 32 lanes that read the same word
  shares.global_fewest = 4;
  shares.shared_wavefronts = 1;
  shares.shared_fewest = 4;
  emulated::InstructionFacts wastes;
  wastes.global_sectors = 6;
  wastes.global_fewest = 4;
  wastes.shared_wavefronts = 5;
  wastes.shared_fewest = 4;
  LineProfile line;
  line.add(shares);
  EXPECT_EQ(line.excess_sectors, 0U);
  EXPECT_EQ(line.conflicts, 0U);
  line.add(wastes);
  EXPECT_EQ(line.excess_sectors, 2U);
  EXPECT_EQ(line.conflicts, 1U);
  EXPECT_EQ(line.facts.global_sectors, 7U);
}

TEST(KernelProfile, WhatWasCountedStandsForTheWholeLaunch) {
  LaunchProfile launch;
  EXPECT_EQ(launch.scale(), 0.0);
  launch.facts = four_instructions();
  launch.blocks = 64;
  EXPECT_EQ(launch.scale(), 32.0);
}

}  // namespace
}  // namespace kiln::tools
