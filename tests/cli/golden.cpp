// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/golden.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "templates/operation/gemm_problem.hpp"

namespace kiln::cli {
namespace {

std::string normalised(const Sandbox& sandbox, const Run& run) {
  std::string text = "$ kiln";
  for (const auto& argument : run.arguments) text += " " + argument;
  text += "\nexit " + std::to_string(run.exit_code) + "\n";
  text += "--- stdout\n" + run.out + "--- stderr\n" + run.err;
  text = sandbox.without_paths(text);
  // Digests and identities differ with every change of a kernel; that they are there is enough.
  text = std::regex_replace(text, std::regex("\\b[0-9a-f]{32}\\b"), "$$ID");
  text = std::regex_replace(text, std::regex("nvrtc [0-9]+\\.[0-9]+"), "nvrtc $$VERSION");
  text = std::regex_replace(text, std::regex("20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}"),
                            "$$DATE");
  // What grows with a file of its own.
  text = std::regex_replace(text, std::regex("the templates are: gemm_[a-z_, ]+"),
                            "the templates are: $$TEMPLATES");
  text = std::regex_replace(text, std::regex("exhaustive(,? [a-z]+)+"), "$$STRATEGIES");
  return text;
}

}  // namespace

void expect_golden(const std::string& name, const Sandbox& sandbox, const Run& run) {
  const std::string path = std::string(KILN_SOURCE_DIR) + "/tests/cli/golden/" + name + ".txt";
  const std::string actual = normalised(sandbox, run);
  const char* update = std::getenv("KILN_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; KILN_UPDATE_GOLDEN=1 writes it";
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(actual, expected.str()) << "of " << path;
}

}  // namespace kiln::cli
