// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

/// `softmax<x, block_size_x>` with the words between the angle brackets replaced by what `value`
/// gives for them: `softmax<float, 128>`. Words that it gives nothing for stay, and so does a name
/// without brackets.
[[nodiscard]] std::string expand_kernel_name(
    std::string_view text,
    const std::function<std::optional<std::string>(std::string_view)>& value);

}  // namespace kiln
