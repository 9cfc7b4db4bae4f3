// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/records.hpp"

namespace kiln {

/// Trials and sessions as JSON objects on one line each (docs/reference/schema.md describes the
/// fields), and back: as checked() leaves them, of this export schema or an older one. Throw
/// Error(usage) naming the field.
[[nodiscard]] std::string trial_to_json(const Trial& trial);
[[nodiscard]] Trial trial_from_json(const std::string& line);
[[nodiscard]] std::string session_to_json(const SessionRecord& session);
[[nodiscard]] SessionRecord session_from_json(const std::string& line);

}  // namespace kiln
