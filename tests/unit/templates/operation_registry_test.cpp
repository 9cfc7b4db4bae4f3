// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The operations of the process.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation.hpp"
#include "tests/unit/templates/expect_error.hpp"
#include "tests/unit/templates/softmax_operation.hpp"

namespace kiln {
namespace {

using test::error_text;
using test::kSoftmaxOperation;
using test::replaced;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// kSoftmaxOperation under another name: what is declared stays for all tests of this process.
std::string named(const std::string& name) {
  return replaced(kSoftmaxOperation, "operation  soft", "operation  " + name);
}

TEST(OperationRegistry, BuiltInOnesComeFirst) {
  const auto all = operations();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all[0], find_operation(all[0]->name));
  EXPECT_NE(find_operation("gemm"), nullptr);
  EXPECT_EQ(find_operation("gem"), nullptr);
  EXPECT_EQ(find_operation(""), nullptr);
}

TEST(OperationRegistry, ADeclaredOneIsFoundAndStays) {
  const auto before = operations();
  EXPECT_EQ(find_operation("registry_stays"), nullptr);
  declare_operation(Operation::parse("a.cu", named("registry_stays")));
  const Operation* const found = find_operation("registry_stays");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->file, "a.cu");
  auto after = operations();
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.back(), found);
  after.pop_back();
  EXPECT_EQ(after, before);
  declare_operation(Operation::parse("b.cu", named("registry_stays")));
  EXPECT_EQ(find_operation("registry_stays"), found) << "the same text";
  EXPECT_EQ(operations().size(), before.size() + 1);
}

TEST(OperationRegistry, AnotherTextOfTheSameNameIsRefused) {
  declare_operation(Operation::parse("a.cu", named("registry_twice")));
  const auto declare_again = [] {
    declare_operation(
        Operation::parse("b.cu", replaced(named("registry_twice"), "5 * rows", "6 * rows")));
  };
  EXPECT_THAT(error_text(ErrorKind::template_, declare_again),
              AllOf(HasSubstr("b.cu:1:1: "), HasSubstr("declared by a.cu, too")));
  EXPECT_EQ(find_operation("registry_twice")->flops_text, "5 * rows * cols");
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [] { declare_operation(Operation::parse("g.cu", named("gemm"))); }),
              HasSubstr("the operation \"gemm\" is declared by gemm/gemm.cu, too"));
}

TEST(OperationRegistry, OneWithoutAReferenceIsRefused) {
  constexpr const char* kBare = R"(//@ operation  registry_bare
//@ purpose    Nothing says what is right.
//@ size       n
//@ type       x
//@ operand    x inout: n
//@ flops      n
)";
  EXPECT_THAT(error_text(ErrorKind::template_,
                         [] { declare_operation(Operation::parse("bare.cu", kBare)); }),
              AllOf(HasSubstr("bare.cu:1:1: "), HasSubstr("no \"//@ reference\" line")));
  EXPECT_EQ(find_operation("registry_bare"), nullptr);
}

TEST(OperationRegistry, IsReadWhileItGrows) {
  constexpr int kThreads = 4, kEach = 25;
  std::atomic<bool> done{false};
  std::atomic<int> torn{0};
  std::thread reader([&] {
    while (!done) {
      for (const Operation* each : operations()) {
        if (find_operation(each->name) != each) ++torn;
      }
    }
  });
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&] {
      // All declare the same: each name is added once.
      for (int i = 0; i < kEach; ++i) {
        const auto name = fmt::format("registry_grows_{}", i);
        declare_operation(Operation::parse(name + ".cu", named(name)));
        if (find_operation(name) == nullptr) ++torn;
      }
    });
  }
  for (auto& writer : writers) writer.join();
  done = true;
  reader.join();
  EXPECT_EQ(torn, 0);
  int count = 0;
  for (const Operation* each : operations()) count += each->name.starts_with("registry_grows_");
  EXPECT_EQ(count, kEach);
}

}  // namespace
}  // namespace kiln
