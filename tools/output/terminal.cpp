// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/terminal.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln::tools {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

void write_all(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Error(ErrorKind::usage, "standard output cannot be written; is the disk full?");
  }
}

}  // namespace

Terminal Terminal::of_stderr(std::string_view colour_flag) {
  Terminal terminal;
  const bool dumb = variable("TERM").empty() || variable("TERM") == "dumb";
  terminal.interactive = isatty(STDERR_FILENO) == 1 && !dumb;
  terminal.colour = colour_flag == "always" ||
                    (colour_flag == "auto" && terminal.interactive && variable("NO_COLOR").empty());
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.width = size.ws_col;
  }
  return terminal;
}

std::string coloured(std::string_view text, Colour colour, bool enabled) {
  if (!enabled) return std::string(text);
  int code = 1;
  switch (colour) {
    case Colour::red:
      code = 31;
      break;
    case Colour::green:
      code = 32;
      break;
    case Colour::yellow:
      code = 33;
      break;
    case Colour::bold:
      code = 1;
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

void write_stdout(std::string_view text) {
  write_all(printable(text));
}

void write_data(std::string_view text) {
  if (isatty(STDOUT_FILENO) == 1) {
    write_stdout(text);
  } else {
    write_all(text);
  }
}

void write_stderr(std::string_view text) {
  write_controls(printable(text));
}

void write_controls(std::string_view text) {
  // If stderr fails, there is no place left to report it.
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

}  // namespace kiln::tools
