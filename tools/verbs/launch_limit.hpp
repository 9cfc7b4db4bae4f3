// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace kiln::tools {

/// While it lives, the time that a launch may take runs: after it the process ends with
/// kExitFailure and a line on stderr, with --json also the document of an error. A kernel that does
/// not end can be stopped in no other way, nor can destructors be waited for, which wait for the
/// kernel.
class LaunchLimit {
 public:
  /// `what` did not end: "the kernel gemm_tiled".
  LaunchLimit(double seconds, std::string what, bool json);
  ~LaunchLimit();
  LaunchLimit(const LaunchLimit&) = delete;
  LaunchLimit& operator=(const LaunchLimit&) = delete;

 private:
  void watch();

  const double seconds_;
  const std::string what_;
  const bool json_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::thread watcher_;
};

}  // namespace kiln::tools
