// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "tuner/session/context.hpp"

namespace kiln {

/// The trial that already says what becomes of this code (Trial::code_digest) in the environment of
/// the session: its own, an earlier one's, or that of a session which runs beside it. Nothing for a
/// code that is not known, or when the request is to measure afresh and this run has not yet.
[[nodiscard]] std::optional<Trial> trial_of_same_code(const SessionContext& context,
                                                      const std::string& code_digest);

/// Makes what became of `source` the outcome of `trial`, whose code is the same.
void share_outcome(Trial& trial, const Trial& source);

}  // namespace kiln
