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

CompileResult failed(std::string log) {
  CompileResult result;
  result.log = std::move(log);
  return result;
}

}  // namespace

ProcessCompiler::ProcessCompiler(std::vector<std::string> command, std::unique_ptr<Compiler> here,
                                 Warn warn)
    : command_(std::move(command)), here_(std::move(here)), warn_(std::move(warn)) {}

ProcessCompiler::~ProcessCompiler() {
  idle_.clear();
  if (!killed_any_) return;
  try {
    PrivateFolder::sweep(temporary_files_path());
  } catch (const Error&) {
    // The next process that precompiles headers removes what is left.
  }
}

CompileResult ProcessCompiler::compile(const CompileRequest& request) {
  const std::string frame = encode_frame(FrameType::compile, encode_message(request));
  // A compilation may take as long as it wants, as in this process.
  const WorkerProcess::Patience patience{
      WorkerProcess::Clock::time_point::max(),
      [this, before = given_up_.load()] { return given_up_ != before; }};
  for (const bool last : {false, true}) {
    Child child = take_child();
    Frame answer;
    auto result = child->send(frame, patience);
    if (result == WorkerProcess::Result::ok) result = child->receive(answer, patience);
    std::optional<CompileReply> reply;
    if (result == WorkerProcess::Result::ok) {
      if (answer.type == FrameType::error) {
        const auto error = decode_message<ErrorMessage>(answer.payload);
        if (error) throw Error(error->kind, error->text);
      }
      if (answer.type == FrameType::compiled) reply = decode_message<CompileReply>(answer.payload);
    }
    if (reply) {
      put_back(std::move(child));
      pass_on(reply->warnings);
      return std::move(reply->result);
    }
    const WorkerProcess::Ending ending = child->end();
    killed_any_ = true;
    if (result == WorkerProcess::Result::given_up) return failed("the compilation was given up\n");
    // It may not have been this kernel's doing: a system that is short of memory kills processes.
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
ProcessCompiler::Child ProcessCompiler::take_child() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Child child = std::move(idle_.back());
      idle_.pop_back();
      return child;
    }
  }
  return std::make_unique<WorkerProcess>(command_);
}

void ProcessCompiler::put_back(Child child) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(child));
}

void ProcessCompiler::pass_on(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    {
      const std::lock_guard lock(mutex_);
      if (!warned_.insert(warning).second) continue;
    }
    if (warn_) warn_(warning);
  }
}

}  // namespace kiln
