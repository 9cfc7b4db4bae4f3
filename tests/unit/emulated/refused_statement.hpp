// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace kiln::emulated::test {

/// Whether a message is about one statement of a text without source lines: it begins with the
/// statement's line and its opcode. No message, because nothing was refused, is about nothing.
inline ::testing::AssertionResult is_about(const std::string& message, std::string_view text,
                                           std::string_view statement) {
  const std::size_t at = text.find(statement);
  if (at == std::string_view::npos) return ::testing::AssertionFailure() << "no such statement";
  const auto before = text.substr(0, at);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto opcode = statement.substr(0, statement.find_first_of(" ;"));
  const std::string wanted = fmt::format("PTX line {}: {} ", line, opcode);
  if (message.starts_with(wanted)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << statement << "\nshould be refused with '" << wanted << "...', but: '" << message << "'";
}

}  // namespace kiln::emulated::test
