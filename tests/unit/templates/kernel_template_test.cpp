// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/kernel_template.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "templates/operation/gemm_problem.hpp"
#include "tests/unit/templates/tiny_template.hpp"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::StartsWith;

KernelTemplate tiny_template() {
  return KernelTemplate::parse("tiny.cu", std::string(test::kTinyTemplate));
}

DeviceLimits h200() {
  return limits_of_arch("90a").value();
}
Problem halves() {
  return to_problem(Gemm::of(DType::f16, 100, 70, 64));
}
const Config kConfig{{"tile_m", 64}, {"tile_n", 32}};

std::string why_unsupported(const Gemm& gemm, std::string_view arch = "90a") {
  return tiny_template()
      .why_unsupported(to_problem(gemm), limits_of_arch(arch).value())
      .value_or("");
}

TEST(KernelTemplate, SaysWhatItDoesNotTake) {
  EXPECT_EQ(why_unsupported(Gemm::of(DType::f16, 64, 64, 64)), "");
  EXPECT_EQ(why_unsupported(Gemm::of(DType::f64, 64, 64, 64)), "");
  auto gemm = Gemm::of(DType::bf16, 64, 64, 64);
  gemm.c = gemm.d = DType::f32;
  EXPECT_EQ(why_unsupported(gemm), "");
  gemm.d = DType::f16;
  EXPECT_EQ(why_unsupported(gemm), "the template tiny does not accept d=f16 with a=bf16");
  EXPECT_THAT(why_unsupported(Gemm::of(DType::f32, 64, 64, 64)),
              AllOf(StartsWith("the template tiny "), EndsWith("a=f32")));
  Problem other = halves();
  other.operation = "conv2d";
  EXPECT_EQ(tiny_template().why_unsupported(other, h200()),
            "the template tiny computes the operation gemm, not conv2d");
}

TEST(KernelTemplate, SaysWhichDeviceItNeeds) {
  auto old = h200();
  old.sm = 70;
  old.arch = "sm_70";
  EXPECT_EQ(tiny_template().why_unsupported(halves(), old),
            "the template tiny needs sm >= 75, but this device is sm_70");
}

TEST(KernelTemplate, SaysWhichRequirementNeverHolds) {
  auto gemm = Gemm::of(DType::f16, 64, 64, 64);
  gemm.alignment_a = 2;
  EXPECT_THAT(why_unsupported(gemm), AllOf(StartsWith("tiny: align_a >= 4 "),
                                           EndsWith("align_a = 2: loads are 4 bytes wide")));
}

TEST(KernelTemplate, SpaceFollowsProblemAndDevice) {
  EXPECT_EQ(tiny_template().space(halves(), h200()).count(), 5U);
  auto small = h200();
  small.max_threads = 128;
  const auto space = tiny_template().space(halves(), small);
  EXPECT_EQ(space.count(), 2U);
  EXPECT_EQ(space.default_config(), kConfig);
}

}  // namespace
}  // namespace kiln
