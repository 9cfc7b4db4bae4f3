// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "kiln/error.hpp"

namespace kiln::test {

/// The text of the Error that `action` throws, which must be of `kind`; "" (and a failure) if none.
template <class Action>
std::string error_text(ErrorKind kind, const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return {};
}

}  // namespace kiln::test
