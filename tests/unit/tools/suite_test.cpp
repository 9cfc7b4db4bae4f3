// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/suite.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "kiln/error.hpp"
#include "tests/support/toy_templates.hpp"
#include "tests/unit/tools/rows_operation.hpp"
#include "tools/stop_signal.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::tools {
namespace {

std::vector<SuiteLine> read(const std::string& text) {
  std::istringstream in(text);
  return read_suite(in, "s.txt");
}

std::string error_of_suite(const std::string& text) {
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
  EXPECT_EQ(gemm_of(lines[0].tuned).m, 64);
  EXPECT_EQ(gemm_of(lines[0].tuned).n, 32);
  EXPECT_EQ(gemm_of(lines[0].tuned).k, 16);
  EXPECT_EQ(gemm_of(lines[0].tuned).storage_a, Storage::n);
  EXPECT_EQ(gemm_of(lines[0].tuned).storage_b, Storage::t);
  EXPECT_EQ(gemm_of(lines[1].tuned).d, DType::f64);
  EXPECT_EQ(gemm_of(lines[1].tuned).storage_a, Storage::t);
}

TEST(Suite, KeepsTypesThatNoTemplateHasYet) {
  EXPECT_EQ(gemm_of(read("x e4m3 64 64 64 nt\n").front().tuned).d, DType::bf16);
}

TEST(Suite, AFileWithoutAnEndIsRefused) {
  try {
    (void)read_suite("/dev/zero");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("--suite /dev/zero: the file is larger than 4 MiB"),
              std::string::npos)
        << error.what();
  }
}

TEST(Suite, TakesSizesOfZero) {
  EXPECT_EQ(gemm_of(read("x f16 64 64 0 nt\n").front().tuned).k, 0);
}

TEST(Suite, AHeaderNamesTheOperationAndTheColumnsBelowIt) {
  declare_rows_operation();
  const auto lines = read(
      "short f16 64 32 16 nt\n"
      "rows_test: cols name rows x offset\n"
      "100 wide 7 f16 2.5\n"
      "3 tall 900 - -\n"
      "gemm: name m n k dtype layout beta\n"
      "added 8 9 10 bf16 tn 0.5\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].tuned.problem.operation, "gemm");
  EXPECT_EQ(lines[1].name, "wide");
  EXPECT_EQ(lines[1].tuned.problem.canonical(), "rows_test x=f16 y=f32 | rows=7 cols=100");
  EXPECT_EQ(lines[1].tuned.scalars, std::vector<Scalar>{2.5});
  EXPECT_EQ(lines[2].tuned.problem.canonical(), "rows_test x=f32 y=f32 | rows=900 cols=3");
  EXPECT_EQ(lines[2].tuned.scalars, std::vector<Scalar>{1.0});
  const GemmCase added = gemm_case_of(lines[3].tuned);
  EXPECT_EQ(added.gemm.k, 10);
  EXPECT_EQ(added.gemm.storage_a, Storage::t);
  EXPECT_EQ(added.beta, 0.5);
}

TEST(Suite, HeadersThatAreNoneAreRefused) {
  declare_rows_operation();
  const auto found = [](const std::string& text, const std::string& part) {
    const std::string error = error_of_suite(text);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  found("rows_tset: name rows\n", "s.txt:1: there is no operation rows_tset");
  found("\nrows_test: rows cols\n", "s.txt:2: exactly one column must have the title \"name\"");
  found("rows_test: name rows colls\n",
        "s.txt:1: rows_test has no flag --colls, so \"colls\" cannot be a column");
  found("rows_test: name rows rows\n", "s.txt:1: the column \"rows\" is given twice");
  found("rows_test: name rows cols\na 1\n", "s.txt:2: this line has 2 words, but the header has 3");
  found("rows_test: name rows cols\na 1 x\n", "s.txt:2: --cols: x is not a whole number");
  found("rows_test: name rows cols\na 1 -\n", "s.txt:2: --cols ");
  found("rows_test: name rows cols x\na 1 1 s8\n",
        "s.txt:2: --x s8: this operand cannot have this type; choose from f32, f16");
}

TEST(Suite, ErrorsNameThePlace) {
  EXPECT_EQ(error_of_suite("a f16 64 64 nt\n").find("s.txt:1:"), 0u);
  EXPECT_EQ(error_of_suite("# x\na f17 64 64 64 nt\n").find("s.txt:2: \"f17\""), 0u);
  EXPECT_EQ(error_of_suite("a f16 64 64 64 nx\n").find("s.txt:1: \"nx\" is not a layout"), 0u);
  EXPECT_EQ(error_of_suite("a f16 6x 64 64 nn\n").find("s.txt:1: \"6x\" is not a size"), 0u);
  EXPECT_EQ(error_of_suite("a f16 -1 64 64 nn\n").find("s.txt:1: gemm: m = -1"), 0u);
  EXPECT_EQ(error_of_suite("a f16 8 8 8 nn\na f16 9 9 9 nn\n").find("s.txt:2: the name a"), 0u);
  EXPECT_EQ(error_of_suite("# nothing\n").find("s.txt: the suite is empty"), 0u);
}

TEST(Suite, ReadsTheOneThatIsInstalled) {
  EXPECT_EQ(read_suite(KILN_SOURCE_DIR "/examples/gemm_suite.txt").size(), 38u);
}

TEST(Suite, ReadsAFile) {
  const auto lines = read_suite(KILN_SOURCE_DIR "/tests/data/suite_small.txt");
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[2].name, "transposed_f32");
  EXPECT_EQ(gemm_of(lines[2].tuned).storage_b, Storage::t);
}

TEST(Suite, AByteOrderMarkIsNoPartOfTheFirstName) {
  const testing::TempFolder folder;
  const std::string file = (folder.path() / "s.txt").string();
  std::ofstream(file) << "\xEF\xBB\xBFmarked f16 8 8 8 nn\n";
  EXPECT_EQ(read_suite(file).at(0).name, "marked");
  std::ofstream(file) << std::string("\xFF\xFEm\0", 4);
  try {
    (void)read_suite(file);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.find("--suite " + file + ": "), 0U) << message;
    EXPECT_NE(message.find("UTF-16"), std::string::npos) << message;
  }
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
