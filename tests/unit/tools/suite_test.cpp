// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/suite.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sstream>

#include "kiln/error.hpp"
#include "tools/stop_signal.hpp"

namespace kiln::tools {
namespace {

std::vector<SuiteLine> read(const std::string& text) {
  std::istringstream in(text);
  return read_suite(in, "s.txt");
}

std::string error_of(const std::string& text) {
  try {
    (void)read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

TEST(Suite, ReadsLinesBetweenComments) {
  const auto lines = read("# shapes\n\nsquare  f16 64 32 16 nt  # fast\r\nsmall\tf64 1 2 3 tn\n");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].name, "square");
  EXPECT_EQ(lines[0].line, 3);
  EXPECT_EQ(lines[0].gemm.m, 64);
  EXPECT_EQ(lines[0].gemm.n, 32);
  EXPECT_EQ(lines[0].gemm.k, 16);
  EXPECT_EQ(lines[0].gemm.storage_a, Storage::n);
  EXPECT_EQ(lines[0].gemm.storage_b, Storage::t);
  EXPECT_EQ(lines[1].gemm.d, DType::f64);
  EXPECT_EQ(lines[1].gemm.storage_a, Storage::t);
}

TEST(Suite, KeepsTypesThatNoTemplateHasYet) {
  EXPECT_EQ(read("x e4m3 64 64 64 nt\n").front().gemm.d, DType::bf16);
}

TEST(Suite, TakesSizesOfZero) {
  EXPECT_EQ(read("x f16 64 64 0 nt\n").front().gemm.k, 0);
}

TEST(Suite, ErrorsNameThePlace) {
  EXPECT_EQ(error_of("a f16 64 64 nt\n").find("s.txt:1: 5 words"), 0u);
  EXPECT_EQ(error_of("# x\na f17 64 64 64 nt\n").find("s.txt:2: \"f17\""), 0u);
  EXPECT_EQ(error_of("a f16 64 64 64 nx\n").find("s.txt:1: \"nx\" is not a layout"), 0u);
  EXPECT_EQ(error_of("a f16 6x 64 64 nn\n").find("s.txt:1: \"6x\" is not a size"), 0u);
  EXPECT_EQ(error_of("a f16 -1 64 64 nn\n").find("s.txt:1: gemm: m = -1"), 0u);
  EXPECT_EQ(error_of("a f16 8 8 8 nn\na f16 9 9 9 nn\n").find("s.txt:2: the name a"), 0u);
  EXPECT_EQ(error_of("# nothing\n").find("s.txt: no lines"), 0u);
}

TEST(Suite, ReadsTheOneThatIsInstalled) {
  EXPECT_EQ(read_suite(KILN_SOURCE_DIR "/examples/gemm_suite.txt").size(), 38u);
}

TEST(Suite, ReadsAFile) {
  const auto lines = read_suite(KILN_SOURCE_DIR "/tests/data/suite_small.txt");
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[2].name, "transposed_f32");
  EXPECT_EQ(lines[2].gemm.storage_b, Storage::t);
}

TEST(Suite, ALineThatFailsCostsTheOthersNothing) {
  const auto lines = read("a f16 8 8 8 nn\nb f16 9 9 9 nn\nc f16 10 10 10 nn\n");
  std::string log;
  for_each_line(
      lines,
      [&](const SuiteLine& line) {
        if (line.name == "b") throw Error(ErrorKind::usage, "too large");
        log += line.name + " done;";
      },
      [&](const SuiteLine& line, const Error& error) {
        log += line.name + " " + error.what() + ";";
      });
  EXPECT_EQ(log, "a done;b too large;c done;");
}

TEST(Suite, EndsAtAStopSignal) {
  const auto lines = read("a f16 8 8 8 nn\nb f16 9 9 9 nn\n");
  const StopSignal signals;
  std::string log;
  for_each_line(
      lines,
      [&](const SuiteLine& line) {
        log += line.name;
        std::raise(SIGINT);
      },
      [&](const SuiteLine&, const Error&) { log += "error"; });
  EXPECT_EQ(log, "a");
}

TEST(Suite, NamesTheFileThatIsNotThere) {
  EXPECT_THROW((void)read_suite("/nonexistent/suite.txt"), Error);
}

}  // namespace
}  // namespace kiln::tools
