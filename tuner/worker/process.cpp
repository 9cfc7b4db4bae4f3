// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "kiln/error.hpp"

namespace kiln {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How much of the child's output to keep: the end, where the reason is.
constexpr std::size_t kMostPrinted = 4096;
/// How often a wait polls whether to give up.
constexpr int kAskEveryMs = 50;
/// How long a child that has hung up may take to exit.
constexpr seconds kFarewell{1};
constexpr int kReadsAtOnce = 16;  // of 4096 bytes: 64 KiB

[[noreturn]] void throw_cannot_start(const std::string& program, int error) {
  throw Error(ErrorKind::device, fmt::format("cannot start the worker process '{}': {}", program,
                                             std::strerror(error)));
}

/// Closes on scope exit what was not released.
struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  explicit Descriptor(int descriptor) : fd(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) close(fd);
  }
  /// Away from 0, 1 and 2, which a program may have been started without, and over which the
  /// child's descriptors are about to be copied.
  void lift() {
    if (fd < 0 || fd > STDERR_FILENO) return;
    const int lifted = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (lifted < 0) return;
    close(fd);
    fd = lifted;
  }
  int release() { return std::exchange(fd, -1); }
};

struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;

  SpawnSettings(int socket, int errors) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    // Whatever the session ignores or blocks must not be inherited.
    sigset_t all;
    sigfillset(&all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

int milliseconds_until(WorkerProcess::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - WorkerProcess::Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

/// Signals sent by something that wants a process gone, not raised by what it does.
bool is_from_outside(int status) {
  if (!WIFSIGNALED(status)) return false;
  const int signal_number = WTERMSIG(status);
  return signal_number == SIGKILL || signal_number == SIGTERM || signal_number == SIGINT ||
         signal_number == SIGHUP;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    const int signal_number = WTERMSIG(status);
    return fmt::format("was killed by signal {} ({})", signal_number, strsignal(signal_number));
  }
  return fmt::format("exited with code {}", WEXITSTATUS(status));
}

}  // namespace

WorkerProcess::WorkerProcess(const std::vector<std::string>& command) {
  if (command.empty()) {
    throw Error(ErrorKind::internal,
                "the command line of the worker process is empty; please report this bug in Kiln");
  }
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> pipes{-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw_cannot_start(command[0], errno);
  }
  Descriptor ours(sockets[0]);
  Descriptor theirs(sockets[1]);
  if (pipe2(pipes.data(), O_CLOEXEC) != 0) throw_cannot_start(command[0], errno);
  Descriptor errors_out(pipes[0]);
  Descriptor errors_in(pipes[1]);
  for (Descriptor* each : {&ours, &theirs, &errors_out, &errors_in}) each->lift();

  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  const SpawnSettings settings(theirs.fd, errors_in.fd);
  const int error = posix_spawnp(&pid_, arguments[0], &settings.actions, &settings.attributes,
                                 arguments.data(), environ);
  if (error != 0) throw_cannot_start(command[0], error);
  fcntl(errors_out.fd, F_SETFL, O_NONBLOCK);
  socket_ = ours.release();
  errors_ = errors_out.release();
}

void WorkerProcess::hang_up() const {
  shutdown(socket_, SHUT_RDWR);
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    hang_up();
    // Long enough to tear down a CUDA context.
    if (!wait_exited(kFarewell)) kill_now();
    if (wait_exited(seconds(10))) waitpid(pid_, nullptr, 0);
  }
  close_descriptors();
}

void WorkerProcess::close_descriptors() {
  for (int* fd : {&socket_, &errors_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

WorkerProcess::Result WorkerProcess::wait_for(short events, const Patience& patience) {
  for (;;) {
    // poll() skips negative descriptors.
    std::array<pollfd, 2> watched{{{socket_, events, 0}, {errors_, POLLIN, 0}}};
    int wait_ms = milliseconds_until(patience.deadline);
    if (patience.give_up) wait_ms = std::min(wait_ms, kAskEveryMs);
    const int ready = poll(watched.data(), watched.size(), wait_ms);
    if (ready < 0 && errno != EINTR) return Result::died;
    if (ready > 0 && watched[1].revents != 0) drain_errors();
    if (ready > 0 && watched[0].revents != 0) return Result::ok;
    // Even if there was something to read: a child that prints without end is no better than one
    // that hangs.
    if (Clock::now() >= patience.deadline) return Result::timed_out;
    if (patience.give_up && patience.give_up()) return Result::given_up;
  }
}

WorkerProcess::Result WorkerProcess::send(std::string_view frame, const Patience& patience) {
  while (!frame.empty()) {
    // A dead child must be a result here, not a SIGPIPE.
    const ssize_t sent = ::send(socket_, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      frame.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      hung_up_ = true;
      return Result::died;
    }
    const Result waited = wait_for(POLLOUT, patience);
    if (waited != Result::ok) return waited;
  }
  return Result::ok;
}

WorkerProcess::Result WorkerProcess::receive(Frame& frame, const Patience& patience) {
  for (;;) {
    if (auto taken = assembler_.take()) {
      frame = std::move(*taken);
      return Result::ok;
    }
    if (!assembler_.broken().empty()) {
      printed_ += fmt::format("\nthe process sent {}", assembler_.broken());
      return Result::died;
    }
    const Result waited = wait_for(POLLIN, patience);
    if (waited != Result::ok) return waited;
    std::array<char, 65536> bytes{};
    const ssize_t got = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      assembler_.feed({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
      hung_up_ = true;
      return Result::died;
    }
  }
}

/// No more than a pipe's capacity: a child that prints faster than this reads would keep it here.
void WorkerProcess::drain_errors() {
  std::array<char, 4096> bytes{};
  for (int reads = 0; reads < kReadsAtOnce; ++reads) {
    const ssize_t got = read(errors_, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got <= 0) {
      close(errors_);
      errors_ = -1;
      return;
    }
    printed_.append(bytes.data(), static_cast<std::size_t>(got));
    if (printed_.size() > kMostPrinted) printed_.erase(0, printed_.size() - kMostPrinted);
  }
}

/// Checks without reaping, so that the process group id stays taken until all of it is killed.
bool WorkerProcess::wait_exited(Clock::duration patience) const {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return errno != EINTR;
    }
    if (info.si_pid == pid_) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void WorkerProcess::kill_now() const {
  kill(-pid_, SIGKILL);
}

WorkerProcess::Ending WorkerProcess::end() {
  // A child that has hung up is exiting, and should not be killed before it has reported why.
  const bool by_itself = wait_exited(hung_up_ ? kFarewell : milliseconds(0));
  kill_now();
  if (!wait_exited(seconds(30))) {
    throw Error(ErrorKind::device,
                fmt::format("Kiln cannot kill the worker process {}: its kernel still occupies the "
                            "device. Next: reset the device, or restart the machine",
                            pid_));
  }
  int status = 0;
  // If SIGCHLD is ignored, no exit status is available.
  const bool seen = waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  if (errors_ >= 0) drain_errors();
  close_descriptors();
  Ending ending;
  ending.text =
      seen ? describe(status) : "ended without an exit status, because SIGCHLD is ignored";
  ending.from_outside = seen && by_itself && is_from_outside(status);
  while (!printed_.empty() && printed_.back() == '\n') printed_.pop_back();
  if (!printed_.empty()) ending.text += fmt::format("; it printed: {}", printed_);
  return ending;
}

}  // namespace kiln
