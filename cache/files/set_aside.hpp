// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cache/store/sqlite.hpp"

namespace kiln {

/// Copies a database that is damaged, or whose schema is not that of `empty`, to a file beside it
/// ("cubins.db.damaged", then "cubins.db.damaged-2" and so on; nothing is ever replaced), and makes
/// it as empty as `empty`, a database in memory. A journal goes with the copy. Returns the copy's
/// name; nothing if the file is intact, or was changed meanwhile because another process was
/// faster.
///
/// The file is emptied in place and not renamed: SQLite finds a journal by the name of its file,
/// so a connection to a renamed file would take the journal of the new one for its own.
///
/// Only a file with SQLite's header and this application id is touched: anything else was
/// named by mistake. Only while no connection is using it: one that has it open goes on with the
/// empty one.
///
/// Throws Error(database) with the next step if the file is not of that kind or cannot be
/// copied, and a DatabaseError of cause `busy` while another connection is using it.
[[nodiscard]] std::optional<std::string> set_damaged_aside(const std::string& path,
                                                           std::int64_t application_id,
                                                           const sqlite::Connection& empty);

}  // namespace kiln
