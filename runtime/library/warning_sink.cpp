// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/warning_sink.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

PrintedKinds& PrintedKinds::of_process() {
  static PrintedKinds kinds;
  return kinds;
}

bool PrintedKinds::is_first(WarningKind kind) noexcept {
  const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(kind);
  return (seen_.fetch_or(bit) & bit) == 0;
}

WarningSink::Level WarningSink::level_of(std::string_view text) {
  if (text == kLogLevels[0]) return Level::none;
  if (text == kLogLevels[1]) return Level::warning;
  return text == kLogLevels[2] ? Level::info : Level::first_of_kind;
}

WarningSink::WarningSink(Receiver receiver, std::string_view level, PrintedKinds& printed)
    : receiver_(std::move(receiver)), level_(level_of(level)), printed_(printed) {
  if (level.empty() || std::ranges::find(kLogLevels, level) != kLogLevels.end()) return;
  warn(WarningKind::setting, "level",
       fmt::format("log level '{}' (KILN_LOG) is unknown; the levels are {}", level,
                   fmt::join(kLogLevels, ", ")));
}

void WarningSink::warn(WarningKind kind, const std::string& cause, const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (muted_.contains(kind) || !causes_.insert(cause).second) return;
  // Most callbacks print what they get.
  const std::string shown = printable(text);
  if (receiver_) {
    receiver_(shown);
  } else if (level_ >= Level::warning) {
    print("warning: ", shown);
  } else if (level_ == Level::first_of_kind && printed_.is_first(kind)) {
    print("warning: ",
          shown +
              " (Kiln hides further warnings of this kind. KILN_LOG=warning prints all "
              "warnings, and KILN_LOG=none prints none)");
  }
}

void WarningSink::mute(WarningKind kind) {
  const std::lock_guard lock(mutex_);
  muted_.insert(kind);
}

void WarningSink::inform(const std::string& text) {
  if (level_ == Level::info) print("", printable(text));
}

}  // namespace kiln::detail
