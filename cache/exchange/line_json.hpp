// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kiln {

/// A line of an export as JSON. Objects keep the order of their keys, which takes time by the
/// square of their number, so a line with more keys or deeper objects than any row has is refused:
/// throws Error(usage) for that, and for what is no JSON.
[[nodiscard]] nlohmann::ordered_json json_of_line(const std::string& line);

}  // namespace kiln
