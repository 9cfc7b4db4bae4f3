// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The child's side of a worker process: one request at a time, until the session closes its end.

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>

#include "kiln/error.hpp"
#include "tuner/cublaslt_baselines.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/messages.hpp"
#include "tuner/wire.hpp"

namespace kiln {
namespace {

/// Exit codes, for a worker started by hand.
enum ExitCode : int { kFinished = 0, kBadStream = 1, kNoDevice = 2, kDeviceLost = 3 };

/// For a process whose only purpose this is. While it waits for a kernel that hangs it does not see
/// the end of its input, so it asks to die with its parent; and a process that is expected to
/// crash need not leave core files of the size of a CUDA context.
void become_disposable() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

/// Keeps the protocol to itself: kernels that print, and libraries, write to stdout, so
/// that is redirected to stderr while frames travel on a private descriptor.
int private_output(int out_fd) {
  if (out_fd != STDOUT_FILENO) return out_fd;
  const int moved = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
  if (moved < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  return moved;
}

class Connection {
 public:
  Connection(int in_fd, int out_fd) : in_fd_(in_fd), out_fd_(out_fd) {}

  /// The next request; nothing at the end of the stream or when it is broken.
  [[nodiscard]] std::optional<Frame> receive() {
    for (;;) {
      if (auto frame = assembler_.take()) return frame;
      if (!assembler_.broken().empty()) return std::nullopt;
      std::array<char, 65536> bytes{};
      const ssize_t got = read(in_fd_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return std::nullopt;
      assembler_.feed({bytes.data(), static_cast<std::size_t>(got)});
    }
  }

  template <class Message>
  [[nodiscard]] bool send(FrameType type, const Message& message) {
    return send_payload(type, encode_message(message));
  }

  [[nodiscard]] bool send_payload(FrameType type, std::string_view payload) {
    const std::string frame = encode_frame(type, payload);
    std::size_t sent = 0;
    while (sent < frame.size()) {
      const ssize_t wrote = write(out_fd_, frame.data() + sent, frame.size() - sent);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) return false;
      sent += static_cast<std::size_t>(wrote);
    }
    return true;
  }

  [[nodiscard]] bool broken() const { return !assembler_.broken().empty(); }

 private:
  int in_fd_;
  int out_fd_;
  FrameAssembler assembler_;
};

/// Answers one request. False when the answer could not be sent.
bool serve(const Frame& frame, LocalEvaluator& evaluator, Connection& connection) {
  const auto malformed = [&] {
    return connection.send(FrameType::error,
                           ErrorMessage{ErrorKind::internal, "the worker got a malformed request"});
  };
  switch (frame.type) {
    case FrameType::set_up: {
      const auto setup = decode_message<EvaluationSetup>(frame.payload);
      if (!setup) return malformed();
      evaluator.set_up(*setup);
      return connection.send_payload(FrameType::ready, {});
    }
    case FrameType::evaluate: {
      const auto job = decode_message<EvaluationJob>(frame.payload);
      if (!job) return malformed();
      EvaluationReply reply;
      reply.evaluation = evaluator.evaluate(*job);
      reply.device_lost = evaluator.lost();
      return connection.send(FrameType::evaluation, reply);
    }
    case FrameType::compare: {
      const auto request = decode_message<ComparisonRequest>(frame.payload);
      if (!request) return malformed();
      ComparisonReply reply;
      reply.comparison = evaluator.compare(*request);
      reply.device_lost = evaluator.lost();
      return connection.send(FrameType::comparison, reply);
    }
    default:
      return malformed();
  }
}

}  // namespace

int worker_main(int in_fd, int out_fd, const std::function<std::unique_ptr<Device>()>& open) {
  if (in_fd == STDIN_FILENO) become_disposable();
  const int frames_fd = private_output(out_fd);
  if (frames_fd < 0) return kBadStream;
  Connection connection(in_fd, frames_fd);
  const auto send_error = [&](ErrorKind kind, const char* text) {
    return connection.send(FrameType::error, ErrorMessage{kind, text});
  };

  std::unique_ptr<LocalEvaluator> evaluator;
  try {
    evaluator = std::make_unique<LocalEvaluator>(open(), cublaslt_baselines);
    if (!connection.send(FrameType::hello, evaluator->info())) return kFinished;
  } catch (const Error& error) {
    return send_error(error.kind(), error.what()) ? kNoDevice : kFinished;
  }
  while (const auto frame = connection.receive()) {
    bool sent = false;
    try {
      sent = serve(*frame, *evaluator, connection);
    } catch (const Error& error) {
      sent = send_error(error.kind(), error.what());
    } catch (const std::exception& error) {
      sent = send_error(ErrorKind::internal, error.what());
    }
    if (!sent) return kFinished;
    if (evaluator->lost()) return kDeviceLost;
  }
  return connection.broken() ? kBadStream : kFinished;
}

}  // namespace kiln
