// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/logged_errors.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "templates/render/conditional_groups.hpp"

namespace kiln {
namespace {

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

enum class LogPart : std::uint8_t { error, warning, end };

/// What a line of the log begins, if anything: "kernel.cu(12): error: ...", "1 error detected ...".
std::optional<LogPart> begun_by(std::string_view line) {
  if (line.find(" detected in the compilation") != std::string_view::npos) return LogPart::end;
  const auto place = line.find("): ");
  if (place == std::string_view::npos || line.starts_with(' ')) return std::nullopt;
  const auto said = line.substr(place, line.find(": ", place + 3) - place);
  if (said.find("error") != std::string_view::npos) return LogPart::error;
  if (said.find("warning") != std::string_view::npos) return LogPart::warning;
  return std::nullopt;
}

}  // namespace

std::string_view marked_word(const LoggedError& error) {
  std::string_view rest = error.shown;
  return rest.starts_with(' ') ? std::string_view() : take_word(rest);
}

std::vector<LoggedError> errors_of(std::string_view log) {
  std::vector<LoggedError> errors;
  while (!log.empty()) {
    const auto line = take_line(log);
    const auto place = line.find("): ");
    if (place == std::string_view::npos || line.starts_with(' ')) continue;
    const auto open = line.rfind('(', place);
    const auto said = line.substr(place + 3);
    const auto mark = said.find("error: ");
    if (open == std::string_view::npos || mark == std::string_view::npos) continue;
    LoggedError error{
        line.substr(0, open), line.substr(open + 1, place - open - 1), said.substr(mark + 7), {}};
    if (log.starts_with(' ')) {
      const auto shown = take_line(log);
      const auto caret = log.substr(0, log.find('\n')).find('^');
      if (caret < shown.size()) error.shown = shown.substr(caret);
    }
    errors.push_back(error);
  }
  return errors;
}

std::string errors_first(std::string_view log) {
  std::array<std::string, 3> parts;
  LogPart part = LogPart::error;
  while (!log.empty()) {
    const auto line =
        log.substr(0, log.find('\n') == std::string_view::npos ? log.size() : log.find('\n') + 1);
    part = begun_by(line).value_or(part);
    parts.at(static_cast<std::size_t>(part)) += line;
    log.remove_prefix(line.size());
  }
  return parts[0] + parts[1] + parts[2];
}

}  // namespace kiln
