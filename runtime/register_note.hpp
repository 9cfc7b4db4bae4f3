// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// A comment at the end of PTX text that keeps what only assembling it could tell: the registers of
/// a thread, of which an emulated GPU would otherwise not know how many blocks fit.
[[nodiscard]] std::string register_note(int registers);

/// What the note in a PTX text says; 0 when there is none.
[[nodiscard]] int noted_registers(std::string_view ptx);

}  // namespace kiln
