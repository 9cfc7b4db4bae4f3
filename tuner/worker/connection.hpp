// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kiln/error.hpp"
#include "tuner/worker/messages.hpp"
#include "tuner/worker/wire.hpp"

namespace kiln {

/// A process that is expected to crash need not leave core files of its size.
void leave_no_core();

/// A child's end of what it shares with the session: requests come in, answers go out. Used by one
/// thread.
class WorkerConnection {
 public:
  /// Of a child, for one that is started by hand.
  enum ExitCode : int { kFinished = 0, kBadStream = 1 };

  /// If `out_fd` is the standard output, it is redirected to stderr, for kernels and libraries
  /// write there, and frames travel on a private descriptor.
  WorkerConnection(int in_fd, int out_fd);

  /// Waits for a request and has it served; `serve` returns whether it could send its answer, and
  /// what it throws is sent as an error. False if nothing was sent, or there is no request: at the
  /// end of the stream, or when it is broken.
  [[nodiscard]] bool serve_next(const std::function<bool(const Frame&)>& serve);
  /// False if nobody is there to receive it.
  template <class Message>
  [[nodiscard]] bool send(FrameType type, const Message& message) {
    return send_payload(type, encode_message(message));
  }
  [[nodiscard]] bool send_payload(FrameType type, std::string_view payload);

  [[nodiscard]] bool send_error(ErrorKind kind, std::string text) {
    return send(FrameType::error, ErrorMessage{kind, std::move(text)});
  }

  /// Once nothing more can be served.
  [[nodiscard]] ExitCode exit_code() const;

 private:
  /// The next request; nothing at the end of the stream or when it is broken.
  [[nodiscard]] std::optional<Frame> receive();

  int in_fd_;
  int out_fd_;  ///< -1: there is none
  FrameAssembler assembler_;
};

}  // namespace kiln
