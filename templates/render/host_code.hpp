// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "templates/logged_errors.hpp"

namespace kiln {

/// What a compiler's error is about, and what to write instead, where the code is for the host: a
/// function without __device__, std::sort, fprintf, exceptions. "": it is about something else.
[[nodiscard]] std::string why_host_code(const LoggedError& error);

}  // namespace kiln
