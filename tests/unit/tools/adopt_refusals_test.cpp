// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What nothing in front matter stands for is refused with its line and a remedy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/tools/adopted.hpp"
#include "tools/adopt/adopt.hpp"

namespace kiln::tools {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(AdoptRefusals, TexturesAreRefusedWithTheirLine) {
  const auto refusal = [](const std::string& source) {
    return error_text(ErrorKind::usage, [&] { (void)adopted(source); });
  };
  EXPECT_THAT(refusal("__global__ void blur(float* out,\n"
                      "                     cudaTextureObject_t tex, int n) {\n"
                      "  out[n] = tex2D<float>(tex, 1, 2);\n}\n"),
              StartsWith("kernels/file.cu:2: cudaTextureObject_t tex: "));
  EXPECT_THAT(refusal("texture<float, 2> image;\n__global__ void f(float* out) { out[0] = 1; }\n"),
              StartsWith("kernels/file.cu:1: texture<...>: "));
}

TEST(AdoptRefusals, TexturesAreFoundBehindOtherNames) {
  const std::string open = "__global__ void f(float* y, int n) {\n";
  for (const auto& [source, place] : Pairs{
           {"using Tex = cudaTextureObject_t;\ntypedef Tex Image;\n"
            "__global__ void f(float* y,\n  const Image t) {}\n",
            "4: Image t: "},
           {"#define TEX cudaTextureObject_t\n__global__ void f(TEX t) {}\n", "2: TEX t: "},
           {"typedef cudaSurfaceObject_t* Surfaces;\n__global__ void f(Surfaces s) {}\n",
            "2: cudaSurfaceObject_t* s: "},
           {"struct Inner {\n  cudaTextureObject_t t;\n};\nstruct Outer { Inner inner; };\n"
            "__global__ void f(Outer o) {}\n",
            "2: cudaTextureObject_t t: "},
           {"template <class T>\nstruct View { cudaTextureObject_t t; };\nusing V = View<float>;\n"
            "__global__ void f(float* y, V v) {}\n",
            "2: cudaTextureObject_t t: "},
           {"typedef texture<float, 2> Tex;\nTex t;\n" + open + "y[0] = tex2D(t, 1, 2);\n}\n",
            "1: texture<...>: "},
           {"#define TEX texture<float, 1>\nTEX t;\n" + open + "y[0] = fetch(t);\n}\n",
            "1: texture<...>: "},
           {"static surface<void, 2> s;\n" + open + "}\n", "1: surface<...>: "},
           {"__global__ void f(float* y, unsigned long long t) {\n  y[0] = tex2D<float>(t, 1, "
            "2);\n}",
            "2: tex2D(...): "},
           {"__device__ float at(long long t) {\n  return tex1Dfetch<float>(t, 0);\n}\n" + open +
                "y[0] = at(n);\n}\n",
            "2: tex1Dfetch(...): "},
           {"__constant__ cudaTextureObject_t t;\n" + open + "y[0] = of(t);\n}\n",
            "1: cudaTextureObject_t t: "},
       }) {
    EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)adopted(source); }),
                AllOf(StartsWith("kernels/file.cu:" + place), HasSubstr("textures")))
        << source;
  }
  const std::string unused =
      "__device__ float g(cudaTextureObject_t t) { return tex1D<float>(t, 0); }\n"
      "__device__ float tex2D(int x) { return x; }\n" +
      open + "y[0] = tex2D(n);\n}\n";
  EXPECT_NO_THROW((void)adopted(unused));
}

TEST(AdoptRefusals, WhatNoOperandIsIsRefusedAtItsParameter) {
  for (const auto& [parameter, why] : Pairs{
           {"const float (*t)[4]",
            "t points to arrays, but the elements of an operand are numbers. Next: take "
            "\"const float* t\" instead, and write t[i * 4 + j] for t[i][j]"},
           {"float t[][N + 1]", "t[i * (N + 1) + j] for t[i][j]"},
           {"int (* __restrict__ t)[2][3]", "t[i * 2 * 3 + j] for t[i][j]"},
           {"Rows t", "\"float* t\""},
           {"float*** t",
            "t is a \"float***\", but an operand has at most two levels of pointers. Next: take "
            "\"float** t\" instead"},
           {"float** t[]", "t is a \"float***\""},
           {"Pointer** t", "t is a \"float***\""},
           {"float (*t)(float of, int n)",
            "t is a function, which cannot be passed to a kernel. Next: make the function a "
            "template parameter of the kernel"},
           {"Function t", "t is a function"},
       }) {
    const std::string source =
        "typedef float (*Rows)[4], *Pointer;\nusing Function = float (*)(float);\n"
        "__global__ void f(float* y, int n,\n    " +
        parameter + ", int m) {\n  y[0] = n;\n}\n";
    EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)adopted(source); }),
                AllOf(StartsWith("kernels/file.cu:4: the parameter t "), HasSubstr(why)))
        << parameter;
  }
}

}  // namespace
}  // namespace kiln::tools
