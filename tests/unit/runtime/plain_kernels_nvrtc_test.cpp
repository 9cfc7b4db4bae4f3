// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernels as they are, compiled by NVRTC as a search compiles them. It needs no GPU.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "runtime/compile/cuda_paths.hpp"
#include "runtime/compile/nvrtc_compiler.hpp"
#include "templates/check/compile_diagnosis.hpp"
#include "templates/render/header_names.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/templates/row_operation.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class PlainKernelsNvrtcTest : public ::testing::Test {
 protected:
  /// The template with one piece of its text replaced, compiled for a problem.
  CompileResult compile(const Problem& problem, const std::string& from = "",
                        const std::string& to = "") {
    std::string text(test::kRowTemplate);
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    folder_.write("row_plain.cu", text);
    folder_.write("row_scale.cu", test::kRowOperation);
    catalog_ = std::make_unique<Catalog>(Catalog::with_directories({folder_.path()}));
    const Config config{{"block_size", 64}, {"shift", -1}};
    const auto rendered =
        render(*catalog_, row_plain(), config, problem, limits_of_arch("90a").value());
    CompileRequest request;
    request.source = rendered.text;
    request.source_name = "row_plain.cu";
    request.name_expressions = rendered.name_expressions;
    request.arch = "sm_90a";
    return compiler_->compile(request);
  }
  const KernelTemplate& row_plain() const { return catalog_->at("row_plain"); }

  const test::TemporaryFolder folder_;
  std::unique_ptr<Catalog> catalog_;
  const std::unique_ptr<Compiler> compiler_ = make_nvrtc_compiler();
};

TEST_F(PlainKernelsNvrtcTest, NamesOfExternCAndOfTemplates) {
  const auto result = compile(test::row_problem(3, 5));
  ASSERT_TRUE(result.ok) << result.log;
  ASSERT_EQ(result.lowered_names.size(), 2U);
  EXPECT_EQ(result.lowered_names[0], "fill_sums") << "extern \"C\" is not mangled";
  EXPECT_THAT(result.lowered_names[1], StartsWith("_ZN4mine10scale_rowsI6__halffLi64ELi63EE"));
  EXPECT_EQ(why_wrong_parameters(row_plain(), result.lowered_names), "");
}

TEST_F(PlainKernelsNvrtcTest, AMangledKernelWithoutTemplateArguments) {
  const auto result = compile(test::row_problem(3, 5, DType::f32), "extern \"C\" ", "");
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_THAT(result.lowered_names[0], StartsWith("_Z9fill_sumsPi"));
  EXPECT_EQ(why_wrong_parameters(row_plain(), result.lowered_names), "");
}

TEST_F(PlainKernelsNvrtcTest, MistakesAreExplained) {
  const auto problem = test::row_problem(3, 5);
  auto result = compile(problem, "int cols, float scale", "float scale, int cols");
  ASSERT_TRUE(result.ok) << result.log;
  EXPECT_THAT(why_wrong_parameters(row_plain(), result.lowered_names),
              AllOf(HasSubstr("argument 4 of mine::scale_rows, \"cols\""), HasSubstr("\"float\"")));
  result = compile(problem, ", int kMore>", ">");
  ASSERT_FALSE(result.ok);
  EXPECT_THAT(explain_compile_log(row_plain(), result.log), HasSubstr("4 template arguments"));
  result = compile(problem, "launch     fill_sums", "launch     fill_sum");
  ASSERT_FALSE(result.ok);
  EXPECT_THAT(explain_compile_log(row_plain(), result.log), HasSubstr("\"fill_sum\""));
}

/// Something of each standard header that kernels include, used as in code for nvcc.
constexpr const char* kStandardNames = R"(
#include <algorithm>
#include <assert.h>
#include <cassert>
#include <cfloat>
#include <cinttypes>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <float.h>
#include <functional>
#include <initializer_list>
#include <inttypes.h>
#include <iterator>
#include <limits.h>
#include <limits>
#include <math.h>
#include <new>
#include <numeric>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <type_traits>
#include <utility>
using namespace std;

template <class T, enable_if_t<is_floating_point_v<T>, int> = 0>
__device__ T half_of(T x) { return x / 2; }
template <size_t... I>
__device__ int sum(index_sequence<I...>) { return (0 + ... + static_cast<int>(I)); }
enum class Short : short {};

static_assert(sizeof("%" PRId64 PRIx32) == 6 && __bool_true_false_are_defined);
static_assert(is_same_v<common_type_t<float, int>, float> && is_same_v<decay_t<int (&)[3]>, int*>);
static_assert(is_same_v<underlying_type_t<Short>, short> && !is_convertible_v<int*, float>);
static_assert(is_same_v<make_unsigned_t<int>, unsigned> && is_base_of_v<true_type, is_signed<int>>);
static_assert(is_same_v<invoke_result_t<plus<int>, int, int>, int> && negation_v<is_void<int>>);
static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN);
static_assert(numeric_limits<float>::infinity() > FLT_MAX && numeric_limits<long>::digits == 63);
static_assert(numeric_limits<unsigned char>::digits10 == 2 && UINT32_MAX == 4294967295U);
static_assert(is_same_v<decltype(std::sqrt(2)), double> && sizeof(std::sqrt(2.f)) == 4);
static_assert(is_same_v<decltype(pow(2.f, 2.0)), double> && sizeof(std::pow(2.f, 2.f)) == 4);
static_assert(std::min(3, 2) == 2 && std::max({1, 5, 2}) == 5 && std::clamp(7, 0, 3) == 3);
static_assert(is_same_v<make_index_sequence<5>, index_sequence<0, 1, 2, 3, 4>>);
static_assert(alignof(CUtensorMap) == 64 && sizeof(CUtensorMap) == 128 && CUDA_VERSION >= 12080);
static_assert(std::gcd(12, 18) == 6 && CHAR_BIT == 8);

extern "C" __global__ void standard(float* p, double* d, int* i, const char* text) {
  assert(*i >= 0);
  printf("%d", *i);
  std::printf("%d", *i);
  float v = std::max(std::numeric_limits<float>::lowest(), std::fabs(p[0]));
  v += max(1.f, v) + min(v, 2.f) + half_of(v) + std::min(v, 3.f);
  v += std::pow(p[0], 2) + sqrt(*i) + std::exp(*i) + std::abs(*i) + std::abs(*d) + std::sqrtf(v);
  v += std::isnan(v) + isinf(v) + isfinite(*d) + std::signbit(v) + std::hypot(v, v) + fmax(v, 2.0);
  v += INFINITY + NAN + M_PI + HUGE_VAL + std::round(v) + lround(v) + offsetof(int4, z);
  int a[4] = {3, 1, 2, 0};
  std::swap(a[0], a[1]);
  std::fill(std::begin(a), std::end(a), 7);
  std::pair<int, float> pair(3, 4.f);
  pair = std::make_pair(std::exchange(pair.first, 9), 2.f);
  *i = std::accumulate(a, a + 4, 0) + sum(make_index_sequence<10>{}) + *std::max_element(a, a + 4);
  *i += std::plus<int>()(1, 2) + std::less<>()(1, 2) + (std::lower_bound(a, a + 4, 2) - a);
  std::memcpy(d, p, 8);
  memmove(p, d, 4);
  *i += std::memcmp(p, d, 4) + strlen(text) + std::strcmp(text, "x");
  std::complex<float> z(1, 2);
  z = z * z + std::conj(z);
  const std::int64_t wide = INT64_C(3) + SIZE_MAX;
  if (*i == 77) std::abort();
  *p = v + z.real() + wide + pair.second;
}
)";

TEST_F(PlainKernelsNvrtcTest, TheStandardHeadersOfKernelsAreThere) {
  CompileRequest request;
  request.source = kStandardNames;
  request.plain_names = {"standard"};
  request.arch = "sm_90a";
  const auto result = compiler_->compile(request);
  EXPECT_TRUE(result.ok) << result.log;
  EXPECT_EQ(result.log.find("warning"), std::string::npos) << result.log;
}

TEST_F(PlainKernelsNvrtcTest, LibcuxxAndThrustAgreeWithThem) {
  CompileRequest request;
  request.source = kStandardNames;
  request.source +=
      "#include <thrust/complex.h>\n"
      "extern \"C\" __global__ void numbers(float* x) {\n"
      "  thrust::complex<float> a(x[0], 2), b(1, x[1]);\n"
      "  a *= b;\n"
      "  x[0] = (thrust::exp(a) + b).real() + thrust::abs(b);\n"
      "}\n";
  request.plain_names = {"standard", "numbers"};
  request.arch = "sm_90a";
  const auto result = compiler_->compile(request);
  EXPECT_TRUE(result.ok) << result.log;
}

TEST(HeaderNames, EveryHeaderOfLibcuxxThatIsAdvisedExists) {
  const auto folders = cuda_include_folders("", NvrtcApi::load().folder);
  for (const auto& name : advised_libcuxx_headers()) {
    EXPECT_TRUE(std::ranges::any_of(folders, [&](const std::string& folder) {
      return std::filesystem::exists(folder + "/cuda/std/" + name);
    })) << name;
    EXPECT_FALSE(is_standard_header(name)) << name;
  }
  for (const char* const name : {"cstdio", "algorithm", "new", "vector", "string", "iostream",
                                 "memory", "thread", "sstream", "assert.h"}) {
    EXPECT_THAT(advice_on_missing_header(name), Not(HasSubstr("cuda/std"))) << name;
  }
  for (const char* const name :
       {"stdarg.h", "time.h", "ctype.h", "cerrno", "string_view", "compare", "typeinfo", "unistd.h",
        "omp.h", "cublas_v2.h", "sys/time.h"}) {
    EXPECT_THAT(advice_on_missing_header(name), HasSubstr("#if !defined(KILN_RENDERED)")) << name;
  }
  EXPECT_THAT(advice_on_missing_header("mine.h"), HasSubstr("--include DIR"));
}

}  // namespace
}  // namespace kiln
