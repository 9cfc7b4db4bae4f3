// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/file_guard.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "cache/records.hpp"
#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln::file_guard {
namespace {

namespace fs = std::filesystem;

/// A file that is refused, and what it is for.
struct Guarded {
  const std::string& path;
  const FileUse& use;
};

[[noreturn]] void refuse(const Guarded& file, std::string_view fault, std::string_view next) {
  throw Error(ErrorKind::database,
              fmt::format("{} {} {}. Next: {}.", file.use.noun, file.path, fault, next));
}

std::string name_another(const FileUse& use) {
  return fmt::format("set {} to another {}", use.setting, use.value);
}

/// `cp` to the home folder, under the same name, if nothing there has it.
std::string how_to_copy(const Guarded& file) {
  if (!file.use.is_copied) return name_another(file.use);
  const std::string copy = "~/" + shell_word(fs::path(file.path).filename().string());
  return fmt::format("if you trust the content, copy the file with `cp -n {} {}` and set {} to {}",
                     shell_word(file.path), copy, file.use.setting, copy);
}

std::string reason(int error) {
  return std::generic_category().message(error);
}

std::string folder_of(const std::string& path) {
  return fs::path(path).parent_path().string();
}

/// Whether only the user is in the group: many systems give each user a group of that kind, and a
/// umask that lets it write.
bool is_private_group(gid_t group) {
  std::vector<char> texts(1 << 16);  // both records refer to texts in here
  passwd user{};
  passwd* user_found = nullptr;
  const std::size_t half = texts.size() / 2;
  ::getpwuid_r(::geteuid(), &user, texts.data(), half, &user_found);
  if (user_found == nullptr || user.pw_gid != group) return false;
  struct group entry {};
  struct group* entry_found = nullptr;
  ::getgrgid_r(group, &entry, texts.data() + half, half, &entry_found);
  const std::string_view name = user.pw_name;
  if (entry_found == nullptr || name != entry.gr_name) return false;
  char** member = entry.gr_mem;
  while (*member != nullptr && name == *member) ++member;
  return *member == nullptr;
}

void check_owner(const struct stat& info, const Guarded& file, const std::string& what,
                 const std::string& next) {
  if (info.st_uid == ::geteuid() || info.st_uid == 0) return;
  refuse(file,
         fmt::format("is not trusted: {} belongs to another user (user ID {})", what, info.st_uid),
         next);
}

void check_owner_and_mode(const struct stat& info, const Guarded& file, const std::string& what,
                          const std::string& path) {
  check_owner(info, file, what, how_to_copy(file));
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) == 0) return;
  const std::string fault = fmt::format("is not trusted: other users can write to {} (mode {:04o})",
                                        what, info.st_mode & 07777U);
  // A shared folder, or one of the system, is not the user's to close.
  if ((info.st_mode & S_ISVTX) != 0 || info.st_uid != ::geteuid()) {
    refuse(file, fault, "create a private folder with `mkdir -m 700`, and keep the file there");
  }
  refuse(file, fault,
         fmt::format("run `chmod go-w {}`, or keep the file in a folder that only you can write to",
                     shell_word(path)));
}

/// `folder` and all above it: none may let others replace what is in it.
void check_ancestors(fs::path folder, const Guarded& file) {
  for (;; folder = folder.parent_path()) {
    struct stat info {};
    if (folder.empty() || ::stat(folder.c_str(), &info) != 0) return;
    const std::string what = fmt::format("the parent folder {}", folder.string());
    const char* const next =
        "create a private folder with `mkdir -m 700` in your home folder, and keep the file there";
    check_owner(info, file, what, next);
    const bool by_group = (info.st_mode & S_IWGRP) != 0 && !is_private_group(info.st_gid);
    if ((by_group || (info.st_mode & S_IWOTH) != 0) && (info.st_mode & S_ISVTX) == 0) {
      refuse(file,
             fmt::format("is not trusted: other users can write to {} (mode {:04o}), so they "
                         "could replace the file",
                         what, info.st_mode & 07777U),
             next);
    }
    if (folder == folder.root_path()) return;
  }
}

void check_folder(const Guarded& file) {
  const std::string folder = folder_of(file.path);
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) return;  // opening the file gives a better error
  check_owner_and_mode(info, file, "the folder " + folder, folder);
  check_ancestors(fs::path(folder).parent_path(), file);
}

/// A descriptor, which keeps folders from being looked up from the root again and again.
class OpenFolder {
 public:
  explicit OpenFolder(int file) : file_(file) {}
  ~OpenFolder() {
    if (file_ >= 0) ::close(file_);
  }
  OpenFolder(const OpenFolder&) = delete;
  OpenFolder& operator=(const OpenFolder&) = delete;
  void enter(const fs::path& name) {
    const int below = ::openat(file_, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int fault = errno;
    ::close(std::exchange(file_, below));
    errno = fault;
  }
  [[nodiscard]] int file() const { return file_; }

 private:
  int file_;
};

/// Makes the missing folders, readable by the user only. Only the nearest one that is there can be
/// anyone else's.
void make_folders(const fs::path& folder, const Guarded& file) {
  std::vector<fs::path> missing;
  fs::path there = folder;
  struct stat info {};
  while (!there.empty() && ::stat(there.c_str(), &info) != 0) {
    missing.push_back(there.filename());
    there = there.parent_path();
  }
  if (missing.empty()) return;
  std::error_code error;
  const fs::path nearest = there.empty() ? fs::current_path(error) : fs::canonical(there, error);
  if (!error) check_ancestors(nearest, file);
  const auto fail = [&](const fs::path& at) {
    refuse(file,
           fmt::format("cannot be created, because Kiln cannot create the folder {} ({})",
                       at.string(), reason(errno)),
           "create this folder, or " + name_another(file.use));
  };
  OpenFolder open(::open(nearest.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (auto name = missing.rbegin(); name != missing.rend(); ++name) {
    there /= *name;
    // EEXIST: another process made it in between, which is just as well.
    if (open.file() < 0 || (::mkdirat(open.file(), name->c_str(), 0700) != 0 && errno != EEXIST)) {
      fail(there);
    }
    open.enter(*name);
  }
  if (open.file() < 0) fail(there);
}

void sync_folder(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace

std::string resolve(const std::string& path, bool create_folders, const FileUse& use) {
  if (path.empty()) {
    refuse({"\"\"", use}, "has an empty name", fmt::format("set {} to a file name", use.setting));
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (create_folders) {
    const std::string text = absolute.string();
    make_folders(absolute.parent_path(), {text, use});
  }
  const fs::path folder = fs::canonical(absolute.parent_path(), error);
  if (error) return absolute.string();
  return (folder / absolute.filename()).string();
}

bool exists_and_is_safe(const std::string& path, const FileUse& use) {
  const Guarded file{path, use};
  check_folder(file);
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return false;
    refuse(file, fmt::format("cannot be examined ({})", reason(errno)),
           "check the permissions of the folder");
  }
  if (S_ISLNK(info.st_mode)) {
    refuse(file, "is a symbolic link", "pass the path of the link's target instead");
  }
  if (!S_ISREG(info.st_mode)) {
    refuse(file, "is not a regular file", name_another(use));
  }
  check_owner_and_mode(info, file, "the file", path);
  const std::string journal = path + "-journal";
  if (struct stat beside{}; ::lstat(journal.c_str(), &beside) == 0) {
    if (!S_ISREG(beside.st_mode)) {
      refuse(file, fmt::format("has a journal that is not a regular file ({})", journal),
             "check that no program needs this journal, then remove the journal");
    }
    check_owner_and_mode(beside, file, "the journal", journal);
  }
  return true;
}

void require_writable(const std::string& path, const FileUse& use) {
  const Guarded file{path, use};
  const std::string folder = folder_of(path);
  if (::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), W_OK) != 0) {
    refuse(file, fmt::format("cannot be written ({})", reason(errno)),
           fmt::format("run `chmod u+w {}`, or {}", shell_word(path), name_another(use)));
  }
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse(file,
           fmt::format("cannot be written: folder {} is read-only ({})", folder, reason(errno)),
           fmt::format("run `chmod u+w {}`, or {}", shell_word(folder), name_another(use)));
  }
}

bool rename_without_replacing(const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST) return false;
  // Not every file system can do that; most of those have hard links.
  if (::link(from.c_str(), to.c_str()) == 0) {
    ::unlink(from.c_str());
    return true;
  }
  if (errno == EEXIST) return false;
  refuse({to, kDatabase},
         fmt::format("cannot be created: renaming the new file failed ({})", reason(errno)),
         "use a folder on a local file system");
}

void create_complete(const std::string& path, const std::function<void(const std::string&)>& fill,
                     const FileUse& use) {
  const fs::path final_path(path);
  const std::string temporary =
      (final_path.parent_path() /
       fmt::format(".{}.new-{}", final_path.filename().string(), random_id()))
          .string();
  const int file =
      ::open(temporary.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    refuse({path, use}, fmt::format("cannot be created ({})", reason(errno)),
           "check the permissions and the free space of the folder");
  }
  ::fchmod(file, 0600);  // whatever the umask said
  ::close(file);
  try {
    fill(temporary);
    if (!rename_without_replacing(temporary, path)) ::unlink(temporary.c_str());
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(path);
}

}  // namespace kiln::file_guard
