// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/choice.hpp"

#include <gtest/gtest.h>

#include <string>

#include "runtime/model/device_profile.hpp"
#include "templates/operation/gemm_problem.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::tools {
namespace {

// What `kiln bench` measures of an untuned problem is what an application gets.
TEST(ChoiceAsRuntime, WhatHasADrawbackGivesWayAndIsTakenIfAllHaveOne) {
  const testing::TempFolder folder;
  Context context;
  context.flags.database = (folder.path() / "none.db").string();
  const DeviceProfile profile = built_in_profile("h100").value();
  DeviceInfo device;
  device.limits = profile.limits;
  device.device_class = profile.device_class;
  const Problem problem = to_problem(Gemm::of(DType::f16, 2048, 2048, 2048));
  const auto choose = [&](const FindDrawback& drawback_of) {
    return choose_as_runtime(context, problem, device, "nvrtc 13.0", drawback_of).value();
  };
  const Chosen first = choose({});
  const Chosen second = choose([&](const Candidate& candidate) {
    return candidate.config == first.candidate.config ? "spills" : "";
  });
  EXPECT_NE(second.candidate.config, first.candidate.config);
  const Chosen any = choose([](const Candidate&) { return "spills"; });
  EXPECT_EQ(any.candidate.config, first.candidate.config);
}

}  // namespace
}  // namespace kiln::tools
