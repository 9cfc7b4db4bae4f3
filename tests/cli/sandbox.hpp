// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kiln::cli {

/// The words of a command line.
using Words = std::vector<std::string>;
/// `words`, then `more`.
[[nodiscard]] Words with(Words words, const Words& more);
/// A verb and its problem: {"show", "gemm", "--m", "8", "--n", "8", "--k", "8"}.
[[nodiscard]] Words on_gemm(const std::string& verb, int m, int n, int k);

/// What one run of the program left behind.
struct Run {
  Words arguments;
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// A folder of its own for one test, in which the program finds its home, its database and its
/// cache. No GPU is visible in it, so that every machine gives the same text.
/// Whether the machine has pseudo-terminals; a bare container may have none.
[[nodiscard]] bool has_terminals();

class Sandbox {
 public:
  /// What compiled kernels are shared with. Compiling takes most of the time of these tests, and
  /// all of them need the same few kernels for their set-up.
  enum class Cache : std::uint8_t { all_tests, own };

  explicit Sandbox(Cache cache = Cache::all_tests);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Runs the program in the folder and waits for its end.
  [[nodiscard]] Run run(const Words& arguments) const;
  /// The same on a pseudo-terminal, where both streams are `out`. Needs has_terminals().
  [[nodiscard]] Run run_on_terminal(const Words& arguments) const;
  /// Runs a line of a shell, in which `kiln` is the program.
  [[nodiscard]] Run shell(const std::string& line) const;
  void set(const std::string& variable, const std::string& value) {
    environment_[variable] = value;
  }

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path database() const;
  void write(const std::string& name, const std::string& text) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  /// `text` with the folder's path written as $DIR, so that it can be compared.
  [[nodiscard]] std::string without_paths(std::string text) const;

 private:
  [[nodiscard]] Run run_words(const Words& words) const;

  std::filesystem::path folder_;
  std::map<std::string, std::string> environment_;
};

}  // namespace kiln::cli
