// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

// The child's side of a worker process: one request at a time, until the session closes its end.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "kiln/error.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/local_evaluator.hpp"
#include "tuner/measure/cublaslt_baselines.hpp"
#include "tuner/worker/connection.hpp"
#include "tuner/worker/messages.hpp"
#include "tuner/worker/wire.hpp"

namespace kiln {
namespace {

/// Exit codes beside WorkerConnection's.
constexpr int kNoDevice = 2;
constexpr int kDeviceLost = 3;

/// For a process whose only purpose this is. While it waits for a kernel that hangs it does not see
/// the end of its input, so it asks to die with its parent.
void become_disposable() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  leave_no_core();
}

/// Answers one request. False when the answer could not be sent.
bool serve(const Frame& frame, LocalEvaluator& evaluator, WorkerConnection& connection) {
  const auto malformed = [&] {
    return connection.send_error(
        ErrorKind::internal,
        "the worker process got a request that it cannot read; please report this bug in Kiln");
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
  WorkerConnection connection(in_fd, out_fd);
  std::unique_ptr<LocalEvaluator> evaluator;
  try {
    evaluator = std::make_unique<LocalEvaluator>(open(), cublaslt_baselines);
    if (!connection.send(FrameType::hello, evaluator->info())) return WorkerConnection::kFinished;
  } catch (const Error& error) {
    if (connection.send_error(error.kind(), error.what())) return kNoDevice;
    return WorkerConnection::kFinished;
  }
  const auto serve_one = [&](const Frame& frame) { return serve(frame, *evaluator, connection); };
  while (connection.serve_next(serve_one)) {
    if (evaluator->lost()) return kDeviceLost;
  }
  return connection.exit_code();
}

}  // namespace kiln
