// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/render/header_inliner.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "templates/render/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto kRendered = HeaderInliner::Mode::rendered;

std::string inlined(const FileSet& headers, std::string_view source) {
  HeaderInliner inliner(headers, kRendered);
  inliner.add("dir/kernel.cu", source);
  return inliner.text();
}

TEST(HeaderInliner, InlinesOnceWithLineNumbers) {
  const FileSet headers{{"common/a.cuh", "#pragma once\n#include \"common/b.cuh\"\nint a;\n"},
                        {"common/b.cuh", "#pragma once\nint b;\n"}};
  EXPECT_EQ(inlined(headers, "#include \"common/a.cuh\"\n#include \"common/b.cuh\"\nint k;\n"),
            "#line 1 \"dir/kernel.cu\"\n"
            "#line 1 \"common/a.cuh\"\n"
            "\n"
            "#line 1 \"common/b.cuh\"\n"
            "\n"
            "int b;\n"
            "#line 2 \"common/a.cuh\"\n"
            "\n"
            "int a;\n"
            "#line 1 \"dir/kernel.cu\"\n"
            "\n"
            "#line 2 \"dir/kernel.cu\"\n"
            "\n"
            "int k;\n");
}

TEST(HeaderInliner, LooksBesideTheFileAsCompilersDoThenFromTheTop) {
  const FileSet headers{{"x.cuh", "int base;\n"},
                        {"top.h", "int top;\n"},
                        {"dir/x.cuh", "int beside;\n"},
                        {"dir/y.cuh", "#include \"../z.cuh\"\n"},
                        {"z.cuh", "int z;\n"}};
  EXPECT_THAT(inlined(headers, "#include \"x.cuh\"\n"), HasSubstr("int beside;"));
  EXPECT_THAT(inlined(headers, "#include \"top.h\"\n"), HasSubstr("int top;"));
  EXPECT_THAT(inlined(headers, "#include \"y.cuh\"\n"), HasSubstr("int z;"));
}

TEST(HeaderInliner, CollectsSystemIncludes) {
  const FileSet headers{{"h.cuh", "#include <mma.h>\n#include <cuda_fp16.h>\n"}};
  HeaderInliner inliner(headers, kRendered);
  inliner.add("k.cu", "#  include  <mma.h>  // comment\n#include \"h.cuh\"\n");
  EXPECT_THAT(inliner.system_includes(), ElementsAre("<mma.h>", "<cuda_fp16.h>"));
  EXPECT_THAT(inliner.text(), Not(HasSubstr("include")));
  EXPECT_THAT(inliner.inlined(), ElementsAre("h.cuh"));
}

TEST(HeaderInliner, ConditionalIncludesStay) {
  HeaderInliner inliner({}, kRendered);
  inliner.add("k.cu", "#if X\n#include <mma.h>\n#endif\n");
  EXPECT_TRUE(inliner.system_includes().empty());
  EXPECT_EQ(inliner.text(), "#line 1 \"k.cu\"\n#if X\n#include <mma.h>\n#endif\n");
}

TEST(HeaderInliner, FindsEverySpellingOfAnInclude) {
  const FileSet headers{{"x.h", "int x;\n"}};
  for (const char* const line :
       {"%:include \"x.h\"\n", "/**/ #include \"x.h\"\n", "/* a\n b */ # include \"x.h\"\n",
        "#\\\ninclude \"x.h\"\n", "#include /* y */ \"x.h\" // z\n", "#inc\\\nlude \\\n \"x.h\"\n",
        "#include <x.h>\n", "#include \"./x.h\"\n", "\t#\tinclude\"x.h\"\r\n"}) {
    EXPECT_THAT(inlined(headers, line), AllOf(HasSubstr("int x;"), Not(HasSubstr("include"))))
        << line;
  }
  for (const char* const line :
       {"const char* s = R\"(\n#include \"x.h\"\n)\";\n", "// \\\n#include \"x.h\"\n",
        "int a; /*\n*/ #include \"x.h\"\n", "const char* s = \"\\\n#include <x.h>\";\n"}) {
    EXPECT_THAT(inlined(headers, line), Not(HasSubstr("int x;"))) << line;
  }
  // What follows literals is read as what it is.
  EXPECT_THAT(inlined(headers,
                      "int a = 1'000; char b = '\"'; auto c = R\"a(\")a\"; // '\n"
                      "#include \"x.h\"\n"),
              HasSubstr("int x;"));
}

TEST(HeaderInliner, InlinesInPlaceWhatAConditionMayLeaveOut) {
  const FileSet headers{{"a.h", "#pragma once\n#include \"b.h\"\nint a;\n"},
                        {"b.h", "#ifndef B_H\n#define B_H\n#include <mma.h>\nint b;\n#endif\n"}};
  HeaderInliner inliner(headers, kRendered);
  inliner.add("k.cu", "#if X\n#include \"a.h\"\n#endif\n#include \"a.h\"\n#include \"a.h\"\n");
  EXPECT_EQ(inliner.text(),
            "#line 1 \"k.cu\"\n#if X\n"
            "#if !defined(KILN_ONCE_1)\n#define KILN_ONCE_1\n#line 1 \"a.h\"\n\n"
            "#line 1 \"b.h\"\n#ifndef B_H\n#define B_H\n#include <mma.h>\nint b;\n#endif\n"
            "#line 2 \"a.h\"\n\nint a;\n#endif\n#line 2 \"k.cu\"\n\n#endif\n"
            "#if !defined(KILN_ONCE_1)\n#define KILN_ONCE_1\n#line 1 \"a.h\"\n\n"
            "#line 1 \"b.h\"\n#ifndef B_H\n#define B_H\n\nint b;\n#endif\n"
            "#line 2 \"a.h\"\n\nint a;\n#endif\n#line 4 \"k.cu\"\n\n#line 5 \"k.cu\"\n\n");
  EXPECT_THAT(inliner.inlined(), ElementsAre("a.h", "b.h"));
  EXPECT_THAT(inliner.system_includes(), ElementsAre("<mma.h>"));
}

TEST(HeaderInliner, AGuardIsNoCondition) {
  const FileSet headers{
      {"a.h",
       "// a\n#if !defined(A_H)\n#define A_H\n#include <mma.h>\n#include \"b.h\"\n#endif // A\n"},
      {"b.h", "#pragma once\n#include \"a.h\"\nint b;\n"}};
  HeaderInliner inliner(headers, kRendered);
  inliner.add("k.cu", "#include \"b.h\"\n#include \"a.h\"\n");
  EXPECT_THAT(inliner.system_includes(), ElementsAre("<mma.h>"));
  EXPECT_THAT(inliner.text(), Not(HasSubstr("KILN_ONCE")));
}

TEST(HeaderInliner, AHeaderThatNothingStopsIsThereEachTime) {
  const auto text =
      inlined({{"ops.inc", "OP(a)\n"}}, "#include \"ops.inc\"\n#undef OP\n#include \"ops.inc\"\n");
  EXPECT_NE(text.find("OP(a)"), text.rfind("OP(a)"));
}

TEST(HeaderInliner, WhatIsNotThereUnderAConditionIsAnErrorOfTheCompilerIfItHolds) {
  const auto text = inlined({}, "#if X\n#include \"gone.h\"\n#include <vector>\n#endif\nint k;\n");
  EXPECT_THAT(text, AllOf(HasSubstr("#if defined(__CUDACC_RTC__)\n#line 2 \"dir/kernel.cu\"\n"
                                    "#error there is no header gone.h. Next: "),
                          HasSubstr("#else\n#include \"gone.h\"\n#endif\n#line 2 "),
                          HasSubstr("header <vector>"), EndsWith("int k;\n")));
  EXPECT_THAT(inlined({}, "#if X\n#include \"mma.h\"\n#endif\n"), HasSubstr("#include <mma.h>"));
}

TEST(HeaderInliner, AnswersWhetherThereIsAHeader) {
  const auto text = inlined({{"x.h", ""}},
                            "#if __has_include(\"x.h\") && __has_include(<mma.h>) && "
                            "!__has_include( \"gone.h\" )\n#endif\n");
  EXPECT_THAT(text, HasSubstr("#if 1 && __has_include(<mma.h>) && !0\n#endif"));
}

TEST(HeaderInliner, CommentsStayWholeAroundALineThatGoes) {
  const FileSet headers{{"x.h", "int x;\n"}};
  EXPECT_THAT(
      inlined(headers, "/* a\n*/ #include \"x.h\" /* b\nc */ int k;\n"),
      EndsWith("/* a\n*/\n#line 1 \"x.h\"\nint x;\n#line 2 \"dir/kernel.cu\"\n\n/*c */ int k;\n"));
  EXPECT_THAT(inlined(headers, "/* a\n*/ #pragma once /* b */\nint k;\n"),
              EndsWith("/* a\n\n*/int k;\n"));
}

constexpr std::string_view kTwoFaced =
    "#if !defined(KILN_RENDERED)\n"
    "#include <cuda_fp16.h>\n"
    "#if X\n"
    "#define PLAIN 1\n"
    "#endif\n"
    "#else\n"
    "#include <mma.h>\n"
    "#define RENDERED 1\n"
    "#endif\n"
    "int k;\n";

TEST(HeaderInliner, RenderedTextLosesWhatIsForPlainCompilers) {
  HeaderInliner inliner({}, kRendered);
  inliner.add("k.cu", kTwoFaced);
  EXPECT_EQ(inliner.text(), "#line 1 \"k.cu\"\n\n\n\n\n\n\n\n#define RENDERED 1\n\nint k;\n");
  EXPECT_THAT(inliner.system_includes(), ElementsAre("<mma.h>"));
}

TEST(HeaderInliner, SupportFilesKeepIt) {
  const FileSet headers{{"h.cuh", std::string(kTwoFaced)}};
  const auto text = inline_headers(headers, "s.cu", "#include <math.h>\n#include \"h.cuh\"\n");
  EXPECT_THAT(text, StartsWith("#include <math.h>\n#line 1 \"s.cu\"\n"));
  EXPECT_THAT(text, HasSubstr(kTwoFaced));
}

TEST(HeaderInliner, CommentsAreNoDirectives) {
  const auto text = inlined({},
                            "/*\n#include \"x.cuh\"\n*/\n// /*\nconst char* s = \"/*\";\n"
                            "#pragma once\n");
  EXPECT_THAT(text, AllOf(HasSubstr("#include \"x.cuh\""), Not(HasSubstr("once"))));
}

TEST(HeaderInliner, WhereCommentsEndDirectivesCountAgain) {
  // A quotation mark in a string; two comments, of which the second goes on; one of "/*/"; a
  // quotient; and a string that the line ends.
  for (const char* const before : {"const char* s = \"\\\"/*\";\n", "/* a */ /* b\n*/\n",
                                   "/*/\n*/\n", "int a = b / c;\n", "// \"\n", "\"/*\n"}) {
    EXPECT_THAT(inlined({}, std::string(before) + "#pragma once\n"), Not(HasSubstr("once")))
        << before;
  }
  for (const char* const before : {"/* a */ /* b\n", "/*/\n", "int a = 1 / 2 /* b\n"}) {
    EXPECT_THAT(inlined({}, std::string(before) + "#pragma once\n"), HasSubstr("once")) << before;
  }
}

TEST(HeaderInlinerError, PointsAtTheInclude) {
  const auto text = [](const FileSet& headers, std::string_view source) {
    return error_text(ErrorKind::template_, [&] { (void)inlined(headers, source); });
  };
  EXPECT_THAT(text({}, "int a;\n#include \"gone.cuh\"\n"),
              AllOf(StartsWith("dir/kernel.cu:2:10: "), HasSubstr("\"gone.cuh\""),
                    HasSubstr("  #include \"gone.cuh\"\n           ^")));
  EXPECT_THAT(text({{"a.cuh", "#include \"b.cuh\"\n"}, {"b.cuh", "\n#include \"a.cuh\"\n"}},
                   "#include \"a.cuh\"\n"),
              StartsWith("b.cuh:2:10: \"a.cuh\" includes itself"));
  for (const char* unnamed : {"#include \"\"\n", "#include \"unclosed\n"}) {
    EXPECT_THAT(text({}, unnamed), HasSubstr("there is no header")) << unnamed;
  }
  EXPECT_THAT(text({}, "#define H \"a.h\"\n#include H\n"),
              StartsWith("dir/kernel.cu:2:1: this #include names the header with a macro"));
  EXPECT_THAT(text({}, "#include_next <a.h>\n"), HasSubstr("kernels cannot use #include_next"));
  EXPECT_THAT(
      text({}, "#include <vector>\n"),
      AllOf(StartsWith("dir/kernel.cu:1:10: "), HasSubstr("<vector>"), HasSubstr("KILN_RENDERED")));
  EXPECT_THAT(text({}, "#include <array>\n"), HasSubstr("include <cuda/std/array>"));
  EXPECT_THAT(
      text({}, "#include <cuda_fp61.h>\n"),
      HasSubstr(
          "Next: if you mean <cuda_fp16.h>, write that name; otherwise put the header beside"));
  EXPECT_THAT(text({}, "#include <cooperative_group.h>\n"), HasSubstr("<cooperative_groups.h>"));
  EXPECT_THAT(text({}, "#include <cooperative_group/reduce.h>\n"),
              HasSubstr("<cooperative_groups/reduce.h>"));
  EXPECT_THAT(text({}, "#include <cstdin>\n"), HasSubstr("<cstdint>"));
  EXPECT_THAT(text({}, "#include <mine.h>\n"), HasSubstr("Next: put the header beside"));
  FileSet doubled;
  for (int i = 0; i < 60; ++i) {
    doubled.emplace(fmt::format("h{}.h", i),
                    fmt::format("#include \"h{0}.h\"\n#include \"h{0}.h\"\n", i + 1));
  }
  doubled.emplace("h60.h", "");
  EXPECT_THAT(text(doubled, "#include \"h0.h\"\n"), HasSubstr("limits are 100000 inclusions"));
}

}  // namespace
}  // namespace kiln
