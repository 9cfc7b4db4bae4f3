// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Kernel files are plain CUDA C++: nvcc accepts each one, unrendered; with KILN_FULL_CATALOG also
// for the host. Skipped without nvcc.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/full_catalog.hpp"
#include "tests/support/nvcc.hpp"

namespace kiln {
namespace {

TEST(PlainNvcc, TakesEveryKernelFileAsItStands) {
  const std::string nvcc = testing::find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "no nvcc here";
  namespace fs = std::filesystem;
  const fs::path kernels = fs::path(KILN_SOURCE_DIR) / "templates/kernels";
  const std::string object = KILN_BINARY_DIR "/plain_nvcc_test.o";
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kernels)) {
    if (entry.path().extension() != ".cu") continue;
    ++files;
    const std::string command = fmt::format(
        "{} -std=c++20 -gencode arch=compute_90a,code=sm_90a -Werror all-warnings -I '{}' {} '{}' "
        "-o '{}'",
        nvcc, kernels.string(), testing::full_catalog() ? "-c" : "-cubin", entry.path().string(),
        object);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  fs::remove(object);
  EXPECT_GE(files, 4);
}

}  // namespace
}  // namespace kiln
