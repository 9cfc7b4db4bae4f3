// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cache/records.hpp"

namespace kiln {

/// The first line of a table of trials (RFC 4180), with the names of its columns. Later versions
/// only append columns. docs/reference/exchange.md explains them.
[[nodiscard]] std::string csv_header();

/// A trial as a row with its line end. Fields that the trial lacks are empty.
[[nodiscard]] std::string csv_row(const Trial& trial);

/// A field: in quotation marks if it has a comma, a quotation mark or a line end.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace kiln
