// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/compile/process_compiler.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <optional>
#include <utility>

#include "cache/files/locations.hpp"
#include "cache/files/private_folder.hpp"
#include "kiln/error.hpp"
#include "tuner/worker/messages.hpp"

namespace kiln {
namespace {

using Result = WorkerProcess::Result;

/// More compilers than that would keep the session and what measures from their work.
constexpr int kFew = 2;
constexpr int kNicer = 5;
/// How often a wait for another thread's child asks whether to give up.
constexpr std::chrono::milliseconds kAskEvery{50};

/// The compiler did not survive the source, which is the source's fault.
CompileResult crashed(const CompileRequest& request, const std::string& ending) {
  CompileResult result;
  result.log = fmt::format(
      "{}: the compiler crashed twice while it compiled this file (the compiler process {}). Next: "
      "look for huge or deeply nested code (also in macros and template recursion), and simplify "
      "this code\n",
      request.source_name, ending);
  return result;
}

template <class Message>
Message decoded(const Frame& frame, FrameType wanted) {
  if (frame.type == FrameType::error) throw_as_told(frame.payload);
  auto message = frame.type == wanted ? decode_message<Message>(frame.payload) : std::nullopt;
  if (!message) {
    throw Error(ErrorKind::internal,
                "the compiler process sent an answer that Kiln cannot read; "
                "please report this bug in Kiln");
  }
  return std::move(*message);
}

}  // namespace

struct ProcessCompiler::Child {
  explicit Child(const std::vector<std::string>& command) : process(command) {}
  WorkerProcess process;
  bool greeted = false;
};

ProcessCompiler::ProcessCompiler(std::vector<std::string> command, const Make& make_here, Warn warn,
                                 int early)
    : command_(std::move(command)), warn_(std::move(warn)) {
  // They load NVRTC while this process does.
  while (early-- > 0) {
    auto child = start_child();
    if (!child) break;
    idle_.push_back(std::move(child));
  }
  here_ = make_here();
}

ProcessCompiler::~ProcessCompiler() {
  try {
    // They have nothing to lose, and each takes a while to go: all of them at the same time.
    for (const ChildPtr& child : idle_) child->process.kill_now();
    for (ChildPtr& child : idle_) (void)end(std::move(child));
  } catch (const Error&) {
    // It cannot be killed, and is left to the system.
  }
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
  // A compilation may take as long as somebody waits for it.
  const WorkerProcess::Patience patience{WorkerProcess::Clock::time_point::max(), request.give_up};
  for (const bool last : {false, true}) {
    ChildPtr child = take_child(last, patience);
    if (!child && request.give_up && request.give_up()) return given_up_result();
    if (!child) return here_->compile(request);
    Frame answer;
    Result result = child->process.send(frame, patience);
    if (result == Result::ok) result = child->process.receive(answer, patience);
    if (result == Result::ok) {
      put_back(std::move(child));
      auto reply = decoded<CompileReply>(answer, FrameType::compiled);
      for (const std::string& warning : reply.warnings) warn_once(warning);
      return std::move(reply.result);
    }
    const WorkerProcess::Ending ending = end(std::move(child));
    if (result == Result::given_up) return given_up_result();
    if (last && ending.from_outside) {
      throw Error(
          ErrorKind::compiler,
          fmt::format("two compiler processes failed in succession; the second process {}. Next: "
                      "look for a lack of memory in the output of `dmesg`. If memory was short, "
                      "compile fewer kernels at a time with --compile-threads",
                      ending.text));
    }
    if (last) return crashed(request, ending.text);
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

/// Nothing if there is none, or it was given up. A `fresh` one has compiled nothing, if there is
/// room for it.
ProcessCompiler::ChildPtr ProcessCompiler::take_child(bool fresh,
                                                      const WorkerProcess::Patience& patience) {
  while (true) {
    ChildPtr child = idle_child(fresh);
    if (!child) child = start_child();
    if (child && (child->greeted || greets(child, patience))) return child;
    if (patience.give_up && patience.give_up()) return nullptr;
    std::unique_lock lock(mutex_);
    if (living_ == 0) break;
    // Others compile: there is one for this thread when they are done.
    if (idle_.empty()) returned_.wait_for(lock, kAskEvery);
  }
  warn_once(
      fmt::format("Kiln cannot start a compiler process ({}), so Kiln compiles in its own process. "
                  "Therefore a signal or the end of the budget cannot stop a running compilation",
                  why_not()));
  return nullptr;
}

/// The one that compiled last has most in its caches.
ProcessCompiler::ChildPtr ProcessCompiler::idle_child(bool fresh) {
  const std::lock_guard lock(mutex_);
  if (idle_.empty() || (fresh && why_not_.empty())) return nullptr;
  ChildPtr child = std::move(idle_.back());
  idle_.pop_back();
  return child;
}

/// Without waiting for it. Nothing if it cannot be started.
ProcessCompiler::ChildPtr ProcessCompiler::start_child() {
  {
    // As long as one lives there may be no room for another: that is not asked for again and again.
    const std::lock_guard lock(mutex_);
    if (unsuited_ || (!why_not_.empty() && living_ > 0)) return nullptr;
    ++living_;
  }
  try {
    auto child = std::make_unique<Child>(command_);
    lower_if_many(child->process.pid());
    return child;
  } catch (const Error& error) {
    forget(error.what());
    return nullptr;
  }
}

/// Whose threads inherit it.
void ProcessCompiler::lower_if_many(pid_t child) {
  const std::lock_guard lock(mutex_);
  unlowered_.insert(child);
  if (living_ <= kFew) return;
  for (const pid_t each : unlowered_) {
    setpriority(PRIO_PROCESS, static_cast<id_t>(each), getpriority(PRIO_PROCESS, 0) + kNicer);
  }
  unlowered_.clear();
}

/// Waits until the child can work. It is gone if it cannot, or is not what this process would be.
bool ProcessCompiler::greets(ChildPtr& child, const WorkerProcess::Patience& patience) {
  std::string why;
  try {
    Frame frame;
    const Result result = child->process.receive(frame, patience);
    if (result == Result::ok) {
      const auto greeting = decoded<CompilerGreeting>(frame, FrameType::greeting);
      child->greeted = greeting.identity == identity();
      if (child->greeted) return true;
      why = fmt::format("the new process uses {}, but this process uses {}", greeting.identity,
                        identity());
    }
    const std::string ending = end(std::move(child)).text;
    if (result == Result::given_up) return false;
    if (why.empty()) why = "the new process " + ending;
  } catch (const Error& error) {
    if (child) (void)end(std::move(child));
    why = error.what();
  }
  const std::lock_guard lock(mutex_);
  unsuited_ = true;
  why_not_ = std::move(why);
  return false;
}

std::string ProcessCompiler::why_not() {
  const std::lock_guard lock(mutex_);
  return why_not_;
}

/// One lives no longer, or could not be started.
void ProcessCompiler::forget(std::string why_not) {
  {
    const std::lock_guard lock(mutex_);
    --living_;
    if (!why_not.empty()) why_not_ = std::move(why_not);
  }
  returned_.notify_all();
}

void ProcessCompiler::put_back(ChildPtr child) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(child));
  }
  returned_.notify_one();
}

WorkerProcess::Ending ProcessCompiler::end(ChildPtr child) {
  ended_any_ = true;
  {
    const std::lock_guard lock(mutex_);
    unlowered_.erase(child->process.pid());
  }
  const struct Forgotten {
    ProcessCompiler& compiler;
    ~Forgotten() { compiler.forget(""); }
  } forgotten{*this};
  return child->process.end();
}

void ProcessCompiler::warn_once(const std::string& warning) {
  {
    const std::lock_guard lock(mutex_);
    if (!warned_.insert(warning).second) return;
  }
  if (warn_) warn_(warning);
}

}  // namespace kiln
