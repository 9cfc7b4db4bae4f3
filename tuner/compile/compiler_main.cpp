// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The child's side of a compiler's process: one request at a time, until the session closes its
// end.

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "kiln/error.hpp"
#include "tuner/compile/process_compiler.hpp"
#include "tuner/worker/connection.hpp"

namespace kiln {
namespace {

/// An exit code beside WorkerConnection's.
constexpr int kNoCompiler = 2;
/// How long a compiler that is idle takes to end by itself.
constexpr std::chrono::seconds kFarewell{1};

/// A compilation does not see that the session is gone, and it may never end.
void end_with_the_session(int in_fd) {
  try {
    std::thread([in_fd] {
      pollfd watched{in_fd, POLLRDHUP, 0};
      while (poll(&watched, 1, -1) < 0 && errno == EINTR) {
      }
      std::this_thread::sleep_for(kFarewell);
      _exit(WorkerConnection::kFinished);
    }).detach();
  } catch (const std::system_error&) {
    // The system has no more threads. The thread that started this process ends with the session,
    // and seldom before it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
}

/// False when the answer could not be sent.
bool serve(const Frame& frame, Compiler& compiler, std::vector<std::string>& warnings,
           WorkerConnection& connection) {
  const auto request = frame.type == FrameType::compile
                           ? decode_message<CompileRequest>(frame.payload)
                           : std::nullopt;
  if (!request) {
    return connection.send_error(ErrorKind::internal,
                                 "the compiler process got a request that it cannot read; "
                                 "please report this bug in Kiln");
  }
  CompileReply reply;
  reply.result = compiler.compile(*request);
  reply.warnings = std::exchange(warnings, {});
  return connection.send(FrameType::compiled, reply);
}

}  // namespace

int compiler_main(int in_fd, int out_fd,
                  const std::function<std::unique_ptr<Compiler>(ProcessCompiler::Warn)>& make) {
  leave_no_core();
  end_with_the_session(in_fd);
  WorkerConnection connection(in_fd, out_fd);
  std::vector<std::string> warnings;
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = make([&](const std::string& warning) { warnings.push_back(warning); });
  } catch (const Error& error) {
    if (connection.send_error(error.kind(), error.what())) return kNoCompiler;
    return WorkerConnection::kFinished;
  }
  if (!connection.send(FrameType::greeting, CompilerGreeting{compiler->identity()})) {
    return WorkerConnection::kFinished;
  }
  while (connection.serve_next(
      [&](const Frame& frame) { return serve(frame, *compiler, warnings, connection); })) {
  }
  return connection.exit_code();
}

}  // namespace kiln
