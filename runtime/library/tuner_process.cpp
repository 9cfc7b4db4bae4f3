// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/library/tuner_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "runtime/compile/cuda_paths.hpp"

namespace kiln::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKeptBytes = 2000;

/// What a child inherits from the application: only its environment and working folder.
class SpawnSettings {
 public:
  explicit SpawnSettings(const std::array<int, 2>& error_pipe) {
    posix_spawn_file_actions_init(&actions_);
    // The pipe first: if the application was started without standard streams, the pipe may have
    // one of their numbers.
    posix_spawn_file_actions_adddup2(&actions_, error_pipe[1], STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
#if __GLIBC_PREREQ(2, 34)
    // Not all applications open their files and sockets close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    posix_spawnattr_init(&attributes_);
    sigset_t all;
    sigfillset(&all);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* actions() const {
    return &actions_;
  }
  [[nodiscard]] const posix_spawnattr_t* attributes() const {
    return &attributes_;
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Reads to the end and keeps the last part.
std::string drain(int descriptor) {
  std::string kept;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    kept.append(buffer.data(), static_cast<std::size_t>(count));
    if (kept.size() > kKeptBytes) kept.erase(0, kept.size() - kKeptBytes);
  }
  while (kept.ends_with('\n')) kept.pop_back();
  return kept;
}

std::string describe(int status, const std::string& last_words) {
  std::string text = WIFSIGNALED(status) ? fmt::format("killed by signal {}", WTERMSIG(status))
                                         : fmt::format("exit code {}", WEXITSTATUS(status));
  if (!last_words.empty()) text += ": " + last_words;
  return text;
}

}  // namespace

std::vector<std::string> tuner_command(const std::string& program,
                                       const std::vector<std::string>& words,
                                       const TunerSettings& settings) {
  std::vector<std::string> command{program, "tune"};
  command.insert(command.end(), words.begin(), words.end());
  const auto add_given = [&command](const char* flag, const std::string& value) {
    if (value.empty()) return;
    command.emplace_back(flag);
    command.push_back(value);
  };
  add_given("--db", settings.database);
  add_given("--cubin-store", settings.cubin_store);
  add_given("--device", settings.device);
  add_given("--template-path", fmt::format("{}", fmt::join(settings.template_path, ":")));
  add_given("--include", fmt::format("{}", fmt::join(settings.include, ":")));
  add_given("--cuda-include", settings.cuda_include);
  add_given("--objective", settings.objective);
  command.emplace_back("--quiet");
  return command;
}

std::string find_tuner(const std::string& library_folder, const std::string& program_folder) {
  const fs::path library = library_folder;
  // On Debian, libraries are one folder deeper, in lib/<machine>.
  for (const fs::path& candidate :
       {library / "kiln", library.parent_path() / "bin/kiln",
        library.parent_path().parent_path() / "bin/kiln", fs::path(program_folder) / "kiln"}) {
    std::error_code error;
    // If a folder is unknown, the working folder is not searched instead.
    if (candidate.is_absolute() && fs::is_regular_file(candidate, error) &&
        ::access(candidate.c_str(), X_OK) == 0) {
      return candidate.string();
    }
  }
  return "kiln";
}

std::string find_tuner() {
  std::error_code error;
  fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  const std::string found = find_tuner(own_folder(), program.string());
  // There PATH is under another user's control.
  if (found == "kiln" && ::getauxval(AT_SECURE) != 0) return ("/" / program / found).string();
  return found;
}

std::string run_program(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& argument : command)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  std::array<int, 2> error_pipe{-1, -1};
  // Close-on-exec: a child that another thread starts at this moment must not keep it open.
  if (::pipe2(error_pipe.data(), O_CLOEXEC) != 0) return std::strerror(errno);
  pid_t child = -1;
  const SpawnSettings settings(error_pipe);
  const int error = ::posix_spawnp(&child, arguments[0], settings.actions(), settings.attributes(),
                                   arguments.data(), environ);
  ::close(error_pipe[1]);
  if (error != 0) {
    ::close(error_pipe[0]);
    return fmt::format("cannot start '{}': {}", command[0], std::strerror(error));
  }
  const std::string last_words = drain(error_pipe[0]);
  ::close(error_pipe[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno == EINTR) continue;
    // An application that ignores SIGCHLD never learns how its children end. A program that printed
    // nothing is taken to have done its work.
    return last_words;
  }
  return status == 0 ? std::string() : describe(status, last_words);
}

}  // namespace kiln::detail
