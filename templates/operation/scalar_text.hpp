// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kiln/scalar.hpp"
#include "templates/operation/number_type.hpp"

namespace kiln {

/// The number in decimal, from which read_scalar() makes the same number: all digits of an integer
/// that no double equals, otherwise the shortest text of the double.
[[nodiscard]] std::string scalar_text(Scalar value);

/// What somebody wrote as a value of the type: an integer, decimal or hexadecimal ("0x9e37", "-1"),
/// which is exact if it has at most 64 bits; any other decimal number, as the nearest double;
/// "true" or "false" of a bool. Nothing if it is none of these. Whether the type has the value is
/// not checked.
[[nodiscard]] std::optional<Scalar> read_scalar(NumberType type, std::string_view text);

/// Why a scalar of the type cannot be `value`, as a sentence; "" if it can. `text` is the value as
/// somebody wrote it; "" if nobody did.
[[nodiscard]] std::string why_not_of_type(NumberType type, Scalar value,
                                          std::string_view text = "");

}  // namespace kiln
