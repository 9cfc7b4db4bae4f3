// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From a user's kernel to front matter that Kiln takes, once a person has filled in what is
// missing.
#include "tools/adopt/adopt.hpp"
#include "templates/launch/launch_planner.hpp"
#include "tests/unit/tools/adopted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "templates/catalog.hpp"
#include "templates/operation/operation.hpp"
#include "templates/render/renderer.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/tiny_template.hpp"
#include "tests/unit/tools/adopt_samples.hpp"

namespace kiln::tools {
namespace {

using test::error_text;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Replacements = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kFillInPurpose = "FILL_IN: say in one line what the operation computes";

/// What a person does: every part that is named has to be there.
std::string filled(std::string text, const Replacements& replacements) {
  for (const auto& [from, to] : replacements) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << "\nin\n" << text;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

/// A problem with the first types that a template takes.
Problem problem_of(const Operation& operation, std::vector<NamedValue> sizes) {
  Problem problem;
  problem.operation = operation.name;
  problem.sizes = std::move(sizes);
  for (const TypeSlotSpec& slot : operation.slots) {
    problem.types.push_back({slot.name, slot.types.front()});
  }
  return problem;
}

struct Loaded {
  std::string rendered;
  std::vector<LaunchGeometry> launches;
  std::vector<ArgumentPlan> plans;
  std::int64_t workspace = 0;
};

/// Both files as Kiln takes them, with the default configuration.
Loaded loaded(const Adoption& adoption, const Replacements& operation_marks,
              const Replacements& template_marks, const std::vector<NamedValue>& sizes) {
  const test::TemporaryFolder folder;
  folder.write(adoption.operation.name, filled(adoption.operation.text, operation_marks));
  folder.write(adoption.adopted.name, filled(adoption.adopted.text, template_marks));
  const auto catalog = Catalog::with_directories({folder.path()});
  const KernelTemplate& made = catalog.at(adoption.template_name);
  const Operation& operation = *find_operation(adoption.operation_name);
  const auto limits = limits_of_arch("90a").value();
  const Problem problem = problem_of(operation, sizes);
  EXPECT_EQ(made.why_unsupported(problem, limits), std::nullopt);
  const auto config = made.space(problem, limits).default_config().value();
  const LaunchPlanner planner(made, problem, limits);
  return {render(catalog, made, config, problem, limits).text, planner.geometry(config),
          planner.argument_plans(config), planner.workspace_bytes(config)};
}

TEST(Adopt, WhatIsDefinedForBuildsWithoutATunerIsTuned) {
  const auto adoption = adopted(R"(#ifndef kernel_tuner
  #define block_size_x 128
  #define tile_size_x 1
#else
  #define other 5
#endif
extern "C" __global__ void k(float* y, const float* x, int n) {
  int i = blockIdx.x * block_size_x * tile_size_x + threadIdx.x;
  for (int t = 0; t < tile_size_x; ++t, i += block_size_x)
    if (i < n) y[i] = x[i];
}
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       block_size_x = "), HasSubstr(" 128* "),
                    HasSubstr("//@ tune       tile_size_x = 1*"),
                    Not(HasSubstr("tune       other")), HasSubstr("\n#ifndef kernel_tuner\n")));
}

TEST(Adopt, APlainKernelNeedsLittle) {
  const Adoption adoption = adopted(test::kVectorAddSource);
  EXPECT_EQ(adoption.operation_name, "vector_add");
  EXPECT_EQ(adoption.template_name, "vector_add_kernel");
  EXPECT_EQ(adoption.adopted.text,
            R"(//@ template   vector_add_kernel
//@ purpose    The unchanged kernel of file.cu.
//@ operation  vector_add
//@ tune       block_size_x = 32 64 128* 256 512 1024
//@ require    block_size_x <= device.max_threads
//@ launch     vector_add
//@   grid     ceil_div(n, block_size_x)      // CHECK: number of blocks
//@   block    block_size_x
//@   args     c, a, b, n

)" + std::string(test::kVectorAddSource));
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("//@ size       n 1..2147483647\n"), HasSubstr("//@ operand    c out: n "),
            HasSubstr("//@ operand    a in: n "), HasSubstr("//@ ragged     n=4097\n"),
            HasSubstr("vector_add_reference(double* c, const double* a, const double* b, "
                      "int n) {\n")));
  const auto result = loaded(adoption,
                             {{kFillInPurpose, "A sum"},
                              {"c FILL_IN", "c bound 1 of f32"},
                              {"flops      FILL_IN", "flops      n"},
                              {"reference  FILL_IN", "reference  vector_add_reference"},
                              {"// FILL_IN: c[at] from a, b", "c[at] = a[at] + b[at];"}},
                             {}, {{"n", 1000}});
  EXPECT_EQ(result.launches[0].grid[0], 8U);
  EXPECT_EQ(result.launches[0].block[0], 128U);
  EXPECT_THAT(result.plans[0].parameters, ElementsAre(0, 8, 16, 24));
  EXPECT_THAT(result.rendered, HasSubstr("#define block_size_x 128"));
}

TEST(Adopt, TheDocumentationShowsWhatComesOut) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/docs/reference/operations.md");
  const std::string page{std::istreambuf_iterator<char>(stream), {}};
  const std::string source = test::kVectorAddSource;
  const Adoption adoption = adopt("vector_add.cu", source, {});
  const auto& made = adoption.adopted.text;
  const std::string front = made.substr(0, made.size() - source.size() - 1);
  for (const auto& text : {source, adoption.operation.text, front}) {
    EXPECT_NE(page.find("```c++\n" + text + "```\n"), std::string::npos) << text;
  }
}

TEST(Adopt, AGuessThatNeedsMoreRoomGoesOnBelow) {
  FrontLines lines;
  lines.add("operation", "wide");
  lines.add("purpose", "A test");
  lines.add("size", "n");
  lines.add("type", "x f32");
  lines.add("operand", "x in: n", std::string(40, 'a') + " " + std::string(40, 'b'));
  lines.add("flops", "n", "CHECK: " + std::string(40, 'c') + " " + std::string(40, 'd'));
  const std::string text = lines.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 8) << text;
  const Operation operation = Operation::parse("wide.cu", text);
  EXPECT_EQ(operation.operands[0].comment, std::string(40, 'a') + " " + std::string(40, 'b'));
  EXPECT_EQ(operation.cost.flops->text(), "n") << "a comment adds nothing to the text";
  ASSERT_EQ(lines.marks().size(), 1U);
  EXPECT_EQ(lines.marks()[0].line, 7);
  EXPECT_TRUE(lines.marks()[0].is_check);
}

TEST(Adopt, WhatIsMissingIsRefusedByItsLine) {
  const Adoption adoption = adopted(test::kVectorAddSource);
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [&] { (void)Operation::parse("vector_add.cu", adoption.operation.text); }),
              AllOf(StartsWith("vector_add.cu:2:16: "), HasSubstr("FILL_IN"),
                    HasSubstr(" the first of 4 in this file\n")));
  const std::string named = filled(adoption.operation.text, {{kFillInPurpose, "A sum"}});
  EXPECT_THAT(
      error_text(ErrorKind::template_, [&] { (void)Operation::parse("vector_add.cu", named); }),
      StartsWith(
          "vector_add.cu:10:18: replace this FILL_IN, the first of 3 in this file: "
          "tolerance: \"exact\", \"within 1e-5 1e-6\" (relative, absolute) or \"bound 16 of f32\" "
          "(16 unit roundoffs)\n"));
  std::vector<int> lines;
  for (const auto& mark : adoption.operation.marks) {
    if (!mark.is_check) lines.push_back(mark.line);
  }
  EXPECT_THAT(lines, ElementsAre(2, 10, 15, 17));
  EXPECT_THAT(adoption_summary(adoption, "my kernels"),
              AllOf(HasSubstr("  vector_add.cu:15: floating-point operations of one run"),
                    HasSubstr("  vector_add_kernel.cu:7: number of blocks\n"),
                    HasSubstr("kiln operations vector_add --template-path 'my kernels'\n")));
}

TEST(Adopt, AConvolutionWithConstantMemory) {
  const Adoption adoption = adopted(test::kConvolutionSource);
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       block_size_x = 16 32* 64 128 256\n"
                              "//@ tune       block_size_y = 1 2 4* 8 16\n"),
                    HasSubstr("//@ tune       tile_size_x = 1* 2 4 8\n"),
                    HasSubstr("//@ tune       filter_unroll = 1* 2 4 8\n"),
                    HasSubstr("//@ tune       use_padding = 0* 1\n"),
                    HasSubstr("//@ require    block_size_x * block_size_y <= device.max_threads\n"),
                    HasSubstr("//@   grid     ceil_div(width, block_size_x * tile_size_x),\n"
                              "//@            ceil_div(height, block_size_y * tile_size_y)"),
                    HasSubstr("//@   block    block_size_x, block_size_y\n"),
                    HasSubstr("//@ constant   d_filter = d_filter\n")));
  EXPECT_THAT(adoption.operation.text, HasSubstr("//@ operand    d_filter in: 7 * 7\n"));
  EXPECT_THAT(adoption.adopted.text, Not(HasSubstr("filter_width ="))) << "the file defines it";
  EXPECT_THAT(adoption.adopted.text, Not(HasSubstr("clamped ="))) << "a function";
  EXPECT_EQ(adoption.operation_name, "convolution");
  EXPECT_EQ(adoption.template_name, "convolution_kernel");
  const auto result =
      loaded(adoption,
             {{kFillInPurpose, "A filter slides over an image"},
              {"input in: FILL_IN", "input in: height + 6, width + 6"},
              {"output FILL_IN", "output bound 64 of f32"},
              {"flops      FILL_IN", "flops      98 * height * width"},
              {"reference  FILL_IN", "reference  convolution_reference"}},
             {{"tile_size_y = 1* 2", "tile_size_y = 1 2*"}}, {{"height", 100}, {"width", 200}});
  EXPECT_EQ(result.launches[0].grid[0], 7U);
  EXPECT_EQ(result.launches[0].grid[1], 13U);
}

TEST(Adopt, AStencilHasItsPlainTwinAsReference) {
  const Adoption adoption = adopted(test::kStencilSource);
  EXPECT_THAT(adoption.kernels, ElementsAre("heat::stencil"));
  EXPECT_EQ(adoption.reference, "heat::stencil_naive");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       loop_order = 0* 1\n"),
                    HasSubstr("//@   block    block_size_x, block_size_y, block_size_z\n"),
                    HasSubstr("ceil_div(nz, block_size_z * tile_size_z)"),
                    HasSubstr("//@   args     next, now, nx, ny, nz, rate\n")));
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("//@ operand    next out: nz, ny, nx "),
                    HasSubstr("//@ operand    now in: nz, ny, nx "),
                    HasSubstr("//@ scalar     rate f32 = 1 "),
                    HasSubstr("//@ reference  heat::stencil_naive "),
                    HasSubstr("//@   grid     ceil_div(nx, 32), ceil_div(ny, 4), ceil_div(nz, 1)"),
                    HasSubstr("//@   block    32, 4, 1\n"), HasSubstr("/* The plain one. */"),
                    Not(HasSubstr("tile_size_z"))));
  const auto result = loaded(adoption,
                             {{kFillInPurpose, "A step"},
                              {"next FILL_IN", "next bound 4 of f32"},
                              {"flops      FILL_IN", "flops      2 * nx * ny * nz"}},
                             {}, {{"nx", 65}, {"ny", 9}, {"nz", 3}});
  EXPECT_EQ(result.launches[0].grid, (std::array<std::uint32_t, 3>{3, 3, 3}));
  EXPECT_THAT(result.plans[0].parameters, ElementsAre(0, 8, 16, 20, 24, 28));
}

TEST(Adopt, ATwinThatTakesSomethingElseIsMarked) {
  const std::string source = std::string(test::kVectorAddSource) +
                             "__global__ void add_reference(double* wide, int n) { *wide = n; }\n";
  const Adoption adoption = adopted(source.c_str());
  EXPECT_EQ(adoption.reference, "add_reference");
  EXPECT_THAT(
      adoption.operation.text,
      HasSubstr("//@   args     FILL_IN, n                     // the arguments of the reference"));
}

TEST(Adopt, ComplexNumbersInPlaceByATemplate) {
  const Adoption adoption = adopted(test::kComplexSource);
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("//@ type       signal f32\n"), HasSubstr("//@ type       factors f32 f64 "),
            HasSubstr("//@ operand    signal inout: n, 2 "),
            HasSubstr("inout: the kernel also reads this"),
            HasSubstr("const long long elements = static_cast<long long>(n) * 2;")));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       block_size_x = 32 64 128 192* 256 512 1024\n"),
                    HasSubstr("//@ tune       per_thread = 1 2* 4 8\n"),
                    HasSubstr("//@ tune       check = 0 1*\n"),
                    HasSubstr("//@ launch     complex_scale<factors, per_thread, check>\n"),
                    HasSubstr("//@   grid     ceil_div(n, block_size_x * per_thread) "),
                    HasSubstr("//@   args     signal, factors, (unsigned) n, gain\n"),
                    Not(HasSubstr("tune       block_count"))));
  EXPECT_THAT(adoption.notes, ElementsAre(HasSubstr("main (line 21)"), HasSubstr("line 24")))
      << "kernels may have <cstdio>";
  const std::string of_host = filled(test::kComplexSource, {{"<cstdio>", "<iostream>"}});
  EXPECT_THAT(
      adopted(of_host.c_str()).notes,
      ElementsAre(HasSubstr("<iostream>"), HasSubstr("main (line 21)"), HasSubstr("line 24")));
  const auto result = loaded(adoption,
                             {{kFillInPurpose, "Numbers times factors"},
                              {"factors in: n", "factors in: 2 * n"},
                              {"signal FILL_IN", "signal within 1e-5 1e-6"},
                              {"flops      FILL_IN", "flops      2 * n"},
                              {"reference  FILL_IN", "reference  complex_scale_reference"}},
                             {{"#include <cstdio>\n", ""}}, {{"n", 1000}});
  EXPECT_EQ(result.launches[0].grid[0], 3U);
  EXPECT_THAT(result.rendered, HasSubstr("#define per_thread 2"));
}

TEST(Adopt, PartialSumsGoThroughTheWorkspace) {
  const Adoption adoption = adopted(test::kSumSource, {{}, "block_sum"});
  EXPECT_EQ(adoption.template_name, "sum_blocks");
  EXPECT_THAT(adoption.kernels, ElementsAre("sum_blocks", "sum_partials"));
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("//@ operand    sum out: 1 "), HasSubstr("//@ operand    input in: n "),
            Not(HasSubstr("partials")), Not(HasSubstr("size       count"))));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       grid_blocks = 64 128 256* 512 1024 2048\n"),
                    HasSubstr("//@ workspace  4 * grid_blocks "),
                    HasSubstr("//@   args     workspace, input, n\n"),
                    HasSubstr("//@   args     sum, workspace, grid_blocks "),
                    Not(HasSubstr("BlockReduce ="))));
  const auto result = loaded(adoption,
                             {{kFillInPurpose, "The sum"},
                              {"sum FILL_IN", "sum bound 64 of f32"},
                              {"flops      FILL_IN", "flops      n"},
                              {"reference  FILL_IN", "reference  block_sum_reference"}},
                             {}, {{"n", 1000000}});
  ASSERT_EQ(result.launches.size(), 2U);
  EXPECT_EQ(result.launches[0].grid[0], 256U);
  EXPECT_EQ(result.launches[1].grid[0], 1U);
  EXPECT_EQ(result.workspace, 1024);
}

TEST(Adopt, OneOfSeveralKernelsIsNamed) {
  const std::string two = std::string(test::kVectorAddSource) +
                          "__global__ void scale(float* x, int n) { x[threadIdx.x] *= 2.0f; }\n";
  EXPECT_THAT(error_text(ErrorKind::usage, [&] { (void)adopted(two.c_str()); }),
              StartsWith("kernels/file.cu: this file defines 2 kernels (vector_add, scale). Next: "
                         "choose a kernel, e.g. with --kernel vector_add"));
  EXPECT_EQ(adopted(two.c_str(), {{"scale"}, ""}).operation_name, "scale");
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)adopted(two.c_str(), {{"vector_ad"}, ""});
                         }),
              AllOf(HasSubstr("no kernel \"vector_ad\" is defined in this file"),
                    HasSubstr("\"vector_add\"?")));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)adopted(two.c_str(), {{"scale", "scale"}, ""});
                         }),
              HasSubstr("--kernel scale is given twice"));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [&] {
                           (void)adopted(two.c_str(), {{"scale"}, "a b"});
                         }),
              HasSubstr("--operation a b: this name is not valid"));
}

TEST(Adopt, WhatCannotBeAdoptedIsExplained) {
  EXPECT_THAT(error_text(ErrorKind::usage, [] { (void)adopted("__global__ void f(int n);\n"); }),
              StartsWith("kernels/file.cu: this file defines no __global__ function"));
  EXPECT_THAT(error_text(ErrorKind::usage,
                         [] { (void)adopted("//@ template x\n__global__ void f() {}\n"); }),
              HasSubstr("already has front matter"));
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [] { (void)adopted("\n__global__ void f() {\n  if (1) {\n}\n"); }),
              StartsWith("kernels/file.cu:2: this \"{\" is not closed"));
  EXPECT_THAT(error_text(ErrorKind::template_, [] { (void)adopted("int x;\n}\n"); }),
              StartsWith("kernels/file.cu:2: this \"}\" closes nothing"));
}

TEST(Adopt, WhatHasNoPlaceInFrontMatterIsMarked) {
  const Adoption adoption = adopted(R"(struct Shape { int rows, cols; };
__global__ void odd(Shape* out, const float* device, Shape shape, int& left,
                    const bool on, int type, int n) {
  extern __shared__ float buffer[];
  out[blockIdx.x] = device[on ? type : n] + buffer[magic];
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("//@ type       out FILL_IN "),
                    HasSubstr("an element type with the same size and bit format\n"),
                    HasSubstr("//@ operand    out out: FILL_IN "),
                    HasSubstr("operand    device_ in"), HasSubstr("type_ ")));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@ tune       magic = FILL_IN "),
                    HasSubstr("//@   grid     FILL_IN "), HasSubstr("//@   block    FILL_IN "),
                    HasSubstr("//@   smem     FILL_IN                        // bytes of dynamic "
                              "shared memory for buffer[]\n"),
                    HasSubstr("args     out, device_, {FILL_IN}, FILL_IN, on, type_, n")));
}

TEST(Adopt, AKernelWhoseBlocksWaitForEachOtherIsCooperative) {
  const Adoption adoption = adopted(R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void two_phase(float* out, float* partial, const float* in, int n) {
  cg::grid_group grid = cg::this_grid();
  float sum = 0.0f;
  for (int i = blockIdx.x * block_size_x + threadIdx.x; i < n; i += gridDim.x * block_size_x) {
    sum += in[i];
  }
  partial[blockIdx.x] = sum;
  grid.sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = partial[gridDim.x - 1];
}
)");
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@   grid     min(ceil_div(n, block_size_x), device.sm_count) "),
                    HasSubstr("//@   cooperative")));
  const Adoption other = adopted(
      "__global__ void f(float* y, int n) {\n"
      "  auto rank = cooperative_groups::this_grid().thread_rank();\n"
      "  if (rank < n) y[rank] = 0;\n}\n");
  EXPECT_THAT(other.adopted.text, Not(HasSubstr("cooperative "))) << "it waits for nobody";
}

TEST(Adopt, BlocksMayWaitForEachOtherInWhatAKernelCalls) {
  const auto adopted_with = [](const std::string& declarations, const std::string& statement) {
    const std::string source = declarations +
                               "\n__global__ void f(float* y, int n) {\n"
                               "  cg::grid_group g = cg::this_grid();\n"
                               "  for (int i = g.thread_rank(); i < n; i += g.size()) y[i] = 0;\n" +
                               statement + "\n}\n";
    return adopted(source.c_str()).adopted.text;
  };
  for (const auto& [declarations, statement] : Replacements{
           {"__device__ void all(cg::grid_group& g) { g.sync(); }", "all(g);"},
           {"__device__ void all(cg::grid_group& g) { cg::sync(g); }\n"
            "__device__ void twice(cg::grid_group g) { all(g); all(g); }",
            "twice(g);"},
           {"template <class G>\n__device__ inline void all(const G& g) { g.sync(); }", "all(g);"},
           {"struct Wait {\n  cg::grid_group g;\n  __device__ void all() { g.sync(); }\n};",
            "Wait{g}.all();"},
           {"#define ALL cg::this_grid().sync()", "ALL;"},
       }) {
    EXPECT_THAT(
        adopted_with(declarations, statement),
        AllOf(HasSubstr("//@   cooperative "), HasSubstr("//@   grid     device.sm_count ")))
        << declarations;
  }
  for (const auto& [declarations, statement] : Replacements{
           {"__device__ void all(cg::grid_group& g) { g.sync(); }", ""},
           {"", "auto block = cg::this_thread_block(); block.sync();"},
           {"__device__ void all(const cg::thread_block_tile<32>& t) { t.sync(); }",
            "all(cg::tiled_partition<32>(cg::this_thread_block()));"},
       }) {
    EXPECT_THAT(adopted_with(declarations, statement), Not(HasSubstr("//@   cooperative ")))
        << declarations << statement;
  }
}

TEST(Adopt, APointerMayHaveAnAlias) {
  const Adoption adoption = adopted(R"(typedef const float* Input;
typedef float real, *Output;
using Table = Output const*;
__global__ void f(Output y, const Input x, Table t, real (*one), int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] = x[i] + t[0][i] + one[i];
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("type       y f32"), HasSubstr("operand    y out: n "),
                    HasSubstr("operand    x in: n "), HasSubstr("operand    one in: n "),
                    HasSubstr("operand    t in: "), HasSubstr("; pointers")));
  EXPECT_THAT(adoption.adopted.text, HasSubstr("//@   args     y, x, t, one, n\n"));
}

TEST(Adopt, ConstantsKeepTheirNamespaces) {
  const Adoption adoption = adopted(R"(namespace phys {
__constant__ float coeff[8];
namespace { __constant__ float hidden; }
}
__global__ void poly(float* out, const float* in, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = in[i] * phys::coeff[0] + phys::hidden;
}
)");
  EXPECT_THAT(adoption.adopted.text, HasSubstr("//@ constant   phys::coeff = coeff\n"));
  EXPECT_THAT(adoption.operation.text, HasSubstr("//@ operand    coeff in: 8\n"));
  EXPECT_THAT(adoption.notes, ElementsAre(HasSubstr("line 3: hidden has internal linkage")));
}

TEST(Adopt, ConstantsAreReadAsTheyAreDeclared) {
  const Adoption adoption = adopted(R"(#define CONSTANT __constant__
constexpr int kTaps = 9;
enum { kRows = 2, kCols = kRows * 2 };
static const unsigned kBits = 1 << 3;
__constant__ float a[kTaps * kTaps], b[kRows][kCols] = {0}, c, fixed[2] = {1, 2};
alignas(16) __constant__ float d[(kBits)];
__device__ __constant__ __align__(8) unsigned char e[4] = {}, f[2];
[[maybe_unused]] __constant__ const __half g[3]{};
CONSTANT int h[5];
__constant__ cuda::std::complex<float> z[2];
__global__ void k(float* y, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] = a[0] + b[1][1] + c;
}
)");
  EXPECT_THAT(
      adoption.operation.text,
      AllOf(HasSubstr("operand    a in: 9 * 9\n"), HasSubstr("operand    b in: 2, (2 * 2)\n"),
            HasSubstr("operand    c in: 1\n"), HasSubstr("operand    d in: (8)\n"),
            HasSubstr("type       d f32\n"), HasSubstr("operand    e in: 4\n"),
            HasSubstr("operand    f in: 2\n"), HasSubstr("type       e u8\n"),
            HasSubstr("operand    g in: 3\n"), HasSubstr("type       g f16\n"),
            HasSubstr("type       h s32\n"), Not(HasSubstr("fixed"))));
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("type       z cf32\n"), HasSubstr("operand    z in: 2\n")));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("constant   b = b\n"), HasSubstr("constant   d = d\n")));
  EXPECT_THAT(adoption.notes, ElementsAre());
}

TEST(Adopt, ConstantsThatKilnCannotFillAreNamed) {
  const Adoption adoption = adopted(R"(struct P { float a; int b; };
__constant__ P one;
__constant__ struct { float x; } two[4];
template <class T> __constant__ T three[2];
__constant__ float four[2], *five;
__global__ void k(float* y, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  if (i < n) y[i] = one.a + two[0].x + three<float>[0] + five[0];
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("type       one FILL_IN "), HasSubstr("operand    one in: FILL_IN "),
                    HasSubstr("operand    four in: 2\n"), Not(HasSubstr("operand    three")),
                    Not(HasSubstr("operand    five"))));
  EXPECT_THAT(
      adoption.notes,
      ElementsAre(
          HasSubstr("line 2: one has the type P, but an operand holds numbers of a single type"),
          HasSubstr("line 3: two has the type struct"),
          HasSubstr("line 4: three is a variable template, which Kiln cannot fill"),
          HasSubstr("line 5: five is a pointer in constant memory")));
}

TEST(Adopt, PointersToPointersAreOperandsBehindThem) {
  const Adoption adoption = adopted(R"(extern "C" __global__
void batched_scale(float** out, const float* const* in, int batch, int n) {
  int i = blockIdx.x * block_size_x + threadIdx.x;
  int b = blockIdx.y;
  const float* row = in[b];
  if (b < batch && i < n) out[b][i] = 2.0f * row[i];
}
)");
  EXPECT_THAT(adoption.operation.text,
              AllOf(HasSubstr("//@ operand    out out: batch, n; pointers "),
                    HasSubstr("//@ operand    in in: batch, n; pointers ")));
  EXPECT_THAT(adoption.adopted.text, HasSubstr("//@   args     out, in, batch, n\n"));
}

TEST(Adopt, TextsAndCommentsAreNoCode) {
  const Adoption adoption = adopted(R"CU(// __global__ void no(int n) {
/* __global__ void no(int n) { */
static const char* kText = "__global__ void no() {";
static const char* kRaw = R"x(__global__ void no() { ")x";
#define LONG_MACRO(x) \
  { x {
namespace a { namespace {
template <class T> __device__ T twice(T x) { return x + x; }
}  // namespace
namespace b::c {
[[maybe_unused]] __global__ __launch_bounds__(128, 2) void yes(float y[], const float* x, int n) {
  const char brace = '{';
  for (auto i = blockIdx.x * 128u + threadIdx.x; i < n; i += gridDim.x * 128u) y[i] = twice(x[i]);
}
}
}
)CU");
  EXPECT_THAT(adoption.kernels, ElementsAre("a::b::c::yes"));
  EXPECT_THAT(adoption.adopted.text,
              AllOf(HasSubstr("//@   grid     ceil_div(n, 128) "), HasSubstr("//@   block    128 "),
                    Not(HasSubstr("tune"))));
}

TEST(AdoptLimits, AKernelOfManyParametersIsRefusedAtItsLine) {
  std::string source = "int before;\n__global__ void much(float* x";
  for (int i = 0; i < 100'000; ++i) source += ", int p" + std::to_string(i);
  source += ") { x[0] = p0; }\n";
  const std::string text = error_text(
      ErrorKind::template_, [&] { (void)adopt("kernels/file.cu", source, AdoptOptions{}); });
  EXPECT_THAT(text, AllOf(StartsWith("kernels/file.cu:2:1: "),
                          HasSubstr("\"much\" has 100001 parameters")));
}

TEST(AdoptLimits, ManyConstantsAreRefusedAtTheirLine) {
  std::string source = "__constant__ float c0";
  for (int i = 1; i < 200; ++i) source += ",\nc" + std::to_string(i);
  source += ";\n__global__ void f(float* x) { x[0] = c0; }\n";
  EXPECT_THAT(error_text(ErrorKind::template_, [&] { (void)adopted(source.c_str()); }),
              StartsWith("kernels/file.cu:129:1: c128 is one variable too many"));
}

}  // namespace
}  // namespace kiln::tools
