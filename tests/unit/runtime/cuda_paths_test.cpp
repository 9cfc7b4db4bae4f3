// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/compile/cuda_paths.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/runtime/temporary_folder.hpp"

namespace kiln::testing {
namespace {

TEST(ChosenHeadersTest, FollowTheFolderAndItsContent) {
  const TemporaryFolder folder;
  const std::string first = folder.file("first");
  const std::string second = folder.file("second");
  for (const std::string& include : {first, second}) {
    std::filesystem::create_directory(include);
    std::ofstream(include + "/cuda.h") << "#define CUDA_VERSION 13000\n";
    std::ofstream(include + "/cuda_fp16.h") << "struct __half {};\n";
  }
  const std::string before = chosen_headers(first);
  EXPECT_NE(before.find(first), std::string::npos) << before;
  EXPECT_EQ(chosen_headers(first + "/."), before) << "one folder, one name";
  EXPECT_NE(chosen_headers(second), before);
  std::ofstream(first + "/cuda_fp16.h") << "struct __half { short bits; };\n";
  EXPECT_NE(chosen_headers(first), before);
}

TEST(ChosenHeadersTest, AreNothingWhereNobodyChose) {
  ::unsetenv("KILN_CUDA_INCLUDE");
  EXPECT_EQ(chosen_headers(""), "");
  ::setenv("KILN_CUDA_INCLUDE", "/opt/cuda/include", 1);
  EXPECT_EQ(chosen_headers(""), chosen_headers("/opt/cuda/include"));
  ::unsetenv("KILN_CUDA_INCLUDE");
}

}  // namespace
}  // namespace kiln::testing
