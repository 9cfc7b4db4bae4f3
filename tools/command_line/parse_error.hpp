// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace kiln::tools {

/// Why the parser refused a command line, in Kiln's words: place, reason, next step. `app` is the
/// program's parser after it has thrown the error.
[[nodiscard]] std::string parse_error_text(const CLI::ParseError& error, const CLI::App& app);

}  // namespace kiln::tools
