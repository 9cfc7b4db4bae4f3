// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The child's side of a compiler's process: one request at a time, until the session closes its
// end.

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "kiln/error.hpp"
#include "tuner/process_compiler.hpp"
#include "tuner/worker_connection.hpp"

namespace kiln {
namespace {

/// So much lower is the priority of compilers: the session and what measures come first.
constexpr int kNicer = 5;
/// How long a compiler that is idle takes to end by itself.
constexpr std::chrono::seconds kFarewell{1};

/// A compilation does not see that the session is gone, and it may never end.
void end_with_the_session(int in_fd) {
  std::thread([in_fd] {
    pollfd watched{in_fd, POLLRDHUP, 0};
    while (poll(&watched, 1, -1) < 0 && errno == EINTR) {
    }
    std::this_thread::sleep_for(kFarewell);
    _exit(WorkerConnection::kFinished);
  }).detach();
}

/// Answers one request. False when the answer could not be sent.
bool serve(const Frame& frame, Compiler& compiler, std::vector<std::string>& warnings,
           WorkerConnection& connection) {
  const auto request = frame.type == FrameType::compile
                           ? decode_message<CompileRequest>(frame.payload)
                           : std::nullopt;
  if (!request) {
    return connection.send(FrameType::error, ErrorMessage{ErrorKind::internal,
                                                          "the compiler's process got a "
                                                          "malformed request"});
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
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNicer);
  end_with_the_session(in_fd);
  WorkerConnection connection(in_fd, out_fd);
  std::vector<std::string> warnings;
  std::unique_ptr<Compiler> compiler;
  while (const auto frame = connection.receive()) {
    bool sent = false;
    try {
      if (!compiler) {
        compiler = make([&](const std::string& warning) { warnings.push_back(warning); });
      }
      sent = serve(*frame, *compiler, warnings, connection);
    } catch (const Error& error) {
      sent = connection.send(FrameType::error, ErrorMessage{error.kind(), error.what()});
    } catch (const std::exception& error) {
      sent = connection.send(FrameType::error, ErrorMessage{ErrorKind::internal, error.what()});
    }
    if (!sent) break;
  }
  return connection.exit_code();
}

}  // namespace kiln
