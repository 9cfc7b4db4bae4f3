// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/evaluator.hpp"

#include <fmt/format.h>

#include <utility>

#include "kiln/error.hpp"
#include "tuner/worker/messages.hpp"

namespace kiln {
namespace {

/// Opening a device takes 0.2 to 0.5 s; on a machine that has to wake its GPUs first, much longer.
constexpr double kHelloSeconds = 60.0;
/// The references of a large problem take seconds; on a small device, many.
constexpr double kSetUpSeconds = 300.0;

WorkerProcess::Patience wait_for(double seconds, GiveUp give_up = {}) {
  return {WorkerProcess::Clock::now() + std::chrono::duration_cast<WorkerProcess::Clock::duration>(
                                            std::chrono::duration<double>(seconds)),
          std::move(give_up)};
}

}  // namespace

WorkerEvaluator::WorkerEvaluator(std::vector<std::string> command, const GiveUp& give_up)
    : command_(std::move(command)), process_(std::make_unique<WorkerProcess>(command_)) {
  if (await_hello(give_up)) return;
  throw Error(ErrorKind::device,
              "the run was stopped before the worker process had opened the device");
}

void WorkerEvaluator::set_up(const EvaluationSetup& setup) {
  setup_frame_ = encode_frame(FrameType::set_up, encode_message(setup));
  set_up_done_ = false;
}

/// Called before every request. A new child may find a device that is still being cleaned up after
/// the last one, so it gets a second chance; two failures in a row mean a broken device.
bool WorkerEvaluator::make_ready(const GiveUp& give_up) {
  if (setup_frame_.empty()) {
    throw Error(ErrorKind::internal,
                "the evaluator ran before its setup; please report this bug in Kiln");
  }
  if (process_ && greeted_ && set_up_done_) return true;
  if (process_ && !greeted_) {
    try {
      if (!await_hello(give_up)) return false;
    } catch (const Error&) {
      replace();
    }
  }
  if (!process_) replace();
  if (!process_) process_ = std::make_unique<WorkerProcess>(command_);  // says why it cannot
  return (greeted_ || await_hello(give_up)) && tell_set_up(give_up);
}

bool WorkerEvaluator::await_hello(const GiveUp& give_up) {
  Exchange hello = expect(FrameType::hello, wait_for(kHelloSeconds, give_up));
  if (hello.from_outside) {
    // A signal to the session's process group can meet a child that has not left the group yet.
    replace();
    if (process_) hello = expect(FrameType::hello, wait_for(kHelloSeconds, give_up));
  }
  if (hello.given_up) return false;
  if (hello.outcome != Outcome::ok) {
    throw Error(ErrorKind::device,
                fmt::format("the worker process did not open the device: {}", hello.message));
  }
  auto info = decode_message<DeviceInfo>(hello.payload);
  if (!info) {
    throw Error(
        ErrorKind::internal,
        "the worker process sent a greeting that Kiln cannot read; please report this bug in Kiln");
  }
  info_ = std::move(*info);
  greeted_ = true;
  return true;
}

bool WorkerEvaluator::tell_set_up(const GiveUp& give_up) {
  Exchange ready = exchange(setup_frame_, FrameType::ready, wait_for(kSetUpSeconds, give_up));
  if (ready.from_outside) {
    replace();
    if (process_ && !await_hello(give_up)) return false;
    if (process_) {
      ready = exchange(setup_frame_, FrameType::ready, wait_for(kSetUpSeconds, give_up));
    }
  }
  if (ready.given_up) return false;
  if (ready.outcome != Outcome::ok) {
    throw Error(
        ErrorKind::device,
        fmt::format("the worker process ended while it prepared the problem: {}", ready.message));
  }
  set_up_done_ = true;
  return true;
}

WorkerEvaluator::Exchange WorkerEvaluator::exchange(const std::string& frame, FrameType answer,
                                                    const WorkerProcess::Patience& patience,
                                                    const Meanwhile& meanwhile) {
  const WorkerProcess::Result sent = process_->send(frame, patience);
  if (sent != WorkerProcess::Result::ok) return ended(sent);
  if (meanwhile) meanwhile();
  return expect(answer, patience);
}

WorkerEvaluator::Exchange WorkerEvaluator::expect(FrameType answer,
                                                  const WorkerProcess::Patience& patience) {
  Frame frame;
  const WorkerProcess::Result received = process_->receive(frame, patience);
  if (received != WorkerProcess::Result::ok) return ended(received);
  if (frame.type == FrameType::error) throw_as_told(frame.payload);
  if (frame.type != answer) return ended(WorkerProcess::Result::died);
  Exchange result;
  result.payload = std::move(frame.payload);
  return result;
}

/// Reaps the child and reports what it died of.
WorkerEvaluator::Exchange WorkerEvaluator::ended(WorkerProcess::Result result) {
  Exchange exchange;
  const bool timed_out = result == WorkerProcess::Result::timed_out;
  exchange.given_up = result == WorkerProcess::Result::given_up;
  exchange.outcome = timed_out ? Outcome::timed_out : Outcome::crashed;
  const std::unique_ptr<WorkerProcess> process = std::move(process_);
  greeted_ = false;
  set_up_done_ = false;
  const WorkerProcess::Ending ending = process->end();
  exchange.from_outside = ending.from_outside && result == WorkerProcess::Result::died;
  exchange.message = timed_out ? "the worker process was killed at the time limit"
                               : fmt::format("the worker process {}", ending.text);
  return exchange;
}

/// Starts the next child without waiting for it: it opens the device while the session continues.
void WorkerEvaluator::replace() {
  ++restarts_;
  greeted_ = false;
  set_up_done_ = false;
  process_.reset();
  try {
    process_ = std::make_unique<WorkerProcess>(command_);
  } catch (const Error&) {
    // The outcome of the current candidate must not be lost; the next request tries again.
  }
}

WorkerEvaluator::Exchange WorkerEvaluator::ask(FrameType type, std::string_view payload,
                                               FrameType answer, double timeout_s,
                                               const GiveUp& give_up, const Meanwhile& meanwhile) {
  const std::string frame = encode_frame(type, payload);
  Exchange result;
  bool called = !meanwhile;
  const auto once = [&] {
    if (!std::exchange(called, true)) meanwhile();
  };
  for (const bool last : {false, true}) {
    if (!make_ready(give_up)) {
      result.given_up = true;
      return result;
    }
    result = exchange(frame, answer, wait_for(timeout_s, give_up), once);
    if (result.given_up || result.outcome == Outcome::ok) return result;
    replace();
    if (!result.from_outside) break;
    // Most were merely running when memory ran short, so one time does not count against it.
    if (last) {
      result.message += fmt::format(
          "; this happened twice in succession. The signal came from another process or from the "
          "system, not from the kernel. Next: look for a lack of memory in the output of `dmesg`");
    }
  }
  if (result.outcome == Outcome::timed_out) {
    result.message = fmt::format(
        "Kiln killed the worker process, because it took longer than {:g} s", timeout_s);
  }
  return result;
}

std::optional<Evaluation> WorkerEvaluator::evaluate(const EvaluationJob& job, const GiveUp& give_up,
                                                    const Meanwhile& meanwhile) {
  Exchange exchange = ask(FrameType::evaluate, encode_message(job), FrameType::evaluation,
                          job.timeout_s, give_up, meanwhile);
  if (exchange.given_up) return std::nullopt;
  if (exchange.outcome != Outcome::ok) {
    return Evaluation{exchange.outcome, exchange.message, {}, {}};
  }
  auto reply = decode_message<EvaluationReply>(exchange.payload);
  if (!reply) {
    throw Error(ErrorKind::internal,
                "the worker process sent an evaluation that Kiln cannot read; please report this "
                "bug in Kiln");
  }
  if (reply->device_lost) replace();
  return std::move(reply->evaluation);
}

std::optional<Comparison> WorkerEvaluator::compare(const ComparisonRequest& request,
                                                   const GiveUp& give_up) {
  Exchange exchange = ask(FrameType::compare, encode_message(request), FrameType::comparison,
                          request.timeout_s, give_up);
  if (exchange.given_up) return std::nullopt;
  if (exchange.outcome == Outcome::ok) {
    auto reply = decode_message<ComparisonReply>(exchange.payload);
    if (!reply) {
      throw Error(ErrorKind::internal,
                  "the worker process sent a comparison that Kiln cannot read; please report this "
                  "bug in Kiln");
    }
    if (reply->device_lost) replace();
    return std::move(reply->comparison);
  }
  // Which of them ended the child is unknown, so all share the outcome.
  Comparison comparison;
  for (const EvaluationJob& job : request.jobs) {
    ComparisonRow& row = comparison.jobs.emplace_back();
    row.label = job.label;
    row.outcome = exchange.outcome;
    row.message = exchange.message;
  }
  comparison.note = exchange.message;
  return comparison;
}

std::unique_ptr<Evaluator> make_worker_evaluator(std::vector<std::string> command,
                                                 const GiveUp& give_up) {
  return std::make_unique<WorkerEvaluator>(std::move(command), give_up);
}

}  // namespace kiln
