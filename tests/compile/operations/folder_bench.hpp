// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "kiln/error.hpp"
#include "tests/compile/operations/operation_bench.hpp"

namespace kiln::testing {

/// An operation of a folder of tests/compile/operations with templates for it: its kernels and
/// mutants of them on the emulated GPU.
class FolderBench : public ::testing::Test {
 protected:
  explicit FolderBench(const std::string& folder)
      : folder_(std::string(KILN_SOURCE_DIR) + "/tests/compile/operations/" + folder + "/") {}

  void SetUp() override {
    try {
      bench_ = std::make_unique<OperationBench>();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }

  /// Every value of every tunable must give right results.
  void examine(const std::string& operation, const std::string& kernel, const Sizes& sizes) {
    const Catalog catalog = Catalog::with_directories({folder_});
    const KernelTemplate& made = catalog.at(kernel);
    const Problem problem =
        problem_of(*find_operation(operation), sizes, type_choices_of(made, false).front());
    bench_->set_up(problem);
    for (const Config& config : covering_configs(made.space(problem, bench_->info().limits), 1)) {
      EXPECT_EQ(bench_->judge(catalog, {kernel, config}).complaint(), "") << config.canonical();
    }
  }

  /// What is said of the default configuration where `from`, in the kernel's file or in the
  /// operation's, is `to`.
  std::string complaint_of(const std::string& operation, const std::string& kernel,
                           const Sizes& sizes, const std::string& from, const std::string& to,
                           bool in_operation = false) {
    std::string declared = text_of(operation, operation);
    std::string source = text_of(kernel, operation);
    std::string& changed = in_operation ? declared : source;
    const auto at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    return judge_texts(*bench_, declared, source, sizes).complaint();
  }

  std::unique_ptr<OperationBench> bench_;

 private:
  /// From its front matter on, with another name of the operation.
  std::string text_of(const std::string& file, const std::string& operation) const {
    std::string text = read_text(folder_ + file + ".cu");
    text.erase(0, text.find("//@"));
    const std::string line = "operation  " + operation;
    return text.replace(text.find(line), line.size(), line + "_mutant");
  }

  std::string folder_;
};

}  // namespace kiln::testing
