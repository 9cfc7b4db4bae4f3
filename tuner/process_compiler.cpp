// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/process_compiler.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "cache/locations.hpp"
#include "cache/private_folder.hpp"
#include "kiln/error.hpp"
#include "tuner/messages.hpp"

namespace kiln {
namespace {

using Result = WorkerProcess::Result;

CompileResult failed(std::string log) {
  CompileResult result;
  result.log = std::move(log);
  return result;
}

template <class Message>
Message decoded(const Frame& frame, FrameType wanted) {
  if (frame.type == FrameType::error) throw_as_told(frame.payload);
  auto message = frame.type == wanted ? decode_message<Message>(frame.payload) : std::nullopt;
  if (!message) {
    throw Error(ErrorKind::internal, "a compiler's process sent a malformed answer");
  }
  return std::move(*message);
}

}  // namespace

ProcessCompiler::ProcessCompiler(std::vector<std::string> command, std::unique_ptr<Compiler> here,
                                 Warn warn)
    : command_(std::move(command)), here_(std::move(here)), warn_(std::move(warn)) {}

ProcessCompiler::~ProcessCompiler() {
  for (const Child& child : idle_) child->hang_up();
  idle_.clear();
  if (!ended_any_) return;
  try {
    // Whoever makes a folder beside them removes those of killed processes.
    std::string ignored;
    (void)PrivateFolder::make(temporary_files_path(), ignored);
  } catch (const Error&) {
    // The next process that precompiles headers does it.
  }
}

CompileResult ProcessCompiler::compile(const CompileRequest& request) {
  const std::string frame = encode_frame(FrameType::compile, encode_message(request));
  // A compilation may take as long as it wants, as in this process.
  const WorkerProcess::Patience patience{
      WorkerProcess::Clock::time_point::max(),
      [this, before = given_up_.load()] { return given_up_ != before; }};
  for (const bool last : {false, true}) {
    Child child = last ? nullptr : idle_child();
    if (!child && !starts_none_) child = new_child(patience);
    if (!child && patience.give_up()) return failed("the compilation was given up\n");
    if (!child) return here_->compile(request);
    Frame answer;
    Result result = child->send(frame, patience);
    if (result == Result::ok) result = child->receive(answer, patience);
    if (result == Result::ok) {
      put_back(std::move(child));
      auto reply = decoded<CompileReply>(answer, FrameType::compiled);
      for (const std::string& warning : reply.warnings) warn_once(warning);
      return std::move(reply.result);
    }
    const WorkerProcess::Ending ending = end(std::move(child));
    if (result == Result::given_up) return failed("the compilation was given up\n");
    if (last && ending.from_outside) {
      throw Error(ErrorKind::compiler,
                  fmt::format("a compiler's process {}, like the one before it. If memory was "
                              "short, `dmesg` says so: fewer compile at a time with "
                              "--compile-threads",
                              ending.text));
    }
    if (last) return failed(fmt::format("twice, the compiler's process {}\n", ending.text));
  }
  return {};
}

std::string ProcessCompiler::identity() const {
  return here_->identity();
}

std::string ProcessCompiler::options_text(const CompileRequest& request) const {
  return here_->options_text(request);
}

std::vector<std::string> ProcessCompiler::supported_archs() const {
  return here_->supported_archs();
}

/// The one that compiled last has most in its caches.
ProcessCompiler::Child ProcessCompiler::idle_child() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return nullptr;
  Child child = std::move(idle_.back());
  idle_.pop_back();
  return child;
}

/// Nothing if it cannot be started, or is not what this process would be.
ProcessCompiler::Child ProcessCompiler::new_child(const WorkerProcess::Patience& patience) {
  std::string why;
  try {
    auto child = std::make_unique<WorkerProcess>(command_);
    Frame frame;
    const Result result = child->receive(frame, patience);
    if (result == Result::ok) {
      const auto greeting = decoded<CompilerGreeting>(frame, FrameType::greeting);
      if (greeting.identity == identity()) return child;
      why = fmt::format("it has {}, not {}", greeting.identity, identity());
    } else {
      why = "it " + end(std::move(child)).text;
    }
    if (result == Result::given_up) return nullptr;
  } catch (const Error& error) {
    why = error.what();
  }
  starts_none_ = true;
  warn_once(fmt::format(
      "no process can be started to compile in, so threads wait for each other: {}", why));
  return nullptr;
}

void ProcessCompiler::put_back(Child child) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(child));
}

WorkerProcess::Ending ProcessCompiler::end(Child child) {
  ended_any_ = true;
  return child->end();
}

void ProcessCompiler::warn_once(const std::string& warning) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.insert(warning).second) return;
  }
  if (warn_) warn_(warning);
}

}  // namespace kiln
