// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernels as people write them: helpers, macros, blocks that have a row each, host code around
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/unit/templates/tiny_template.hpp"
#include "tests/unit/tools/adopted.hpp"
#include "tools/adopt/adopt.hpp"

namespace kiln::tools {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(AdoptShapes, WordsThatAreSignsAreNoTunables) {
  const Adoption adoption = adopted(R"(
__global__ void k(float* y, const float* x, int w, int h) {
#if MODE == 1 or MODE == 2
  int i = blockIdx.x * block_size_x + threadIdx.x;
  int j = blockIdx.y;
  if (i < w and j < h and not (x[i] < 0)) y[j * w + i] = x[i];
#endif
}
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       MODE = 1* 2\n"),
                    HasSubstr("ceil_div(w, block_size_x), h"), Not(HasSubstr("tune       or ")),
                    Not(HasSubstr("tune       and ")), Not(HasSubstr("tune       not "))));
}

TEST(AdoptShapes, ParametersOfOperatorsAndDeclarationsAreNoTunables) {
  const Adoption adoption = adopted(R"(
struct Pair { float x, y; __device__ Pair(float &left, Pair &other) : x(left), y(other.y) {} };
__device__ float norm(Pair &pair);
template <int N> __device__ void spread(float2 &target) { target.x = N; }
template <> __device__ void spread<3>(float2 &special) { special.x = 3; }
inline __device__ void operator+=(float2 &a, float2 b) {
  a.x += b.x;
  a.y += b.y;
}
__device__ float& operator*(Pair &whole) { return whole.x; }
extern "C" __global__ void k(float2* y, const float2* x, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) { float2 v = y[i]; v += x[i]; y[i] = v; }
}
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ operation  k\n//@ tune       block_size_x = 32 64 128* 256 512 "
                              "1024\n//@ require"),
                    Not(HasSubstr("FILL_IN"))));
}

TEST(AdoptShapes, HostFunctionsTellNothing) {
  const Adoption adoption = adopted(R"(
#include <cuda/std/cmath>
#define DEVICE __device__ __forceinline__
DEVICE float twice(float x) { return x * FACTOR; }
void check(const float* got, const float* expected, int n);
static Report compare(const std::vector<float>& got, Options options = {});
static_assert(kTiles % 2 == 0);
__global__ void axpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + twice(y[i]);
}
Status run(int argc, char** argv) {
  axpy<<<1, 32>>>(0, 1.0f, nullptr, nullptr);
  return Status(argc);
}
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("tune       FACTOR = "), HasSubstr("tune       kTiles = "),
                    Not(HasSubstr("tune       argv")), Not(HasSubstr("tune       got")),
                    Not(HasSubstr("tune       expected")), Not(HasSubstr("tune       options")),
                    Not(HasSubstr("tune       Status")), Not(HasSubstr("tune       Report"))));
  EXPECT_THAT(adoption.notes, Contains(HasSubstr("line 13 launches a kernel")));
}

TEST(AdoptShapes, FunctionsShowWhatTheyDoWithAnAddress) {
  const Adoption adoption = adopted(R"(
__device__ void put(float* at, float value) { *at = value; }
__device__ void put_all(float* to, int count) { for (int i = 0; i < count; ++i) put(to + i, 0.0f); }
__device__ void grow(float& value) { value += 1.0f; }
__device__ void assign(float& to, const float& from) { to = from; }
__device__ float get(float* from, int i) { return from[i]; }
__device__ int deep(int* of, int n) { return n == 0 ? of[0] : deep(of, n - 1); }
__global__ void k(float* written, float* all, float* grown, float* assigned, float* read,
                  float* stored, float4* vectors, float* hidden, int* again, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i >= n) return;
  put(&written[i], get(read, i));
  put_all(all + i, 1);
  grow(grown[i]);
  assign(assigned[i], read[i]);
  __stcs(stored + i, __ldg(read + i));
  reinterpret_cast<float2*>(vectors)[i] = make_float2(0, 0);
  unknown(hidden);
  deep(again, 2);
}
)");
  const std::string& text = adoption.operation.text;
  EXPECT_THAT(
      text, AllOf(HasSubstr("operand    written out: n "), HasSubstr("operand    all out: n "),
                  HasSubstr("operand    grown inout: n "), HasSubstr("operand    assigned out: n "),
                  HasSubstr("operand    read in: n "), HasSubstr("operand    stored out: n ")));
  EXPECT_THAT(text, AllOf(HasSubstr("operand    vectors out: n, 4"), HasSubstr("out is a guess"),
                          HasSubstr("operand    again in: n ")));
}

TEST(AdoptShapes, MacrosWithParametersAreReadAsTheCompilerDoes) {
  const Adoption adoption = adopted(R"(
#define AT(array, row, col) array[(row) * width + (col)]
#define STORE(to, value) do { (to) = (value); } while (0)
#define FOR_ROWS(i) for (int i = first; i < last and i < height; i += rows_per_step)
#define LOG(...) printf(__VA_ARGS__)
#define NAME(x) k_##x
__global__ void k(float* out, float* in, float* both, int width, int height) {
  const int x = blockIdx.x * block_size_x + threadIdx.x;
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int first = y, last = height;
  FOR_ROWS(i) AT(out, i, x) = AT(in, i, x);
  STORE(AT(both, y, x), AT(both, y, x) + 1);
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("operand    out out: height, width"), HasSubstr("operand    in in: "),
                    HasSubstr("operand    both inout: ")));
  EXPECT_THAT(adoption.adopted.text, HasSubstr("tune       rows_per_step = "));
}

TEST(AdoptShapes, LaunchBoundsSayHowManyThreadsThereMayBe) {
  const std::string asked = adopted(R"(
__global__ void __launch_bounds__(64) k(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
)")
                                .adopted.text;
  EXPECT_THAT(asked, AllOf(HasSubstr("tune       block_size_x = 32 64* 128 "),
                           HasSubstr("require    block_size_x <= 64 ")));
  const std::string unknown = adopted(R"(
#define THREADS 192
__global__ __launch_bounds__(THREADS, 2) void k(float* y, const float* x, int n) {
  for (int i = threadIdx.x; i < n; ++i) y[i] = x[i];
}
)")
                                  .adopted.text;
  EXPECT_THAT(unknown, HasSubstr("//@   block    192 "));
  const std::string computed = adopted(R"(
template <int kWarps>
__global__ __launch_bounds__(kWarps * 32) void k(float* y, const float* x, int n) {
  const int warp = threadIdx.x / 32;
  if (warp < n) y[warp] = x[warp];
}
)")
                                   .adopted.text;
  EXPECT_THAT(computed, AllOf(HasSubstr("//@   block    warps * 32 "),
                              HasSubstr("require    warps * 32 <= device.max_threads")));
  const std::string same = adopted(R"(
__global__ void __launch_bounds__(block_size_x) k(float* y, const float* x, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
)")
                               .adopted.text;
  EXPECT_THAT(same, Not(HasSubstr("__launch_bounds__\n")));
}

TEST(AdoptShapes, CastsInAnIndexDoNotChangeTheGrid) {
  for (const std::string index :
       {"blockIdx.x * (size_t)blockDim.x + threadIdx.x",
        "blockIdx.x * size_t(blockDim.x) + threadIdx.x",
        "blockIdx.x * std::size_t(blockDim.x) + threadIdx.x",
        "blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x",
        "(size_t)blockIdx.x * blockDim.x + threadIdx.x",
        "size_t(blockIdx.x) * blockDim.x + threadIdx.x",
        "blockDim.x * (size_t)blockIdx.x + threadIdx.x",
        "blockDim.x * size_t(blockIdx.x) + threadIdx.x",
        "(size_t)blockDim.x * blockIdx.x + threadIdx.x",
        "size_t(blockDim.x) * blockIdx.x + threadIdx.x",
        "static_cast<size_t>(blockDim.x) * blockIdx.x + threadIdx.x",
        "1ull * blockIdx.x * blockDim.x + threadIdx.x"}) {
    const std::string text = adopted(
                                 "__global__ void k(float* y, const float* x, size_t n) {\n"
                                 "  size_t i = " +
                                 index +
                                 ";\n"
                                 "  if (i < (size_t)n) y[i] = x[i];\n}\n")
                                 .adopted.text;
    EXPECT_THAT(text, HasSubstr("//@   grid     ceil_div(n, block_size_x) ")) << index;
  }
}

TEST(AdoptShapes, ProductsByOtherNamesAreProducts) {
  const auto launch = [](const std::string& index, const std::string& bound) {
    return adopted(
               "#define LOG 7\n#define IMAD(a, b, c) (__mul24((a), (b)) + (c))\n"
               "__global__ void k(float* y, const float* x, int n) {\n  int i = " +
               index + ";\n  if (i < " + bound + ") y[i] = x[i];\n}\n")
        .adopted.text;
  };
  for (const char* const index : {"__mul24(blockIdx.x, blockDim.x) + threadIdx.x",
                                  "__umul24(blockDim.x, blockIdx.x) + threadIdx.x",
                                  "threadIdx.x + (int)__mul24((int)blockIdx.x, (int)blockDim.x)",
                                  "IMAD(blockDim.x, blockIdx.x, threadIdx.x)"}) {
    EXPECT_THAT(launch(index, "n"), HasSubstr("//@   grid     ceil_div(n, block_size_x) "))
        << index;
  }
  for (const char* const index :
       {"(blockIdx.x << 7) + threadIdx.x", "blockIdx.x << 7 | threadIdx.x",
        "(blockIdx.x << LOG) | threadIdx.x", "((int)blockIdx.x << (7)) + threadIdx.x"}) {
    EXPECT_THAT(launch(index, "n"), AllOf(HasSubstr("//@   grid     ceil_div(n, 128) "),
                                          HasSubstr("//@   block    128 ")))
        << index;
  }
  EXPECT_THAT(launch("(blockIdx.x << log_block) + threadIdx.x", "n"),
              HasSubstr("//@   grid     FILL_IN                        // number of blocks: the "
                        "kernel shifts blockIdx.x by"));
  EXPECT_THAT(launch("blockIdx.x * 64 + threadIdx.x", "(n << 2)"),
              HasSubstr("ceil_div((n * 4), 64)"));
  EXPECT_THAT(launch("blockIdx.x * 64 + threadIdx.x", "n >> 1"), HasSubstr("ceil_div(n / 2, 64)"));
  EXPECT_THAT(launch("blockIdx.x * 64 + threadIdx.x", "n + 1 >> 1"), HasSubstr("grid     FILL_IN"))
      << "a shift binds less than a sum";
}

/// A kernel with a grid of cols in the place of rows is then wrong in one of them.
TEST(AdoptShapes, EitherOfTwoSizesIsTheLargerOneInSomeCase) {
  const std::string text = adopted(R"(
__global__ void k(float* y, const float* x, int rows, int cols) {
  const int row = blockIdx.x;
  if (row >= rows) return;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * cols + c] = x[row * cols + c];
}
)")
                               .operation.text;
  EXPECT_THAT(text, HasSubstr("//@ ragged     rows=1 cols=1\n//@ ragged     rows=17 cols=33\n"
                              "//@ ragged     rows=40 cols=70\n//@ ragged     rows=45 cols=19\n"));
}

TEST(AdoptShapes, ABlockMayHaveARow) {
  const Adoption unnamed = adopted(R"(
__global__ void norm(float* y, const float* x, const float* weight, float* length, int cols) {
  const int row = blockIdx.x;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    sum += x[row * (long long)cols + c] * weight[c];
  }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * (long long)cols + c] = sum;
  if (threadIdx.x == 0) length[row] = sum;
}
)");
  EXPECT_THAT(
      unnamed.operation.text,
      AllOf(HasSubstr("//@ size       rows 1..2147483647 "),
            HasSubstr("operand    y out: rows, cols "), HasSubstr("operand    x in: rows, cols "),
            HasSubstr("operand    weight in: cols "), HasSubstr("operand    length out: rows ")));
  EXPECT_THAT(unnamed.adopted.text,
              AllOf(HasSubstr("//@   grid     rows  "),
                    HasSubstr("//@   args     y, x, weight, length, cols\n")));
  const Adoption named = adopted(R"(
__global__ void softmax(float* y, const float* x, int num_rows, int num_cols) {
  x += blockIdx.x * num_cols;
  y += blockIdx.x * num_cols;
  for (int c = threadIdx.x; c < num_cols; c += 256) y[c] = x[c];
}
)");
  EXPECT_THAT(named.operation.text, AllOf(HasSubstr("operand    y out: num_rows, num_cols "),
                                          Not(HasSubstr("size       rows "))));
  EXPECT_THAT(named.adopted.text,
              AllOf(HasSubstr("//@   grid     num_rows  "), HasSubstr("//@   block    256  ")));
  const Adoption compared = adopted(R"(
__global__ void pick(float* y, const float* x, const float* table, const int* at, int rows,
                     int cols) {
  const int row = blockIdx.x;
  if (row >= rows) return;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    y[row * cols + c] = x[row * cols + c] + table[at[row] * cols + c];
  }
}
)");
  EXPECT_THAT(
      compared.operation.text,
      AllOf(HasSubstr("operand    y out: rows, cols "), HasSubstr("operand    x in: rows, cols "),
            HasSubstr("operand    table in: FILL_IN "), HasSubstr("operand    at in: rows ")));
  const Adoption threads = adopted(R"(
__global__ void bias(float* y, const float* x, const float* b, int cols) {
  const int at = blockIdx.x * cols + threadIdx.x;
  y[at] = x[at] + b[threadIdx.x];
}
)");
  EXPECT_THAT(threads.operation.text, AllOf(HasSubstr("operand    y out: rows, cols "),
                                            HasSubstr("operand    b in: cols ")));
  EXPECT_THAT(threads.adopted.text,
              AllOf(HasSubstr("//@   grid     rows  "), HasSubstr("//@   block    cols  "),
                    HasSubstr("require    cols <= device.max_threads")));
}

TEST(AdoptShapes, EveryHeaderIsNamed) {
  const Adoption adoption = adopted(R"(#include <iostream>
#include <vector>
#include "first.h"
#include "second.cuh"
__global__ void k(float* y, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] = 0;
}
)");
  EXPECT_THAT(
      adoption.notes,
      Contains(HasSubstr(
          "<iostream>, <vector> are host headers, and NVRTC cannot include them: put them under")));
  EXPECT_THAT(adoption.notes,
              Contains(HasSubstr("adopt did not read \"first.h\", \"second.cuh\", so ")));
}

TEST(AdoptShapes, AHeaderThatIsMissingIsNamed) {
  const std::string source =
      "#include <cuda_fp61.h>\n#include <mine/own.h>\n#include \"local.cuh\"\n"
      "#include \"there.cuh\"\n"
      "__global__ void k(float* y, int n) {\n"
      "  int i = blockIdx.x * block_size_x + threadIdx.x;\n  if (i < n) y[i] = 0;\n}\n";
  const test::TemporaryFolder folder;
  folder.write("there.cuh", "");
  folder.write("k.cu", source);
  const Adoption adoption = adopt(folder.path() + "/k.cu", source, {});
  EXPECT_THAT(
      adoption.notes,
      ElementsAre("line 1: neither CUDA nor Kiln has a header <cuda_fp61.h>; did you mean "
                  "<cuda_fp16.h>?",
                  "line 3: the header \"local.cuh\" is not in the folder of this file: name the "
                  "folder of the header with --include DIR or with a line \"//@ include DIR\"",
                  HasSubstr("adopt did not read \"there.cuh\", so ")));
}

TEST(AdoptShapes, FunctionsThatTheCompilerOfKernelsRefusesAreNamed) {
  const std::string kernel =
      "__global__ void k(float* y, int n) {\n"
      "  int i = blockIdx.x * block_size_x + threadIdx.x;\n  if (i < n) y[i] = 0;\n}\n";
  const std::string host =
      "static void check(int n) { if (n) throw n; }\nint main() { return 0; }\n";
  EXPECT_THAT(
      adopted(kernel + host +
              "constexpr int twice(int n) { return 2 * n; }\n"
              "HOST_DEVICE int thrice(int n) { return 3 * n; }\n")
          .notes,
      ElementsAre("check (line 5), main (line 6) are host functions, and NVRTC rejects them: "
                  "put them under \"#if !defined(KILN_RENDERED)\". If a kernel calls such a "
                  "function, write __device__ before this function instead"));
  for (const char* const condition :
       {"#if !defined(KILN_RENDERED)\n", "#ifndef KILN_RENDERED\n", "#ifndef kernel_tuner\n"}) {
    EXPECT_THAT(adopted(kernel + condition + "#include <vector>\n" + host + "#endif\n").notes,
                ElementsAre())
        << condition;
  }
  EXPECT_THAT(adopted(kernel + "#ifndef HOST\n" + host + "#endif\n").notes, SizeIs(1));
}

TEST(AdoptShapes, TunablesThatResembleEachOtherAreNamed) {
  const Adoption adoption = adopted(R"(
__global__ void k(float* y, const float* x, int n) {
  __shared__ float buffer[blok_size_x];
  int i = blockIdx.x * block_size_x + threadIdx.x;
  for (int j = 0; j < block_size_x; j += tile_x) buffer[j] = tile_y;
  if (i < n) y[i] = x[i] + buffer[0];
}
)");
  EXPECT_THAT(
      adoption.notes,
      ElementsAre("line 3: the tunables blok_size_x and block_size_x have similar names: if "
                  "one name is a typo, correct the typo, and run adopt again"));
}

TEST(AdoptShapes, IntegersOfAnySizeAndComplexNumbersHaveTypes) {
  const Adoption adoption = adopted(R"(
#include <cuComplex.h>
__global__ void gather(cuComplex* out, const cuComplex* table, const long long* index,
                       unsigned long* total, const short* a, const uint16_t* b, const uint32_t* c,
                       const std::int64_t count, bool clip, __half gain, nv_bfloat16 bias,
                       char c0) {
  const long long i = blockIdx.x * (long long)block_size_x + threadIdx.x;
  if (i < count) { out[i] = table[index[i]]; total[i] = a[i] + b[i] + c[i]; }
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("type       out cf32\n"), HasSubstr("type       table cf32\n"),
                    HasSubstr("type       index s64\n"), HasSubstr("type       total u64\n"),
                    HasSubstr("type       a s16\n"), HasSubstr("type       b u16\n"),
                    HasSubstr("type       c u32\n"), HasSubstr("scalar     clip bool = 1"),
                    HasSubstr("scalar     gain f16 = 1"), HasSubstr("scalar     bias bf16 = 1"),
                    HasSubstr("scalar     c0 s8 = 1")));
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("operand    index in: count"), HasSubstr("if these are indices, add"),
                    HasSubstr("right      total exact"), HasSubstr("double2* out"),
                    HasSubstr("const long long* index"), HasSubstr("unsigned long long* total"),
                    HasSubstr("bool clip"), HasSubstr("float gain"), HasSubstr("(float) gain,"),
                    HasSubstr("(float) bias, c0")));
  EXPECT_THAT(
      adoption.adopted.text,
      HasSubstr(
          "args     out, table, index, total, a, b, c, (long long) count, clip, gain, bias,"));
}

TEST(AdoptShapes, DigraphsAreTheSignsThatTheyStandFor) {
  const Adoption adoption = adopted(R"(%:define WIDTH 3
%:  ifndef block_size_x
%:  define block_size_x 64
%:endif
__constant__ float w<:WIDTH:>;
namespace a { struct B {}; }
template <class T> struct C {};
__global__ void k_naive(float* y, const float* x, int n) <%
  int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) y<:i:> = x<:i:>;
%>
__global__ void k(float* y, const float* x, int n) <%
  C<::a::B> c;
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) <% y<:i:> += x<:i:> * w<:0:>; %>
%>
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ operation  k\n//@ tune       block_size_x = 32 64* 128 256 512 "
                              "1024\n//@ require"),
                    HasSubstr("//@   grid     ceil_div(n, block_size_x) ")));
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("operand    y inout: n "), HasSubstr("operand    w in: 3\n"),
                    HasSubstr("reference  k_naive "), EndsWith("x<:i:>;\n%>\n")));
}

TEST(AdoptShapes, AScalarOfTheTemplatesTypeHasOneType) {
  const Adoption adoption = adopted(R"(
template <typename T, typename S>
__global__ void saxpy(T* y, const T* x, T a, S b, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] += a * x[i] + b;
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("type       y f32 "), HasSubstr("type       x f32 "),
                    HasSubstr("CHECK: list only one type: T is also the type"),
                    HasSubstr("scalar     a f32 = 1 "), HasSubstr("scalar     b f32 = 1 "),
                    Not(HasSubstr("f64 "))));
  EXPECT_THAT(adoption.adopted.text, AllOf(HasSubstr("//@ types      y=f32 x=y\n"),
                                           HasSubstr("//@ launch     saxpy<y, float>\n"),
                                           HasSubstr("//@   args     y, x, a, b, n\n")));
}

TEST(AdoptShapes, OfTwoAliasesTheOneThatIsCompiledCounts) {
  const auto type_of = [](const std::string& declarations) {
    const std::string text = adopted(declarations +
                                     "\n__global__ void k(real* y, int n) {\n"
                                     "  int i = blockIdx.x * block_size_x + threadIdx.x;\n"
                                     "  if (i < n) y[i] = 0;\n}\n")
                                 .operation.text;
    const auto at = text.find("type       y ");
    return text.substr(at + 13, text.find_first_of(" \n", at + 13) - at - 13);
  };
  const std::string typedefs = "typedef double real;\n#else\ntypedef float real;\n#endif";
  EXPECT_EQ(type_of("#ifdef USE_DOUBLE\n" + typedefs), "f32");
  EXPECT_EQ(type_of("#if defined(USE_DOUBLE)\n" + typedefs), "f32");
  EXPECT_EQ(type_of("#ifndef USE_FLOAT\n" + typedefs), "f64");
  EXPECT_EQ(type_of("#ifndef kernel_tuner\n" + typedefs), "f32");
  EXPECT_EQ(type_of("#define USE_DOUBLE\n#ifdef USE_DOUBLE\n" + typedefs), "f64");
  EXPECT_EQ(type_of("#include \"config.h\"\n#ifdef USE_DOUBLE\n" + typedefs), "f64")
      << "the header may define it";
  EXPECT_EQ(type_of("#ifdef USE_DOUBLE\nusing real = double;\n#else\nusing real = float;\n#endif"),
            "f32");
  EXPECT_EQ(type_of("#ifdef HALF\n#define real half\n#elif defined(DOUBLE)\n#define real double\n"
                    "#else\n#define real float\n#endif"),
            "f32");
}

TEST(AdoptShapes, ManyPointersOfOneDeclarationTakeNoLongerThanTheirNumber) {
  constexpr int kPointers = 20000;
  std::string source =
      "__global__ void k(float* y, const float* x, int n) {\n  const float *a0 = x";
  for (int i = 1; i < kPointers; ++i) source += fmt::format(", *a{} = x", i);
  source += ";\n  if (threadIdx.x < n) y[threadIdx.x] = a1[threadIdx.x];\n}\n";
  const auto start = std::chrono::steady_clock::now();
  const Adoption adoption = adopted(source);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_THAT(adoption.operation.text, HasSubstr("//@ operand    y out"));
}

TEST(AdoptShapes, ACommaOfTemplateArgumentsEndsNoValue) {
  const Adoption adoption = adopted(R"(
__global__ void k(float* y, float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  auto* vectors = reinterpret_cast<Vector<float, 4>*>(x);
  if (i < n) y[i] = vectors[i].x;
}
)");
  EXPECT_THAT(adoption.operation.text, HasSubstr("//@ operand    x in"));
}

}  // namespace
}  // namespace kiln::tools
