// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln {

/// code_digest() of a PTX text with its register_note().
[[nodiscard]] std::string ptx_digest(std::string_view ptx, const std::vector<std::string>& kernels);

}  // namespace kiln
