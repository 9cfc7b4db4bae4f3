// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/warning_sink.hpp"

#include <cstdio>

#include "templates/printable.hpp"

namespace kiln::detail {
namespace {

void print(std::string_view kind, std::string_view text) {
  std::string line = "kiln: ";
  line.append(kind).append(text).append("\n");
  // One call, so that lines of several threads don't mix.
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

WarningSink::WarningSink(Receiver receiver, std::string_view level)
    : receiver_(std::move(receiver)),
      prints_warnings_(level == kLogLevels[0] || level == kLogLevels[1]),
      prints_information_(level == kLogLevels[1]) {}

void WarningSink::warn(const std::string& cause, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (!causes_.insert(cause).second) return;
  // Most callbacks print what they get.
  const std::string shown = printable(text);
  if (receiver_) {
    receiver_(shown);
  } else if (prints_warnings_) {
    print("warning: ", shown);
  }
}

void WarningSink::inform(const std::string& text) {
  if (prints_information_) print("", printable(text));
}

}  // namespace kiln::detail
