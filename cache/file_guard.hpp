// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace kiln {

/// How much the folder of a database must be protected. Whoever can write there can plant a journal
/// that SQLite would replay into the file.
enum class FolderTrust : std::uint8_t {
  no_strangers,  ///< others may not write, but a sticky folder such as /tmp will do
  private_only,  ///< nobody else may write: the file holds machine code
};

/// Checks on the files that hold databases. All throw Error(database) with path, fault and remedy.
/// None of them opens the file: closing any descriptor of it would drop SQLite's locks.
namespace file_guard {

/// Absolute path whose folder has no symbolic links (SQLite refuses those anywhere in a path).
/// Creates missing folders with mode 0700 when asked; without that a missing one stays as written.
[[nodiscard]] std::string resolve(const std::string& path, bool create_folders);

/// Whether the file exists. When it does: it must be a regular file of the user (or root), which
/// nobody else may write; the same for its folder and for a journal beside it.
[[nodiscard]] bool exists_and_is_safe(const std::string& path, FolderTrust trust);

/// Throws unless the file and its folder can be written (a journal is created beside the file).
void require_writable(const std::string& path);

/// Makes `path` appear complete or not at all: `fill` gets the name of an empty 0600 file beside
/// it, which is then linked into place. When another process was faster, its file stays.
void create_complete(const std::string& path, const std::function<void(const std::string&)>& fill);

}  // namespace file_guard
}  // namespace kiln
