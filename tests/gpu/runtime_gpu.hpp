// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "runtime/device.hpp"

namespace kiln::testing {

/// Opens the first GPU, or skips the test and says why there is none. Any other problem is
/// a failure.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("cuda:0");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Device> device_;
};

}  // namespace kiln::testing
