// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/check/misspelt_tunable.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/kernel_template.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/row_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A kernel whose tunable is declared, used in its launch, and named in its code as given.
std::string scale_kernel(std::string_view tunable, std::string_view launched,
                         std::string_view code) {
  return fmt::format(R"(//@ template   scale_plain
//@ purpose    An element a thread of block_size_x
//@ operation  row_scale
//@ tune       {} = 64 128*
//@ launch     scale
//@   grid     rows
//@   block    {}

{}
extern "C" __global__ void scale(const float* x, float* y, int rows, int cols, float scale) {{}}
)",
                     tunable, launched, code);
}

KernelTemplate parsed(const std::string& source) {
  static_cast<void>(test::row_operation());
  return KernelTemplate::parse("k.cu", source);
}

std::string scale_refusal(std::string_view tunable, std::string_view launched,
                          std::string_view code) {
  return error_text(ErrorKind::template_,
                    [&] { (void)parsed(scale_kernel(tunable, launched, code)); });
}

constexpr std::string_view kDefault =
    "#ifndef block_size_x\n#define block_size_x 128\n#endif\nint at = block_size_x;";

TEST(MisspeltTunable, OneThatOnlyTheTuneLineNamesIsCorrectedThere) {
  EXPECT_EQ(
      scale_refusal("block_sizex", "block_size_x", kDefault),
      "k.cu:4:16: the kernel's code never uses the tunable \"block_sizex\"; line 9 of the code and "
      "other \"//@\" lines use \"block_size_x\". Next: write \"block_size_x\" in this \"tune\" "
      "line, too\n  //@ tune       block_sizex = 64 128*\n                 ^");
  EXPECT_THAT(scale_refusal("block_sizex", "block_size_x", "int at = block_size_x;"),
              AllOf(HasSubstr("line 9"), HasSubstr("\"block_size_x\"")));
}

TEST(MisspeltTunable, OneThatTheTextDefinesByAnotherNameIsRefused) {
  for (const std::string_view tunable :
       {"block_sizex", "block_size", "blok_size_x", "BLOCK_SIZE_X"}) {
    EXPECT_THAT(
        scale_refusal(tunable, tunable, kDefault),
        AllOf(StartsWith("k.cu:4:16: "),
              HasSubstr(
                  "line 9 of the code uses the similar name \"block_size_x\". Next: use the same "
                  "name in both lines")));
  }
  const std::string_view negated = "#if !defined(block_size_x)\n#endif";
  EXPECT_THAT(scale_refusal("block_sizex", "block_sizex", negated),
              HasSubstr("line 9 of the code uses"));
}

TEST(MisspeltTunable, OneThatOnlyTheLaunchUsesIsNone) {
  EXPECT_NO_THROW((void)parsed(scale_kernel("block_size_x", "block_size_x", "")));
  EXPECT_NO_THROW((void)parsed(scale_kernel("block_x", "block_x", "#define block_y 4")));
  EXPECT_NO_THROW((void)parsed(scale_kernel("blocks", "blocks", "#define block 4")));
  EXPECT_NO_THROW((void)parsed(
      scale_kernel("block_size_x", "block_size_x", "// #define block_size 4\nint block_size;")));
}

TEST(MisspeltTunable, OneThatTheKernelGetsByOtherWaysIsNone) {
  EXPECT_NO_THROW(
      (void)parsed(scale_kernel("block_sizex", "block_sizex\n//@ let  half = block_sizex / 2",
                                "#define block_size_x 4\nint at = half;")));
  EXPECT_NO_THROW((void)parsed(
      scale_kernel("block_sizex", "block_sizex\n//@   args     x, y, rows, block_sizex, scale",
                   "#define block_size_x 4")));
  EXPECT_NO_THROW((void)parsed(
      scale_kernel("block_sizex", "block_sizex", "#include \"own.cuh\"\n#define block_size_x 4")));
  EXPECT_NO_THROW((void)parsed(scale_kernel(
      "block_sizex", "block_sizex\n//@ tune  block_size_x = 1*", "#define use block_size_x")));
}

}  // namespace
}  // namespace kiln
