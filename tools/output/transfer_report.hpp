// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cache/exchange/transfer.hpp"
#include "tools/context.hpp"

namespace kiln::tools {

/// Prints what an import or merge did: complaints as warnings, counts as the result. Returns the
/// exit code: 1 when something was refused, or the input ended before its end.
int report_transfer(Context& context, const std::string& verb, const TransferCount& count);

/// Warns of rows that `source` left out of what was read from it, because their digests disown
/// them.
void warn_of_corrupt_rows(const Context& context, const TuningStore& source);

}  // namespace kiln::tools
