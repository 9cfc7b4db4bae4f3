// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/file_guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cache/records.hpp"
#include "kiln/error.hpp"

namespace kiln::file_guard {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, std::string_view fault, std::string_view next) {
  throw Error(ErrorKind::database, fmt::format("database {} {}. Next: {}.", path, fault, next));
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

void make_folders(const fs::path& folder, const std::string& path) {
  struct stat info {};
  if (folder.empty() || ::stat(folder.c_str(), &info) == 0) return;
  make_folders(folder.parent_path(), path);
  // EEXIST: another process made it in between, which is as good.
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    refuse(path,
           fmt::format("cannot be created: no folder {} ({})", folder.string(), reason(errno)),
           "create that folder, or name another file with --db or KILN_DB");
  }
}

void check_owner_and_mode(const struct stat& info, const std::string& database,
                          const std::string& what, const std::string& path, bool sticky_will_do) {
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    refuse(database, fmt::format("is not trusted: {} belongs to user {}", what, info.st_uid),
           fmt::format("if you trust its content, copy it to a folder of your own with `cp {}` and "
                       "name the copy with --db or KILN_DB",
                       database));
  }
  const bool sticky = sticky_will_do && (info.st_mode & S_ISVTX) != 0;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky) {
    refuse(database,
           fmt::format("is not trusted: {} can be written by others (mode {:04o})", what,
                       info.st_mode & 07777U),
           fmt::format("`chmod go-w {}`, or keep it in a folder of your own", path));
  }
}

void check_folder(const std::string& path, FolderTrust trust) {
  const std::string folder = folder_of(path);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return;  // opening the file will say so better
  check_owner_and_mode(info, path, "its folder " + folder, folder,
                       trust == FolderTrust::no_strangers);
}

void sync_folder(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

/// Gives the finished file its name unless that is taken. Not every file system has hard links.
bool publish(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  const int error = errno;
  ::unlink(from.c_str());
  refuse(to, fmt::format("cannot be put in place ({})", reason(error)),
         "use a folder on a local file system");
}

}  // namespace

std::string resolve(const std::string& path, bool create_folders) {
  if (path.empty()) refuse("\"\"", "has no name", "name a file with --db or KILN_DB");
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (create_folders) make_folders(absolute.parent_path(), absolute.string());
  const fs::path folder = fs::canonical(absolute.parent_path(), error);
  if (error) return absolute.string();
  return (folder / absolute.filename()).string();
}

bool exists_and_is_safe(const std::string& path, FolderTrust trust) {
  check_folder(path, trust);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    refuse(path, fmt::format("cannot be looked at ({})", reason(errno)),
           "check the permissions of its folder");
  }
  if (S_ISLNK(info.st_mode)) {
    refuse(path, "is a symbolic link", "name the file that it points to");
  }
  if (!S_ISREG(info.st_mode)) {
    refuse(path, "is not a regular file", "name another file with --db or KILN_DB");
  }
  check_owner_and_mode(info, path, "it", path, false);
  const std::string journal = path + "-journal";
  if (struct stat beside{}; ::lstat(journal.c_str(), &beside) == 0) {
    if (!S_ISREG(beside.st_mode)) {
      refuse(path, fmt::format("has a journal that is not a regular file ({})", journal),
             "look who made it, and remove it");
    }
    check_owner_and_mode(beside, path, "its journal", journal, false);
  }
  return true;
}

void require_writable(const std::string& path) {
  const std::string folder = folder_of(path);
  if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0) {
    refuse(path, fmt::format("cannot be written ({})", reason(errno)),
           fmt::format("`chmod u+w {}`, or name another file with --db or KILN_DB", path));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(path,
           fmt::format("cannot be written: folder {} is read-only ({})", folder, reason(errno)),
           fmt::format("`chmod u+w {}`, or name another file with --db or KILN_DB", folder));
  }
}

void create_complete(const std::string& path, const std::function<void(const std::string&)>& fill) {
  const fs::path final_path(path);
  const std::string temporary =
      (final_path.parent_path() /
       fmt::format(".{}.new-{}", final_path.filename().string(), random_id()))
          .string();
  const int file =
      ::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    refuse(path, fmt::format("cannot be created ({})", reason(errno)),
           "check permissions and free space of its folder");
  }
  ::fchmod(file, 0600);  // whatever the umask said
  ::close(file);
  try {
    fill(temporary);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  if (!publish(temporary, path)) ::unlink(temporary.c_str());
  sync_folder(path);
}

}  // namespace kiln::file_guard
