// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace kiln::cli {

/// `text` with the only occurrence of `from` replaced.
[[nodiscard]] std::string replaced(std::string text, const std::string& from,
                                   const std::string& to);

/// A template as a user writes one, called `name`: the definition of a GEMM for f32, one thread for
/// an element of D, with a workspace that it does not touch. `fault` are statements in line 31,
/// before D is written; they may use row, col, sum, a, b, d and workspace.
[[nodiscard]] std::string user_template(const std::string& name, const std::string& fault = "");

}  // namespace kiln::cli
