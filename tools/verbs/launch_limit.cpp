// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/launch_limit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "kiln/error.hpp"
#include "templates/printable.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/output/terminal.hpp"

namespace kiln::tools {

LaunchLimit::LaunchLimit(double seconds, std::string what, bool json)
    : seconds_(seconds), what_(std::move(what)), json_(json), watcher_([this] { watch(); }) {}

LaunchLimit::~LaunchLimit() {
  {
    const std::lock_guard lock(mutex_);
    has_ended_ = true;
  }
  ended_.notify_one();
  watcher_.join();
}

void LaunchLimit::watch() {
  std::unique_lock lock(mutex_);
  const auto limit = std::chrono::duration<double>(seconds_);
  if (ended_.wait_for(lock, limit, [this] { return has_ended_; })) return;
  const std::string text =
      printable(fmt::format("{} did not end within {:g} s. Next: if the kernel is only slow, raise "
                            "--timeout; if the kernel hangs, `kiln verify` shows where",
                            what_, seconds_));
  try {
    write_stderr(fmt::format("kiln: {}\n", text));
    if (json_) {
      Json document = json_document("error");
      document["verb"] = "run";
      document["kind"] = "timed_out";
      document["message"] = text;
      document["exit_code"] = static_cast<int>(kExitFailure);
      write_stdout(json_text(document));
    }
  } catch (const Error&) {
    // Nobody reads it.
  }
  ::_exit(kExitFailure);
}

}  // namespace kiln::tools
