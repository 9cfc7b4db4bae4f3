// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Which names of a file are tunables, and which are its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "tools/adopt.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Adoption adopted(const std::string& source, const AdoptOptions& options = {}) {
  return adopt("kernels/file.cu", source, options);
}

/// Names that the file declares in any way, or uses as only a variable or a type can be.
TEST(AdoptNames, NothingThatTheFileDeclaresIsATunable) {
  const auto tunables = [](const std::string& declarations, const std::string& body) {
    const std::string text = adopted(declarations +
                                     "\n__global__ void k(float* y, const float* x, int n) {\n"
                                     "  int i = blockIdx.x * block_size_x + threadIdx.x;\n" +
                                     body + "\n  if (i < n) y[i] = x[i];\n}\n")
                                 .adopted.text;
    std::string found;
    for (auto at = text.find("//@ tune"); at != std::string::npos;) {
      const auto end = text.find('\n', at);
      found += text.substr(at, end - at + 1);
      at = text.find("//@ tune", end);
    }
    const auto let = text.find("//@ let");
    return let == std::string::npos ? found : found + text.substr(let, text.find('\n', let) - let);
  };
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
    EXPECT_EQ(tunables(each.declarations, each.body),
              "//@ tune       block_size_x = 32 64 128* 256 512 1024\n")
        << each.declarations << each.body;
  }
  EXPECT_THAT(tunables("", "y[0] = i < 2 ? 1 : n * TILE; case 3: y[1] = i ? 2 : n * OTHER;"),
              AllOf(HasSubstr("TILE"), HasSubstr("OTHER")));
}

}  // namespace
}  // namespace kiln::tools
