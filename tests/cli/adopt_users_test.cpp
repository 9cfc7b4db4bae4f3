// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernels of the kinds that people bring from other tuners: `kiln adopt` leaves few places to fill
// in, and what it proposes is verified on the emulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

using ::testing::HasSubstr;
using Replacements = std::vector<std::pair<std::string, std::string>>;

struct UserKernel {
  std::string name;              ///< of the file in adopted/, and of the test
  Words flags;                   ///< of adopt
  int fill_ins;                  ///< in both files
  Replacements operation, made;  ///< what a person writes beside what all need
  std::string reference;         ///< the body of the loop over elements
  Words problem;
};

void PrintTo(const UserKernel& kernel, std::ostream* out) {
  *out << kernel.name;
}

std::string source_file(const std::string& name) {
  std::ifstream stream(std::string(KILN_SOURCE_DIR) + "/tests/cli/adopted/" + name);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string with_parts(std::string text, const Replacements& replacements) {
  for (const auto& [from, to] : replacements) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from << "\nin\n" << text;
    if (at != std::string::npos) text.replace(at, from.size(), to);
  }
  return text;
}

class AdoptUsers : public ::testing::TestWithParam<UserKernel> {};

TEST_P(AdoptUsers, TheProposalIsVerifiedOnceItIsFilledIn) {
  const UserKernel& kernel = GetParam();
  const Sandbox sandbox;
  sandbox.write("kernel.cu", source_file(kernel.name + ".cu"));
  for (const auto& flag : kernel.flags) {
    if (flag.ends_with(".json")) sandbox.write(flag, source_file(flag));
  }
  const auto run =
      sandbox.run(with({"adopt", "kernel.cu", "--operation", "wanted", "--json"}, kernel.flags));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const auto made = nlohmann::json::parse(run.out);
  EXPECT_EQ(made["operation"]["fill_in"].size() + made["template"]["fill_in"].size(),
            static_cast<std::size_t>(kernel.fill_ins))
      << run.err;
  std::string operation =
      with_parts(made["operation"]["text"],
                 {{"FILL_IN: say in one line what the operation computes", "A test"},
                  {"flops      FILL_IN", "flops      1000"},
                  {"reference  FILL_IN", "reference  wanted_reference"}});
  operation =
      std::regex_replace(operation, std::regex("(right +\\w+) FILL_IN"), "$1 within 1e-4 1e-3");
  operation = with_parts(operation, kernel.operation);
  // The largest of the proposed sizes takes the emulated GPU too long.
  operation = std::regex_replace(operation, std::regex("ragged     n=4097"), "ragged     n=65");
  const auto body = operation.find("// FILL_IN");
  ASSERT_NE(body, std::string::npos);
  operation.replace(body, operation.find('\n', body) - body, kernel.reference);
  std::filesystem::create_directories(sandbox.folder() / "k");
  sandbox.write("k/operation.cu", operation);
  sandbox.write("k/template.cu", with_parts(made["template"]["text"], kernel.made));
  const auto verified = sandbox.run(with(
      {"verify", "wanted", "--template-path", "k", "--device", "emulated:h100"}, kernel.problem));
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, HasSubstr("correct"));
}

const Replacements kNothing;

INSTANTIATE_TEST_SUITE_P(
    Kernels, AdoptUsers,
    ::testing::Values(UserKernel{"pnpoly",
                                 {},
                                 3,
                                 kNothing,
                                 {{"use_precomputed_slopes = 0* 1", "use_precomputed_slopes = 0"}},
                                 R"(int c = 0;
    const double px = points[2 * at], py = points[2 * at + 1];
    for (int v = 0, w = 599; v < 600; w = v++) {
      const double ax = d_vertices[2 * v], ay = d_vertices[2 * v + 1];
      const double bx = d_vertices[2 * w], by = d_vertices[2 * w + 1];
      if (((ay > py) != (by > py)) && px < (bx - ax) / (by - ay) * (py - ay) + ax) ++c;
    }
    inside[at] = c & 1;)",
                                 {"--n", "300"}},
                      UserKernel{
                          "hotspot",
                          {},
                          4,
                          {{"rx f32 = 1", "rx f32 = 0.1"},
                           {"ry f32 = 1", "ry f32 = 0.1"},
                           {"rz f32 = 1", "rz f32 = 0.1"}},
                          {{"temporal_tiling_factor = 1* 2 4 8", "temporal_tiling_factor = 1"}},
                          R"(const long long y = at / width, x = at % width;
    const double c = temp_in[at];
    const double n = y == 0 ? c : temp_in[at - width];
    const double s = y == height - 1 ? c : temp_in[at + width];
    const double w = x == 0 ? c : temp_in[at - 1], e = x == width - 1 ? c : temp_in[at + 1];
    temp_out[at] = c + step * (power[at] + (n + s - 2.0 * c) * ry + (e + w - 2.0 * c) * rx +
                               (80.0 - c) * rz);)",
                          {"--width", "64", "--height", "64"}},
                      UserKernel{"nbody",
                                 {},
                                 4,
                                 kNothing,
                                 {{"USE_SOA = 0* 1", "USE_SOA = 0"}},
                                 R"(const long long i = at / 4;
    const int part = at % 4;
    double sum = 0;
    for (int j = 0; j < n; ++j) {
      const double dx = bodies[4 * j] - bodies[4 * i];
      const double dy = bodies[4 * j + 1] - bodies[4 * i + 1];
      const double dz = bodies[4 * j + 2] - bodies[4 * i + 2];
      const double inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + softening);
      const double along = part == 0 ? dx : part == 1 ? dy : dz;
      sum += along * bodies[4 * j + 3] * inverse * inverse * inverse;
    }
    new_bodies[at] = bodies[at] + (part < 3 ? time_delta * sum : 0.0);)",
                                 {"--n", "100"}},
                      UserKernel{"coulomb",
                                 {},
                                 5,
                                 {{"atoms in: FILL_IN", "atoms in: n_atoms, 4"}},
                                 {{"USE_SOA = 0* 1", "USE_SOA = 0"}},
                                 R"(const long long g = grid_size;
    const double x = spacing * (at % g), y = spacing * (at / g % g), z = spacing * (at / (g * g));
    double sum = 0;
    for (int i = 0; i < n_atoms; ++i) {
      const double dx = x - atoms[4 * i], dy = y - atoms[4 * i + 1], dz = z - atoms[4 * i + 2];
      sum += atoms[4 * i + 3] / sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    potential[at] = sum;)",
                                 {"--n_atoms", "20", "--grid_size", "20"}},
                      UserKernel{"expdist",
                                 {},
                                 8,
                                 {{" A in: FILL_IN", " A in: 2, m"},
                                  {" B in: FILL_IN", " B in: 2, n"},
                                  {"scale_A in: FILL_IN", "scale_A in: m; fill positive"},
                                  {"scale_B in: FILL_IN", "scale_B in: n; fill positive"}},
                                 kNothing,
                                 R"(double sum = 0;
    for (int i = 0; at == 0 && i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const double x = A[i] - B[j], y = A[i + m] - B[j + n];
        sum += exp(-(x * x + y * y) / (scale_A[i] + scale_B[j]));
      }
    }
    output[0] = sum;)",
                                 {"--m", "70", "--n", "50"}},
                      UserKernel{"dedispersion",
                                 {},
                                 5,
                                 {{"samples in: FILL_IN", "samples in: 64, nr_samples + 32"}},
                                 kNothing,
                                 R"(const long long dm = at / nr_samples, sample = at % nr_samples;
    double sum = 0;
    for (int c = 0; c < 64; ++c) {
      const int shift = (int)((dm_first + (int)dm * dm_step) * (float)shifts[c]) & 31;
      sum += samples[c * (nr_samples + 32) + sample + shift];
    }
    series[at] = sum;)",
                                 {"--nr_samples", "100", "--nr_dms", "20"}},
                      UserKernel{"reduction",
                                 {},
                                 4,
                                 kNothing,
                                 {{"vector = 1* 2 4 ", "vector = 1 "}},
                                 R"(double sum = 0;
    for (int i = 0; at == 0 && i < n; ++i) sum += array[i];
    if (at == 0) total[0] = sum;)",
                                 {"--n", "2000"}},
                      UserKernel{"convolution17",
                                 {},
                                 7,
                                 {{"input in: FILL_IN", "input in: height + 16, width + 16"}},
                                 {{"image_width = 64* FILL_IN", "image_width = 64"},
                                  {"image_height = 64* FILL_IN", "image_height = 64"}},
                                 R"(const long long y = at / width, x = at % width;
    double sum = 0;
    for (int i = 0; i < 17; ++i) {
      for (int j = 0; j < 17; ++j) {
        sum += d_filter[i * 17 + j] * input[(y + i) * (width + 16) + x + j];
      }
    }
    output[at] = sum;)",
                                 {"--width", "64", "--height", "64"}},
                      UserKernel{"gemm",
                                 {},
                                 4,
                                 kNothing,
                                 kNothing,
                                 R"(const long long n = at / kSizeM, m = at % kSizeM;
    double sum = 0;
    for (long long k = 0; k < kSizeK; ++k) sum += agm[k * kSizeM + m] * bgm[k * kSizeN + n];
    cgm[at] = sum;)",
                                 {"--kSizeM", "128", "--kSizeN", "64", "--kSizeK", "32"}},
                      UserKernel{"scan",
                                 {},
                                 5,
                                 kNothing,
                                 {{"block    FILL_IN", "block    32"}},
                                 R"(double sum = 0;
    for (int i = 0; i <= at; ++i) sum += in[i];
    out[at] = sum;)",
                                 {"--n", "1000"}},
                      UserKernel{"transposed_product",
                                 {},
                                 5,
                                 {{"a in: FILL_IN", "a in: rows, cols"}},
                                 kNothing,
                                 R"(const long long y = at / width, x = at % width;
    double sum = 0;
    for (long long k = 0; k < cols; ++k) sum += a[y * cols + k] * b[k * width + x];
    c[at] = sum;)",
                                 {"--rows", "33", "--cols", "20", "--width", "50"}}),
    [](const ::testing::TestParamInfo<UserKernel>& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(
    WithSpace, AdoptUsers,
    ::testing::Values(UserKernel{"gemm",
                                 {"--space", "gemm.json"},
                                 3,
                                 kNothing,
                                 kNothing,
                                 R"(const long long n = at / kSizeM, m = at % kSizeM;
    double sum = 0;
    for (long long k = 0; k < kSizeK; ++k) sum += agm[k * kSizeM + m] * bgm[k * kSizeN + n];
    cgm[at] = sum;)",
                                 {"--kSizeM", "128", "--kSizeN", "64", "--kSizeK", "32"}}),
    [](const ::testing::TestParamInfo<UserKernel>& info) { return info.param.name; });

TEST(AdoptSpaceFile, MistakesSayWhereTheyAre) {
  const Sandbox sandbox;
  sandbox.write("k.cu", "__global__ void k(float* y) { y[threadIdx.x * A] = 0; }\n");
  sandbox.write("space.json",
                R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "A", "Values": "[1, b]"}]},
                    "KernelSpecification": {}})");
  const auto run = sandbox.run({"adopt", "k.cu", "--space", "space.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("space.json: ConfigurationSpace.TuningParameters[0].Values, "
                                 "column 5: unknown name \"b\""));
  EXPECT_THAT(sandbox.run({"adopt", "k.cu", "--space", "absent.json"}).err,
              HasSubstr("absent.json"));
  EXPECT_THAT(sandbox.run({"adopt", "-", "--space", "-"}).err,
              HasSubstr("cannot both come from standard input"));
}

}  // namespace
}  // namespace kiln::cli
