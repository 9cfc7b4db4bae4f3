// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/locations.hpp"

#include <dlfcn.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "kiln/error.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

/// $NAME if it is an absolute path (the base directory specification says to ignore others), else
/// the fallback below the home folder.
fs::path base_folder(const char* name, const char* below_home) {
  const fs::path from_environment = environment_setting(name);
  if (from_environment.is_absolute()) return from_environment;
  fs::path home = environment_setting("HOME");
  if (!home.is_absolute()) {
    const passwd* user = ::getpwuid(::geteuid());
    if (user != nullptr && user->pw_dir != nullptr) home = user->pw_dir;
  }
  if (!home.is_absolute()) {
    throw Error(ErrorKind::database,
                "Kiln cannot find your home folder, where it keeps the tuning database and the "
                "compiled kernels. Next: set HOME, or name files with --db (or KILN_DB) and "
                "--cubin-store.");
  }
  return home / below_home;
}

/// The folder that Kiln is installed under: above the bin or lib folder of the program or library
/// that holds this code.
fs::path install_prefix() {
  Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<const void*>(&site_databases), &info) == 0) return {};
  fs::path folder = fs::canonical(info.dli_fname, error).parent_path();
  // On Debian, libraries are one folder deeper, in lib/<machine>.
  for (int level = 0; level < 2 && !error; ++level, folder = folder.parent_path()) {
    const fs::path name = folder.filename();
    if (name == "bin" || name == "lib" || name == "lib64") return folder.parent_path();
  }
  return {};
}

}  // namespace

std::string environment_setting(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

Located database_path(const std::string& flag) {
  if (!flag.empty()) return {flag, "flag"};
  if (std::string value = environment_setting("KILN_DB"); !value.empty()) {
    return {std::move(value), "KILN_DB"};
  }
  return {(base_folder("XDG_DATA_HOME", ".local/share") / "kiln" / "tuning.db").string(),
          "default"};
}

Located cubin_store_path(const std::string& flag) {
  if (!flag.empty()) return {flag, "flag"};
  return {(base_folder("XDG_CACHE_HOME", ".cache") / "kiln" / "cubins.db").string(), "default"};
}

std::string temporary_files_path() {
  return (base_folder("XDG_CACHE_HOME", ".cache") / "kiln" / "tmp").string();
}

std::vector<std::string> site_databases() {
  std::vector<std::string> found;
  std::error_code error;
  const fs::path prefix = install_prefix();
  for (const fs::path& path : {fs::path("/etc/kiln/tuning.db"),
                               prefix.empty() ? fs::path() : prefix / "share/kiln/tuning.db"}) {
    if (!path.empty() && fs::exists(path, error)) found.push_back(path.string());
  }
  return found;
}

}  // namespace kiln
