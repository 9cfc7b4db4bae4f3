// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which names of a file are tunables, and which are its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <sstream>
#include <string>

#include "tests/unit/tools/adopted.hpp"
#include "tools/adopt/adopt.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A kernel below `declarations` that mentions block_size_x, with `body` in the middle.
Adoption with_kernel(const std::string& declarations, const std::string& body = "") {
  return adopted(declarations +
                 "\n__global__ void k(float* y, const float* x, int n) {\n"
                 "  int i = blockIdx.x * block_size_x + threadIdx.x;\n" +
                 body + "\n  if (i < n) y[i] = x[i];\n}\n");
}

/// The lines of `tune` and `let`.
std::string tunables(const Adoption& adoption) {
  std::istringstream lines(adoption.adopted.text);
  std::string line, found;
  while (std::getline(lines, line)) {
    if (line.starts_with("//@ tune ") || line.starts_with("//@ let ")) found += line + "\n";
  }
  return found;
}

/// Names that the file declares in any way, or uses as only a variable or a type can be.
TEST(AdoptNames, NothingThatTheFileDeclaresIsATunable) {
  struct Case {
    const char* declarations;
    const char* body;
  };
  for (const Case& each : std::initializer_list<Case>{
           {"", "float (*f)(float) = nullptr, (&r)[2] = two(); y[0] = (*f)(f(r[0])) + (f == r);"},
           {"", "float (*table[2])(float); const float (*const rows)[4] = as(x), z = 1; y[0] = z;"},
           {"__device__ float ap(float (*g)(float of), float v) { return g == v ? 1 : g(v); }", ""},
           {"typedef float (*op)(float); __device__ op one; __device__ float (*all)(float);",
            "op f = one; y[0] = one == all;"},
           {"template <typename... Ts, int... Ns> __device__ int many() { return sizeof...(Ns); }",
            ""},
           {"", "decltype(x[0] + 1) v = 0, w = 1; __typeof__(v) z; y[0] = v + w + z;"},
           {"", "struct { float s; } a, b = {1}; union { int u; } c{}; y[0] = a * b * c;"},
           {"",
            "struct Local { float s; } p{1}; enum class Mode { kA } m = Mode::kA; y[0] = p * m;"},
           {"", "union { float f; int u; }; y[0] = f + u;"},
           {"", "auto [a, b] = two(); const auto& [c, d] = two(); y[0] = a + b + c + d;"},
           {"", "for (auto&& [a, b] : all()) y[0] += a + b;"},
           {"", "auto f = [](decltype(i) a, int (&b)[2]) mutable { return a * b; };"},
           {"", "auto f = [a = x, &b = y, c{1}] { return a * b * c[0]; };"},
           {"", "each([=] __device__(const int *p, auto q) noexcept { return p * q; });"},
           {"", "again: switch (i) { case 1: T *p = q(); y[0] = p * 2; goto again; default: ; }"},
           {"__device__ vec* put(vec *at, const real &w) { return at + w + sizeof(real2); }",
            "Point* p = reinterpret_cast<Point*>(y); for (Iter* it = 0; it;) p = it;"},
           {"#include \"mine.h\"", "y[0] = filter[1] + state.count; ++hits; last = &first;"},
       }) {
    EXPECT_EQ(tunables(with_kernel(each.declarations, each.body)),
              "//@ tune       block_size_x = 32 64 128* 256 512 1024\n")
        << each.declarations << each.body;
  }
  EXPECT_THAT(
      tunables(with_kernel("", "y[0] = i < 2 ? 1 : n * TILE; case 3: y[1] = i ? 2 : n * OTHER;")),
      AllOf(HasSubstr("TILE"), HasSubstr("OTHER")));
}

TEST(AdoptNames, NumbersThatGiveWayToKilnAreDefaults) {
  for (const char* const declarations : {
           "#ifndef block_size_x\n#define block_size_x 64\n#endif",
           "#if !defined(block_size_x)\n#define block_size_x (64)\n#endif",
           "#if not (defined block_size_x)\n#define block_size_x (WARP * 2)\n#endif\n"
           "#define WARP 32",
           "#if !defined(block_size_x) && !defined(other)\n#define block_size_x 1 << 6\n#endif",
           "#ifdef kernel_tuner\n#define tuned 1\n#else\n#define block_size_x 64\n#endif",
           "#ifdef kernel_tuner\n#elif defined(BIG)\n#else\n#define block_size_x 64\n#endif",
           "#ifdef block_size_x\n#else\n#define block_size_x 64\n#endif",
           "#if !defined(block_size_x) || block_size_x < 32 || (block_size_x % 32) != 0\n"
           "#undef block_size_x\n#define block_size_x 64\n#endif",
           "#ifndef kernel_tuner\n#ifdef DEBUG\n#endif\n#define block_size_x 64\n#endif",
           "#ifndef block_size_x\nconstexpr int block_size_x = 64;\n#endif",
           "#ifndef kernel_tuner\nstatic const unsigned other = 1, block_size_x{64u};\n#endif",
           "#ifdef kernel_tuner\n#else\nenum { block_size_x = 64 };\n#endif",
           "namespace a {\n#ifndef KILN_RENDERED\nenum Sizes : int { block_size_x = 64, b };\n"
           "int main() { const int n = 3; }\n#endif\n}\nusing namespace a;",
       }) {
    const Adoption adoption = with_kernel(declarations);
    EXPECT_EQ(tunables(adoption), "//@ tune       block_size_x = 32 64* 128 256 512 1024\n")
        << declarations;
    EXPECT_THAT(adoption.notes, IsEmpty()) << declarations;
  }
  EXPECT_THAT(tunables(with_kernel("#ifndef fast\nconstexpr bool fast = true;\n#endif",
                                   "if (fast) return;")),
              HasSubstr("tune       fast = 0 1*"));
}

TEST(AdoptNames, NumbersThatDoNotGiveWayAreNamedByTheirLine) {
  for (const char* const declarations : {
           "#define block_size_x (64)",
           "constexpr int block_size_x = 64;",
           "enum { block_size_x = 64 };",
           "#if !defined(block_size_x) || FORCED\n#define block_size_x 64\n#endif",
           "#ifndef BLOCK_SIZE_X_H\n#define BLOCK_SIZE_X_H\n#define block_size_x 64\n#endif",
       }) {
    const Adoption adoption = with_kernel(declarations);
    EXPECT_THAT(adoption.adopted.text, HasSubstr("//@   grid     ceil_div(n, 64)"));
    EXPECT_THAT(adoption.notes, ElementsAre(HasSubstr(
                                    "always defines block_size_x, so Kiln cannot tune this macro: "
                                    "write \"#ifndef block_size_x\" above")))
        << declarations;
  }
}

TEST(AdoptNames, AMisspeltGuardIsNamed) {
  for (const char* const definition :
       {"#define block_size_x 128", "constexpr int block_size_x = 128;"}) {
    for (const char* const guard : {"#ifndef block_sizex", "#if !defined(block_sizex)"}) {
      EXPECT_THAT(
          with_kernel(std::string(guard) + "\n" + definition + "\n#endif").notes,
          ElementsAre("line 2: the #ifndef above tests block_sizex, but the #define sets "
                      "block_size_x: write the same name in both lines, and run adopt again"));
    }
  }
}

}  // namespace
}  // namespace kiln::tools
