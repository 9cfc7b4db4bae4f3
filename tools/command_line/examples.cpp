// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command_line/examples.hpp"

#include <fmt/format.h>

#include <sstream>

#include "kiln/error.hpp"
#include "templates/catalog.hpp"

namespace kiln {

/// Generated: tools/examples.txt.
const FileSet& example_files();

namespace tools {

std::vector<std::string> examples(std::string_view section) {
  std::istringstream text(example_files().at("examples.txt"));
  const std::string heading = fmt::format("[{}]", section);
  std::vector<std::string> lines;
  bool here = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('[')) {
      here = line == heading;
    } else if (here && !line.empty()) {
      lines.push_back(line);
    }
  }
  if (lines.empty()) {
    throw Error(ErrorKind::internal, fmt::format("examples.txt has no section {}", heading));
  }
  return lines;
}

std::string example(std::string_view section) {
  return examples(section).front();
}

}  // namespace tools
}  // namespace kiln
