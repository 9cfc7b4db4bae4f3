// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

namespace kiln::detail {

/// The levels of KILN_LOG, quietest first; any other value silences.
inline constexpr std::array<std::string_view, 2> kLogLevels{"warning", "info"};

/// Where a library's diagnostics go: to the application's function, else to stderr if
/// KILN_LOG asks for it, else nowhere. They are made printable by printable(), since they quote
/// files. Thread-safe: the application's function is called by one thread at a time.
class WarningSink {
 public:
  using Receiver = std::function<void(std::string_view)>;
  /// `level` is the value of KILN_LOG: one of kLogLevels, or anything else for silence.
  WarningSink(Receiver receiver, std::string_view level);

  /// Once per cause; `cause` identifies repetitions, `text` is what the reader sees.
  void warn(const std::string& cause, const std::string& text);
  /// Good news, only for stderr.
  void inform(const std::string& text);

 private:
  Receiver receiver_;
  bool prints_warnings_;
  bool prints_information_;
  std::mutex mutex_;
  std::set<std::string> causes_;
};

}  // namespace kiln::detail
