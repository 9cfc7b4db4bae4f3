// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/emulated/ptx/ptx_lexer.hpp"
#include "runtime/emulated/ptx/ptx_module.hpp"

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
  /// Once all files are named: code that a header of CUDA brought gets the place of the call in the
  /// program's own source, which is what a user can look at. `origin` is of this object.
  void leave_headers(Origin& origin) const;

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
  /// The link of a place with that caller (0: none), a new one if there is none yet.
  int link_to(const Place& place, int caller);

  std::vector<File> files_{File{}};
  std::unordered_map<int, int> index_of_number_;
  /// A place in a chain of inlined calls, which is written from the outside in, each link as a .loc
  /// of its own. Links lead to earlier ones, so that no chain has a cycle.
  struct Link {
    Place place;
    int caller = 0;  ///< its index + 1; 0: none
    Place outermost;
  };
  std::vector<Link> links_;
  std::map<std::pair<Place, int>, int> numbers_;  ///< index + 1 of each link
  /// The link that each place was last written as. Of several callers that one counts.
  std::map<Place, int> latest_;
  Origin origin_;
};

}  // namespace kiln::ptx
