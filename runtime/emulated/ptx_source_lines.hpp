// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/emulated/ptx_lexer.hpp"
#include "runtime/emulated/ptx_module.hpp"

namespace kiln::ptx {

/// What .file and .loc directives say. NVRTC writes the .file directives last, so that files get
/// their index when a .loc first names them.
class SourceLines {
 public:
  /// After ".file".
  void read_file(Lexer& lexer);
  /// After ".loc". What it says holds for the instructions that follow.
  void read_loc(Lexer& lexer);
  /// Forgets the place: another function begins.
  void begin_function();
  /// Origin of an instruction that begins with this token.
  [[nodiscard]] Origin origin_of(const Token& token) const;
  /// Module::files. Throws Error(device) at a .loc whose file was never named.
  [[nodiscard]] std::vector<std::string> files() const;

 private:
  struct File {
    int number = 0;
    std::string name;
    bool named = false;
    Token first_use;
  };
  struct Place {
    int file = 0;
    int line = 0;
    int column = 0;
    auto operator<=>(const Place&) const = default;
  };

  int index_of(int number, const Token& where);
  Place read_place(Lexer& lexer);

  std::vector<File> files_{File{}};
  std::unordered_map<int, int> index_of_number_;
  /// Where the outermost call of the code at a place stands. A chain of inlined calls is written
  /// from the outside in, each link as a .loc of its own.
  std::map<Place, Place> outermost_;
  Origin origin_;
};

}  // namespace kiln::ptx
