// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/header_inliner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "templates/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"

namespace kiln {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
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

TEST(HeaderInliner, LooksInTheBaseThenBesideTheFile) {
  const FileSet headers{{"x.cuh", "int base;\n"},
                        {"dir/x.cuh", "int beside;\n"},
                        {"dir/y.cuh", "#include \"../z.cuh\"\n"},
                        {"z.cuh", "int z;\n"}};
  EXPECT_THAT(inlined(headers, "#include \"x.cuh\"\n"), HasSubstr("int base;"));
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
  inliner.add("k.cu", "#if X\n#include <mma.h>\n#endif\n#include MACRO\n");
  EXPECT_TRUE(inliner.system_includes().empty());
  EXPECT_EQ(inliner.text(), "#line 1 \"k.cu\"\n#if X\n#include <mma.h>\n#endif\n#include MACRO\n");
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
              AllOf(StartsWith("dir/kernel.cu:2:10: there is no project header \"gone.cuh\""),
                    HasSubstr("  #include \"gone.cuh\"\n           ^")));
  EXPECT_THAT(text({{"a.cuh", "#include \"b.cuh\"\n"}, {"b.cuh", "\n#include \"a.cuh\"\n"}},
                   "#include \"a.cuh\"\n"),
              StartsWith("b.cuh:2:10: \"a.cuh\" includes itself"));
  EXPECT_THAT(text({{"a.cuh", ""}}, "#if X\n#include \"a.cuh\"\n#endif\n"),
              HasSubstr("under a condition"));
  EXPECT_THAT(text({}, "#include \"\"\n"), HasSubstr("no project header"));
  EXPECT_THAT(text({}, "#include \"unclosed\n"), HasSubstr("no project header"));
}

}  // namespace
}  // namespace kiln
