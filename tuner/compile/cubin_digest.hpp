// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace kiln {

/// code_digest() of a cubin.
[[nodiscard]] std::string cubin_digest(std::span<const std::byte> cubin,
                                       const std::vector<std::string>& kernels);

}  // namespace kiln
