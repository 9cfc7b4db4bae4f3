// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/sandbox.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "tests/support/shared_cache.hpp"

namespace kiln::cli {
namespace {

/// In the child, between fork and exec: only calls that are safe there.
void redirect(const std::string& path, int descriptor) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  close(file);
}

/// The near end of a new pseudo-terminal; -1 if there is none.
int open_terminal() {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) return -1;
  if (grantpt(terminal) == 0 && unlockpt(terminal) == 0) return terminal;
  close(terminal);
  return -1;
}

/// Starts a program; `redirect_streams` runs in the child and may only call what is safe there.
template <class Redirect>
pid_t start(std::vector<std::string> words, const std::map<std::string, std::string>& environment,
            const std::string& folder, const Redirect& redirect_streams) {
  std::vector<std::string> settings;
  for (const auto& [name, value] : environment) settings.push_back(name + "=" + value);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> envp;
  for (auto& setting : settings) envp.push_back(setting.data());
  envp.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    redirect_streams();
    if (chdir(folder.c_str()) != 0) _exit(126);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  return child;
}

/// Waits for the end of a process.
int exit_code_of(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child) throw std::runtime_error("waitpid failed");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Words on_gemm(const std::string& verb, int m, int n, int k) {
  return {verb,  "gemm",           "--m", std::to_string(m), "--n", std::to_string(n),
          "--k", std::to_string(k)};
}

Sandbox::Sandbox(Cache cache) {
  std::string pattern = (std::filesystem::temp_directory_path() / "kiln-cli-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  const auto programs = std::filesystem::path(KILN_PROGRAM).parent_path().string();
  environment_ = {{"PATH", programs + ":/usr/bin:/bin"},
                  {"HOME", folder_.string()},
                  {"XDG_DATA_HOME", (folder_ / "data").string()},
                  {"XDG_CACHE_HOME",
                   cache == Cache::own ? (folder_ / "cache").string() : testing::shared_cache()},
                  {"CUDA_VISIBLE_DEVICES", ""},
                  {"TERM", "dumb"},
                  {"LC_ALL", "C"}};
  // Where the tests' own surroundings lead to CUDA and to coverage data, the program goes as well.
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV",
                           "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "GCOV_PREFIX"}) {
    if (const char* value = std::getenv(name)) environment_[name] = value;
  }
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::filesystem::path Sandbox::database() const {
  return folder_ / "data" / "kiln" / "tuning.db";
}

Run Sandbox::run(const Words& arguments) const {
  const Words words = with({KILN_PROGRAM}, arguments);
  Run result = run_words(words);
  result.arguments = arguments;
  return result;
}

Run Sandbox::shell(const std::string& line) const {
  return run_words({"/bin/sh", "-c", line});
}

Run Sandbox::run_words(const Words& words) const {
  const std::string out = (folder_ / ".stdout").string();
  const std::string err = (folder_ / ".stderr").string();
  Run result;
  result.arguments = words;
  result.exit_code = exit_code_of(start(words, environment_, folder_.string(), [&] {
    redirect(out, STDOUT_FILENO);
    redirect(err, STDERR_FILENO);
  }));
  result.out = read(".stdout");
  result.err = read(".stderr");
  return result;
}

bool has_terminals() {
  const int terminal = open_terminal();
  if (terminal < 0) return false;
  const int line = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (line >= 0) close(line);
  close(terminal);
  return line >= 0;
}

Run Sandbox::run_on_terminal(const Words& arguments) const {
  const int terminal = open_terminal();
  if (terminal < 0) throw std::runtime_error("no pseudo-terminal");
  const std::string name = ptsname(terminal);
  const Words words = with({KILN_PROGRAM}, arguments);
  const pid_t child = start(words, environment_, folder_.string(), [&] {
    const int line = open(name.c_str(), O_RDWR | O_NOCTTY);
    if (line < 0 || dup2(line, STDOUT_FILENO) < 0 || dup2(line, STDERR_FILENO) < 0) _exit(126);
    close(line);
  });
  Run result;
  result.arguments = arguments;
  std::array<char, 4096> piece{};
  // Reading fails when the last process that has the line open is gone; before the child opened it
  // as well, so a first failure means nothing while the child lives.
  bool ended = false;
  while (true) {
    const ssize_t length = ::read(terminal, piece.data(), piece.size());
    if (length > 0) {
      result.out.append(piece.data(), static_cast<std::size_t>(length));
      continue;
    }
    if (ended) break;
    siginfo_t state{};
    ended = waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            state.si_pid == child;
    if (!ended) usleep(1000);
  }
  close(terminal);
  result.exit_code = exit_code_of(child);
  return result;
}

void Sandbox::write(const std::string& name, const std::string& text) const {
  std::ofstream(folder_ / name, std::ios::binary) << text;
}

std::string Sandbox::read(const std::string& name) const {
  std::ifstream in(folder_ / name, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string Sandbox::without_paths(std::string text) const {
  const auto path = folder_.string();
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at)) {
    text.replace(at, path.size(), "$DIR");
  }
  return text;
}

}  // namespace kiln::cli
