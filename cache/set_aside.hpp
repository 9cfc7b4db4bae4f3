// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cache/schema_text.hpp"

namespace kiln {

/// Gives a database that is damaged, or whose schema is not `own`, a name beside its own
/// ("cubins.db.damaged", then "cubins.db.damaged-2" and so on; nothing is ever replaced), so that a
/// new one can take its place. A journal goes with it. Returns the new name; nothing when the path
/// leads to a sound file, or to another one than at the start, because another process was faster.
///
/// Only a file with SQLite's header and this application id is touched: anything else was
/// named by mistake. Only while no connection is using it: one that has it open finds out that it
/// was moved before writing again.
///
/// Throws Error(database) with the next step when the file is not of that kind or cannot be
/// renamed, and a DatabaseError of cause `busy` while another connection is using it.
[[nodiscard]] std::optional<std::string> set_damaged_aside(const std::string& path,
                                                           std::int64_t application_id,
                                                           const SchemaText& own);

}  // namespace kiln
