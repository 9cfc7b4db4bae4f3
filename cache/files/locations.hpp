// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace kiln {

/// Where a setting came from: "flag", "KILN_DB", "default".
struct Located {
  std::string value;
  std::string origin;
};

/// $XDG_DATA_HOME/kiln/tuning.db (default ~/.local/share), or as given by `flag` / KILN_DB.
/// Environment is ignored in set-user-id programs. This and the next throw Error(database) when the
/// default is wanted and there is no home folder.
[[nodiscard]] Located database_path(const std::string& flag);
/// $XDG_CACHE_HOME/kiln/cubins.db (default ~/.cache).
[[nodiscard]] Located cubin_store_path(const std::string& flag);
/// $XDG_CACHE_HOME/kiln/tmp (default ~/.cache): where each process makes a PrivateFolder. Throws
/// Error(database) when there is no home folder.
[[nodiscard]] std::string temporary_files_path();
/// Read-only databases under the user's, nearest first: /etc/kiln/tuning.db and
/// <prefix>/share/kiln/tuning.db, those that exist.
[[nodiscard]] std::vector<std::string> site_databases();
/// One of Kiln's environment variables ("KILN_MODE"), or "" when unset or set-user-id.
[[nodiscard]] std::string environment_setting(const char* name);

}  // namespace kiln
