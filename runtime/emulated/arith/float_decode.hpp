// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "runtime/emulated/decode/decoder.hpp"

namespace kiln::emulated::floats {

/// Executes `plain`, whose arithmetic then rounds as `rounding` says: "", "rn", "rz", "rm", "rp".
void set_rounded(DecodeContext& context, Instr& out, Execute plain, std::string_view rounding);

}  // namespace kiln::emulated::floats
