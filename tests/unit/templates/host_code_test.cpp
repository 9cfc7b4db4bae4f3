// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What NVRTC says of code for the host, and what Kiln adds to that.
#include "templates/render/host_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "templates/logged_errors.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string why(std::string_view message, std::string_view shown = "") {
  return why_host_code({"k.cu", "1", message, shown});
}

std::string no_member(const std::string& name) {
  return why("namespace \"std\" has no member \"" + name + "\"");
}

std::string undefined(const std::string& name, const std::string& shown = "") {
  return why("identifier \"" + name + "\" is undefined", shown);
}

TEST(HostCode, NamesOfTheHostAreToldWithWhatKernelsUse) {
  EXPECT_THAT(no_member("sort"),
              AllOf(StartsWith("kernels cannot use \"std::sort\", which exists only on the host. "
                               "Next: sort with cub::BlockRadixSort"),
                    HasSubstr("under #if !defined(KILN_RENDERED)")));
  EXPECT_THAT(no_member("vector"), HasSubstr("an array of fixed size, __shared__ memory"));
  for (const char* name : {"cout", "fprintf", "stderr"}) {
    for (const auto& told : {no_member(name), undefined(name)}) {
      EXPECT_THAT(told, HasSubstr("print with printf")) << name;
    }
  }
  EXPECT_THAT(undefined("abort"), HasSubstr("__trap()"));
  EXPECT_THAT(undefined("rand"), HasSubstr("<curand_kernel.h>"));
  EXPECT_THAT(undefined("cudaMalloc"),
              HasSubstr("leave memory allocation, copies and launches to Kiln"));
  EXPECT_THAT(no_member("mutex"), HasSubstr("__syncthreads()"));
  EXPECT_THAT(why("name followed by \"::\" must be a class or namespace name", "this_thread::a();"),
              HasSubstr("\"std::this_thread\""));
  EXPECT_THAT(why("device code does not support exception handling", "throw 1;"),
              HasSubstr("__trap()"));
}

TEST(HostCode, NamesThatMayBeTheAuthorsOwnAreLeftAlone) {
  for (const char* name : {"vector", "sort", "time", "set", "total", "cudas", "cuda"}) {
    EXPECT_EQ(undefined(name, name), "") << name;
  }
  EXPECT_THAT(undefined("vector", "vector<int> a;"), HasSubstr("\"vector\""));
  EXPECT_EQ(why("expected a \";\""), "");
  EXPECT_EQ(why("name followed by \"::\" must be a class or namespace name", "mine::a();"), "");
}

TEST(HostCode, FunctionsAndVariablesOfTheHostAreNamed) {
  EXPECT_THAT(why("A function without execution space annotations (__host__/...) is", "twice(int)"),
              StartsWith("\"twice\" is a host function, but Kiln compiles only device code. "
                         "Next: if kernels call this function, write __device__ before it"));
  EXPECT_THAT(why("A function explicitly marked as a __host__ function is not", "twice(int)"),
              StartsWith("\"twice\" is a host function"));
  EXPECT_THAT(
      why("A namespace scope variable without memory space annotations (...) is", "table[4]"),
      AllOf(StartsWith("\"table\" is a host variable"), HasSubstr("__constant__")));
}

TEST(HostCode, StandardNamesThatKernelsCanHaveAreToldWithTheirHeader) {
  EXPECT_THAT(no_member("min"),
              AllOf(HasSubstr("Next: include <algorithm>."), Not(HasSubstr("KILN_RENDERED"))));
  EXPECT_THAT(no_member("array"), HasSubstr("Next: include <cuda/std/array> and write"));
  EXPECT_THAT(no_member("popcount"), HasSubstr("header declares cuda::std::popcount"));
}

TEST(LoggedErrors, HavePlaceMessageAndWhatIsMarked) {
  const std::string log =
      "k.cu(3): warning #47-D: incompatible redefinition\n  #define x\n          ^\n\n"
      "k.cu(12): error: expected an identifier\n  int block_size = 3;\n      ^\n\n"
      "a(b).cu(4): catastrophic error: #error directive: x\n"
      "2 errors detected in the compilation of \"k.cu\".\n";
  const auto errors = errors_of(log);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].file, "k.cu");
  EXPECT_EQ(errors[0].line, "12");
  EXPECT_EQ(errors[0].message, "expected an identifier");
  EXPECT_EQ(errors[0].shown, "block_size = 3;");
  EXPECT_EQ(marked_word(errors[0]), "block_size");
  EXPECT_EQ(errors[1].file, "a(b).cu");
  EXPECT_EQ(errors[1].message, "#error directive: x");
  EXPECT_EQ(marked_word(errors[1]), "");
}

}  // namespace
}  // namespace kiln
