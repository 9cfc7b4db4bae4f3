// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>

#include "runtime/library/operation_kernels.hpp"
#include "tests/support/row_sums.hpp"
#include "tests/unit/runtime/library_fixture.hpp"

namespace kiln::testing {

/// A library whose template path declares row_sums.
class OperationFixture : public LibraryFixture {
 protected:
  OperationFixture() {
    template_path_ = {folder_.file("templates")};
    catalog_ = row_sums_catalog(template_path_.front());
  }
  Library open_with_kernels() {
    Library library = open();
    register_row_sums(*device_);
    return library;
  }
  static Problem checked(const OperationProblem& problem) {
    return detail::checked_problem(problem, {});
  }
  /// What the call throws, which must be of that kind.
  template <class Call>
  static std::string error_of(ErrorKind kind, const Call& call) {
    try {
      call();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind);
      return error.what();
    }
    return "no error";
  }

  /// Memory that is aligned like device memory.
  struct alignas(256) Buffer {
    std::array<float, 64> data{};
  };
  Buffer x_, bias_, y_;
};

}  // namespace kiln::testing
