// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/decoder.hpp"

namespace kiln::emulated {

/// The operand of a wait for groups: how many of the newest may be unfinished.
[[nodiscard]] std::uint32_t take_group_count(DecodeContext& context);

}  // namespace kiln::emulated
