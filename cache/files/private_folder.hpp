// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

namespace kiln {

/// A folder for temporary files of this process, of mode 0700. It is removed with the object; what
/// a killed process left is removed when the next one is created beside it. Whether a process lives
/// is known by its lock on a file in the folder: process ids are reused, and say nothing about
/// other containers.
class PrivateFolder {
 public:
  /// A new one in the folder `parent`, which is created if need be and must be the user's. Nothing
  /// if that fails; `why` then receives the fault and the next step.
  [[nodiscard]] static std::unique_ptr<PrivateFolder> make(const std::string& parent,
                                                           std::string& why);
  /// Removes the folder and its contents, except in a fork() of its owner.
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  PrivateFolder(std::string path, int lock);
  std::string path_;
  int lock_;  ///< descriptor of the locked file
  pid_t owner_;
};

}  // namespace kiln
