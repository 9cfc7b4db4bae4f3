// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

/// Checks on the files that hold databases. All throw Error(database) with path, fault and remedy.
/// None of them opens the file: closing any descriptor of it would drop SQLite's locks.
///
/// Only the user (and root) may be able to change what a name leads to. Anyone who can write in
/// the folder can plant a journal, which SQLite would replay into the file; a sticky folder such as
/// /tmp is no better. Anyone who can write in a folder further up can replace the one below it,
/// unless that folder is sticky.
namespace kiln::file_guard {

/// What a file is to Kiln, for the texts of errors.
struct FileUse {
  std::string_view noun;     ///< "database"
  std::string_view setting;  ///< what names another one: "--db or KILN_DB"
  bool is_copied = false;    ///< somebody else's can be used after it was copied
};
inline constexpr FileUse kDatabase{"database", "--db or KILN_DB", true};
inline constexpr FileUse kCubinStore{"store of compiled kernels",
                                     "--cubin-store or LibraryOptions::cubin_store"};
inline constexpr FileUse kScratchFile{"temporary file", "XDG_CACHE_HOME (the folder for caches)"};

/// Absolute path whose folder has no symbolic links (SQLite refuses those anywhere in a path).
/// Creates missing folders with mode 0700 when asked, though not where they would not be safe;
/// otherwise a missing one stays as written.
[[nodiscard]] std::string resolve(const std::string& path, bool create_folders,
                                  const FileUse& use = kDatabase);

/// Whether the file exists. If it does, it must be a regular file of the user (or root) that
/// no one else may write, and so must a journal beside it. Its folder and those above must be safe
/// in any case. `path` comes from resolve().
[[nodiscard]] bool exists_and_is_safe(const std::string& path, const FileUse& use = kDatabase);

/// Throws unless the file and its folder can be written (a journal is created beside the file).
void require_writable(const std::string& path, const FileUse& use = kDatabase);

/// Makes `path` appear complete or not at all: `fill` gets the name of an empty 0600 file beside
/// it, which is then linked into place. If another process was faster, its file stays.
void create_complete(const std::string& path, const std::function<void(const std::string&)>& fill,
                     const FileUse& use = kDatabase);

/// Gives a file another name in its folder, unless that is taken: then it returns false. Throws
/// Error(database) if the file system cannot do that.
[[nodiscard]] bool rename_without_replacing(const std::string& from, const std::string& to);

}  // namespace kiln::file_guard
