// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "templates/operation/operation.hpp"

namespace kiln::tools {

/// What decides which results of the operation are right, with file and line, for a verdict that
/// says `message` of them: "sums.cu:9: right y within 0 1e-6; reference in line 14". "" for what is
/// built in. `all_disagree`: no configuration that was tried is right by it, so it may be what is
/// wrong, which is added.
[[nodiscard]] std::string judged_by(const Operation& operation, std::string_view message,
                                    bool all_disagree);

}  // namespace kiln::tools
