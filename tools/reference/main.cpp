// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Writes what people read of the program's flags and verbs. The build fills the templates of the
// manual page and of the completions with it; the tables of the documentation are refreshed by hand
// (cmake --build --preset dev --target refresh_docs), and a test says when they are stale.

#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/context.hpp"
#include "tools/program.hpp"
#include "tools/reference/reference.hpp"

namespace kiln::tools {
namespace {

constexpr const char* kUsage =
    "usage: kiln_reference fill TEMPLATE OUTPUT\n"
    "       kiln_reference refresh PAGE...";

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(ErrorKind::usage, fmt::format("{} cannot be read", path));
  return {std::istreambuf_iterator<char>(in), {}};
}

int run(const std::vector<std::string>& words) {
  if (words.size() < 2) throw Error(ErrorKind::usage, kUsage);
  const Sections sections = sections_of(Program().manual());
  if (words.front() == "fill" && words.size() == 3) {
    write_file(words[2], filled(text_of(words[1]), sections, words[1]));
    return kExitOk;
  }
  if (words.front() != "refresh") throw Error(ErrorKind::usage, kUsage);
  for (auto page = words.begin() + 1; page != words.end(); ++page) {
    const std::string before = text_of(*page);
    const std::string after = refreshed(before, sections, *page);
    if (after != before) write_file(*page, after);
  }
  return kExitOk;
}

}  // namespace
}  // namespace kiln::tools

int main(int argc, char** argv) {
  try {
    return kiln::tools::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    kiln::tools::write_stderr(fmt::format("kiln_reference: {}\n", error.what()));
    return kiln::tools::kExitFailure;
  }
}
