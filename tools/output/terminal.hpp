// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace kiln::tools {

/// How much goes to stderr.
enum class Verbosity { quiet, normal, verbose };

/// When to use colour. `auto` does on a terminal, unless NO_COLOR or TERM=dumb forbid it.
inline constexpr std::array<std::string_view, 3> kColourModes{"auto", "always", "never"};

/// What standard error can show: whether it is a terminal that understands cursor movement
/// (not TERM=dumb), its width, and whether colour is wanted.
struct Terminal {
  bool interactive = false;
  bool colour = false;
  int width = 80;

  /// `colour_flag` is one of kColourModes.
  [[nodiscard]] static Terminal of_stderr(std::string_view colour_flag);
};

enum class Colour { red, green, yellow, bold };
/// `text` in that colour, or as it is.
[[nodiscard]] std::string coloured(std::string_view text, Colour colour, bool enabled);

/// Every door of the program to the outside. Foreign text (names, messages, templates) passes
/// through printable() on its way to one of the two streams, wherever these lead. The first throws
/// Error(usage) when standard output cannot be written.
void write_stdout(std::string_view text);
void write_stderr(std::string_view text);
/// For data that others read byte by byte, like the text of a kernel: as it is, but on a terminal
/// as write_stdout() has it.
void write_data(std::string_view text);
/// Text with control sequences of the program's own; what is foreign in it must be printable.
void write_controls(std::string_view text);

}  // namespace kiln::tools
