// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// NewcomersMistakes that newcomers make in a kernel of their own, one after the other, and what the
// program says of each: enough to mend it. docs/how-to/common-mistakes.md has the same table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/sandbox.hpp"
#include "tests/cli/user_template.hpp"

namespace kiln::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRowSumOperation = R"(//@ operation  row_sum
//@ purpose    The sum of each row
//@ size       rows 1..65536
//@ size       cols 1..65536
//@ type       y f32
//@ type       x f32
//@ operand    y out: rows
//@ operand    x in: rows, cols
//@ right      y within 1e-4 1e-3
//@ ragged     rows=3 cols=70
//@ flops      rows * cols
//@ reference  row_sum_reference
//@   grid     rows
//@   block    1
//@   args     y.f64, x.f64, cols
__global__ void row_sum_reference(double* y, const double* x, int cols) {
  double sum = 0;
  for (int i = 0; i < cols; ++i) sum += x[blockIdx.x * cols + i];
  y[blockIdx.x] = sum;
}
)";

constexpr const char* kRowSumKernel = R"(//@ template   row_sum_kernel
//@ purpose    A block a row
//@ operation  row_sum
//@ tune       block_size = 32* 64
//@ launch     row_sum
//@   grid     rows
//@   block    block_size

extern "C" __global__ void row_sum(float* y, const float* x, int rows, int cols) {
  __shared__ float sums[block_size];
  float sum = 0;
  for (int i = threadIdx.x; i < cols; i += block_size) sum += x[blockIdx.x * cols + i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < block_size; ++i) sum += sums[i];
    y[blockIdx.x] = sum;
  }
}
)";

/// One change of one of the two files, and what is then said.
struct NewcomersMistake {
  const char* name;
  const char* verb;
  const char* file;
  const char* right;
  const char* wrong;
  const char* message;  ///< also in docs/how-to/common-mistakes.md
};

const std::vector<NewcomersMistake> kNewcomersMistakes{
    {"WrongType", "tune", "kernel.cu", "const float* x", "const double* x",
     "kernel.cu:9: parameter 2 of row_sum is \"double*\""},
    {"BytesInPlaceOfTheType", "verify", "kernel.cu", "const float* x", "const unsigned char* x",
     "the type of the operand x (./row_sum.cu:6)"},
    {"WrongTypeOfASize", "verify", "kernel.cu", "int rows, int cols", "int rows, size_t cols",
     "\"args y, x, rows, (unsigned long long) cols\""},
    {"WrongTypeOfTheReference", "verify", "row_sum.cu", "double* y, const double* x",
     "double* y, const float* x",
     "parameter 2 of row_sum_reference is \"float*\", but the launch passes"},
    {"MissingBoundsCheck", "verify", "kernel.cu", "i < cols;", "i <= cols;",
     "past the end of operand x"},
    {"Race", "verify", "kernel.cu", "  if (threadIdx.x == 0) {", "  if (threadIdx.x < 2) {",
     "race"},
    {"GridTooSmall", "tune", "kernel.cu", "grid     rows", "grid     ceil_div(rows, 2)",
     "element 2: never written, expected"},
    {"GridOfZero", "tune", "kernel.cu", "grid     rows", "grid     rows / block_size",
     "grid.x \"rows / block_size\" is 0, so no block would run. Next: write "
     "ceil_div(rows, block_size), because \"/\" rounds down."},
    {"MisspeltTunable", "tune", "kernel.cu", "sums[block_size]", "sums[blok_size]",
     "kernel.cu:10: \"blok_size\""},
    {"MisspeltTunableInALaunch", "tune", "kernel.cu", "block    block_size", "block    blok_size",
     "\"block_size\"?"},
    {"MisspeltTunableInItsOwnLine", "verify", "kernel.cu", "tune       block_size",
     "tune       blok_size", "line 10 of the code and other \"//@\" lines use \"block_size\""},
    {"TunableThatTheKernelCallsOtherwise", "verify", "kernel.cu", "extern \"C\"",
     "#ifndef block_siz\n#define block_size 128\n#endif\nextern \"C\"",
     "the #ifndef above should test \"block_size\", but it tests \"block_siz\""},
    {"TunableDefinedAnew", "tune", "kernel.cu", "extern \"C\"",
     "#define block_size 128\nextern \"C\"", "this line redefines the tuned macro \"block_size\""},
    {"TunableDeclaredAnew", "tune", "kernel.cu", "extern \"C\"",
     "constexpr int block_size = 128;\nextern \"C\"",
     "a \"tune\" or \"let\" line declares \"block_size\", so Kiln defines a macro of this name"},
    {"TunableDeclaredWhereACompilerDecides", "verify", "kernel.cu", "extern \"C\"",
     "#if __CUDA_ARCH__ > 1\nconstexpr int block_size = 128;\n#endif\nextern \"C\"",
     "a \"tune\" or \"let\" line declares \"block_size\", so Kiln defines a macro of this name"},
    {"WrongReference", "tune", "row_sum.cu", "sum += x[", "sum += 2 * x[",
     "all configurations fail this rule"},
    {"ReferenceOutOfBounds", "tune", "row_sum.cu", "i < cols;", "i <= cols;",
     "operand x of the reference"},
    {"TightTolerance", "tune", "row_sum.cu", "within 1e-4 1e-3", "within 0 1e-9",
     "times the allowed error"},
    {"OtherNumberOfParameters", "verify", "kernel.cu", "int rows, int cols",
     "int rows, int cols, int more", "none: the kernel did not run"},
    {"MissingBarrier", "verify", "kernel.cu", "  __syncthreads();\n", "",
     "nothing orders the two accesses"},
    {"WrongInclude", "tune", "kernel.cu", "extern \"C\"", "#include <vector>\nextern \"C\"",
     "there is no header <vector>"},
    {"HostFunction", "tune", "kernel.cu", "extern \"C\"",
     "float twice(float x) { return 2 * x; }\nextern \"C\"", "\"twice\" is a host function"},
    {"HostFunctionOfTheReference", "verify", "row_sum.cu", "__global__",
     "float twice(float x) { return 2 * x; }\n__global__", "\"twice\" is a host function"},
    {"HostLibrary", "verify", "kernel.cu", "  float sum = 0;",
     "  float sum = 0;\n  std::vector<float> all(cols);", "\"std::vector\""},
    {"MisspeltInclude", "verify", "kernel.cu", "extern \"C\"",
     "#include <cuda_fp61.h>\nextern \"C\"",
     "or among the headers of CUDA and Kiln. Next: if you mean <cuda_fp16.h>, write that name"},
    {"UnknownSize", "verify", "kernel.cu", "grid     rows", "grid     m",
     "unknown name \"m\"; there are rows, cols, block_size"},
};

// In one sandbox, so that what all of them need is compiled once.
TEST(NewcomersMistakes, AreToldSoThatTheyCanBeMended) {
  const Sandbox sandbox;
  for (const NewcomersMistake& mistake : kNewcomersMistakes) {
    sandbox.write("row_sum.cu", kRowSumOperation);
    sandbox.write("kernel.cu", kRowSumKernel);
    sandbox.write(mistake.file, replaced(sandbox.read(mistake.file), mistake.right, mistake.wrong));
    Words words{mistake.verb,      "row_sum", "--rows",   "4",
                "--cols",          "100",     "--device", "emulated:h200",
                "--template-path", ".",       "--db",     std::string(mistake.name) + ".db"};
    if (words.front() == "tune") words.insert(words.end(), {"--budget", "10m"});
    const auto run = sandbox.run(words);
    EXPECT_NE(run.exit_code, 0) << mistake.name << run.out;
    EXPECT_THAT(run.out + run.err, HasSubstr(mistake.message)) << mistake.name;
  }
}

cli::Run judged(const Sandbox& sandbox, const std::string& verb, const Words& more = {}) {
  return sandbox.run(with({verb, "row_sum", "--rows", "4", "--cols", "100", "--device",
                           "emulated:h200", "--template-path", "."},
                          more));
}

// The device is in order: it is the kernel, or the reference, that is wrong.
TEST(NewcomersFaults, AreNoFaultsOfTheDevice) {
  const Sandbox sandbox;
  sandbox.write("row_sum.cu", kRowSumOperation);
  sandbox.write("kernel.cu", replaced(kRowSumKernel, "i < cols;", "i <= cols;"));
  const auto kernel = judged(sandbox, "run", {"--mode", "default_only"});
  EXPECT_EQ(kernel.exit_code, 1) << kernel.err;
  EXPECT_THAT(kernel.err, HasSubstr("operand x (1600 bytes)"));
  EXPECT_THAT(kernel.err, HasSubstr("Next: `kiln verify row_sum --rows 4 --cols 100 --template "
                                    "row_sum_kernel --set block_size=32"));

  sandbox.write("row_sum.cu", replaced(kRowSumOperation, "i < cols;", "i <= cols;"));
  const auto reference = judged(sandbox, "verify");
  EXPECT_EQ(reference.exit_code, 1) << reference.err;
  EXPECT_THAT(reference.err, AllOf(HasSubstr("./row_sum.cu:12: the reference row_sum_reference"),
                                   HasSubstr("out_of_bounds at row_sum.cu:18")));
  EXPECT_THAT(reference.err, HasSubstr("operand x of the reference"));
  EXPECT_THAT(reference.err, HasSubstr("Next: correct this kernel"));
}

TEST(NewcomersFaults, AnApplicationIsToldOfHostCode) {
  const Sandbox sandbox;
  sandbox.write("row_sum.cu", kRowSumOperation);
  sandbox.write("kernel.cu", replaced(kRowSumKernel, "  float sum = 0;",
                                      "  float sum = 0;\n  fprintf(stderr, \"row\");"));
  EXPECT_THAT(judged(sandbox, "run", {"--mode", "default_only"}).err,
              AllOf(HasSubstr("./kernel.cu:12: "), HasSubstr("\"stderr\"")));
}

TEST(NewcomersFaults, AGridThatIsFarTooLargeIsRemarkedAndNoFaster) {
  const Sandbox sandbox;
  sandbox.write("row_sum.cu", kRowSumOperation);
  const std::string guarded = replaced(kRowSumKernel, "  float sum = 0;",
                                       "  if (blockIdx.x >= rows) return;\n  float sum = 0;");
  const auto time_with = [&](const std::string& grid) {
    sandbox.write("kernel.cu", replaced(guarded, "grid     rows", "grid     " + grid));
    const auto tuned = judged(sandbox, "tune", {"--json", "--set", "block_size=32"});
    return nlohmann::json::parse(tuned.out)["results"]
        .at(0)["best"]["timing"]["median_ns"]
        .get<double>();
  };
  const double right_ns = time_with("rows");
  EXPECT_THAT(judged(sandbox, "verify").out, Not(HasSubstr("too large?")));
  EXPECT_GE(time_with("rows * 64"), 0.95 * right_ns);
  EXPECT_THAT(judged(sandbox, "tune", {"--set", "block_size=32"}).out,
              HasSubstr("; 252 of 256 blocks of row_sum"));
  const auto verified = judged(sandbox, "verify");
  EXPECT_EQ(verified.exit_code, 0) << verified.out;
  EXPECT_THAT(verified.out, HasSubstr("remark    252 of 256 blocks of row_sum "));
  EXPECT_THAT(judged(sandbox, "verify", {"--all"}).out,
              HasSubstr("remark    block_size=32: 252 of 256 blocks of row_sum"));
  sandbox.write("kernel.cu", replaced(guarded, "grid     rows", "grid     rows + 2"));
  EXPECT_THAT(judged(sandbox, "verify").out, HasSubstr("2 of 6 blocks of row_sum"));
}

TEST(NewcomersPage, HasEveryMessage) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/docs/how-to/common-mistakes.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const NewcomersMistake& mistake : kNewcomersMistakes) {
    EXPECT_THAT(page, HasSubstr(mistake.message)) << mistake.name;
  }
}

}  // namespace
}  // namespace kiln::cli
