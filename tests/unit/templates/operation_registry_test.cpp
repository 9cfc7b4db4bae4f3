// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The operations of the process.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
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
  EXPECT_EQ(found->origin.file, "a.cu");
  auto after = operations();
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_EQ(after.back(), found);
  after.pop_back();
  EXPECT_EQ(after, before);
  declare_operation(Operation::parse("a.cu", named("registry_stays")));
  EXPECT_EQ(find_operation("registry_stays"), found) << "the same text";
  EXPECT_EQ(operations().size(), before.size() + 1);
}

Operation soft_of(const std::string& file, const std::string& name, const std::string& factor) {
  return Operation::parse(file, replaced(named(name), "5 * rows", factor + " * rows"));
}

TEST(OperationRegistry, AnotherTextOfTheSameNameIsRefusedWithinASet) {
  OperationSet set;
  set.declare(soft_of("a.cu", "registry_twice", "5"));
  set.declare(soft_of("c.cu", "registry_twice", "5"));
  EXPECT_THAT(
      error_text(ErrorKind::template_,
                 [&] { set.declare(soft_of("b.cu", "registry_twice", "6")); }),
      AllOf(HasSubstr("b.cu:1:1: "), HasSubstr("is also declared in a.cu, but differently")));
  EXPECT_EQ(set.find("registry_twice")->cost.flops->text(), "5 * rows * cols");
  for (const bool of_set : {true, false}) {
    EXPECT_THAT(error_text(ErrorKind::template_,
                           [&] {
                             Operation operation = Operation::parse("g.cu", named("gemm"));
                             if (of_set) return set.declare(std::move(operation));
                             declare_operation(std::move(operation));
                           }),
                HasSubstr("the operation \"gemm\" is also declared in"));
  }
}

TEST(OperationRegistry, EachSetNamesItsOwnFile) {
  OperationSet first, second, again;
  first.declare(soft_of("one/a.cu", "registry_folders", "5"));
  second.declare(soft_of("two/a.cu", "registry_folders", "5"));
  again.declare(soft_of("one/a.cu", "registry_folders", "5"));
  EXPECT_EQ(second.find("registry_folders")->origin.file, "two/a.cu");
  EXPECT_EQ(again.find("registry_folders"), first.find("registry_folders")) << "kept once";
  OperationSet other;
  other.declare(soft_of("one/a.cu", "registry_folders", "6"));
  again = {};
  again.declare(soft_of("one/a.cu", "registry_folders", "5"));
  EXPECT_EQ(find_operation("registry_folders"), again.find("registry_folders"))
      << "the latest, without a scope";
}

TEST(OperationRegistry, EachSetHasItsOwnTextOfAName) {
  OperationSet first, second;
  first.declare(soft_of("a.cu", "registry_edited", "5"));
  second.declare(soft_of("a.cu", "registry_edited", "6"));
  const auto seen = [] { return find_operation("registry_edited")->cost.flops->text(); };
  EXPECT_EQ(seen(), "6 * rows * cols") << "the latest, without a scope";
  {
    const OperationScope outer(first);
    EXPECT_EQ(seen(), "5 * rows * cols");
    EXPECT_EQ(operations().back(), first.find("registry_edited"));
    {
      const OperationScope inner(second);
      EXPECT_EQ(seen(), "6 * rows * cols");
      std::thread([&] { EXPECT_EQ(seen(), "6 * rows * cols"); }).join();
    }
    EXPECT_EQ(seen(), "5 * rows * cols");
    EXPECT_NE(find_operation("gemm"), nullptr);
    declare_operation(Operation::parse("o.cu", named("registry_of_others")));
    EXPECT_EQ(find_operation("registry_of_others"), nullptr) << "what no file of it declares";
  }
  EXPECT_NE(find_operation("registry_of_others"), nullptr);
  OperationSet third;
  third.declare(soft_of("a.cu", "registry_edited", "5"));
  EXPECT_EQ(seen(), "5 * rows * cols") << "the edit was taken back";
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
