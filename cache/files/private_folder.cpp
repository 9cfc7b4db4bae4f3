// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/files/private_folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "cache/files/file_guard.hpp"
#include "kiln/error.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = "process-";
constexpr const char* kLockName = "lock";
/// The lock of the parent folder is never held longer than it takes to remove some files, unless
/// its owner was stopped meanwhile.
constexpr int kLockAttempts = 200;
constexpr std::chrono::milliseconds kBetweenAttempts{10};

/// A file with a lock on it; both go with the object unless released.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags)
      : descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600)) {}
  ~LockedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
  [[nodiscard]] bool lock() const { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }
  [[nodiscard]] bool lock_patiently() const {
    for (int attempt = 0; attempt < kLockAttempts; ++attempt) {
      if (lock()) return true;
      if (errno != EWOULDBLOCK && errno != EINTR) return false;
      std::this_thread::sleep_for(kBetweenAttempts);
    }
    return false;
  }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

std::string fault(const std::string& folder, const char* what) {
  return fmt::format(
      "{} {} ({}). Next: check the permissions and the free space there, or set XDG_CACHE_HOME to "
      "another folder for temporary files.",
      folder, what, std::generic_category().message(errno));
}

/// Removes the folders of processes that are gone. The parent folder must be locked, or a folder
/// that is just being created would look abandoned.
void sweep(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path folder = entry->path();
    if (!folder.filename().string().starts_with(kPrefix)) continue;
    const LockedFile owner((folder / kLockName).string(), 0);
    // Its process died before locking it, or before creating the file.
    const bool abandoned = owner.is_open() ? owner.lock() : errno == ENOENT;
    std::error_code ignored;
    if (abandoned) fs::remove_all(folder, ignored);
  }
}

}  // namespace

PrivateFolder::PrivateFolder(std::string path, int lock)
    : path_(std::move(path)), lock_(lock), owner_(::getpid()) {}

PrivateFolder::~PrivateFolder() {
  ::close(lock_);
  if (owner_ != ::getpid()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::unique_ptr<PrivateFolder> PrivateFolder::make(const std::string& parent, std::string& why) {
  std::string common;
  try {
    common = file_guard::resolve(parent + "/" + kLockName, true, file_guard::kScratchFile);
    static_cast<void>(file_guard::exists_and_is_safe(common, file_guard::kScratchFile));
  } catch (const Error&) {
    // That text is about databases; precompiled headers are code as well.
    why = fmt::format(
        "Kiln cannot use the folder {}. Either Kiln cannot create the folder, or other users can "
        "change its files. Next: set XDG_CACHE_HOME to another folder for temporary files. Or "
        "check the folder and its parent folders with `ls -ld`, and remove other users' write "
        "permissions with `chmod go-w`.",
        parent);
    return nullptr;
  }
  const LockedFile beginning(common, O_CREAT);
  if (!beginning.is_open() || !beginning.lock_patiently()) {
    why = fault(common, "cannot be locked");
    return nullptr;
  }
  const fs::path folder = fs::path(common).parent_path();
  sweep(folder);
  std::string path = (folder / fmt::format("{}XXXXXX", kPrefix)).string();
  if (::mkdtemp(path.data()) == nullptr) {
    why = fault("a new folder in " + folder.string(), "cannot be created");
    return nullptr;
  }
  LockedFile owner((fs::path(path) / kLockName).string(), O_CREAT | O_EXCL);
  if (!owner.is_open() || !owner.lock()) {
    why = fault("a lock file in " + path, "cannot be created and locked");
    std::error_code ignored;
    fs::remove_all(path, ignored);
    return nullptr;
  }
  return std::unique_ptr<PrivateFolder>(new PrivateFolder(std::move(path), owner.release()));
}

}  // namespace kiln
