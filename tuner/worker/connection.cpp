// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/connection.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>

namespace kiln {
namespace {

int private_output(int out_fd) {
  if (out_fd != STDOUT_FILENO) return out_fd;
  const int moved = fcntl(out_fd, F_DUPFD_CLOEXEC, 3);
  if (moved < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  return moved;
}

}  // namespace

void leave_no_core() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

WorkerConnection::WorkerConnection(int in_fd, int out_fd)
    : in_fd_(in_fd), out_fd_(private_output(out_fd)) {}

bool WorkerConnection::serve_next(const std::function<bool(const Frame&)>& serve) {
  const auto frame = receive();
  if (!frame) return false;
  try {
    return serve(*frame);
  } catch (const Error& error) {
    return send_error(error.kind(), error.what());
  } catch (const std::exception& error) {
    return send_error(ErrorKind::internal, error.what());
  }
}

std::optional<Frame> WorkerConnection::receive() {
  if (out_fd_ < 0) return std::nullopt;
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

bool WorkerConnection::send_payload(FrameType type, std::string_view payload) {
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

WorkerConnection::ExitCode WorkerConnection::exit_code() const {
  return out_fd_ < 0 || !assembler_.broken().empty() ? kBadStream : kFinished;
}

}  // namespace kiln
