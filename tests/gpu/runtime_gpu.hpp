// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "runtime/device.hpp"

namespace kiln::testing {

/// Opens the first GPU, or says why there is none.
class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      device_ = open_device("cuda:0");
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  std::unique_ptr<Device> device_;
};

}  // namespace kiln::testing
