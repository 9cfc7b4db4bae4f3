// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "templates/template_parts.hpp"

namespace kiln {

/// "Config{{.repack = Repack::none}, 128, 64}": a struct with those values of its fields, in their
/// order, as C++ has it. C++ takes names of fields only where a struct has no bases.
[[nodiscard]] std::string struct_text(const StructSpec& spec, std::span<const std::int64_t> values);

}  // namespace kiln
