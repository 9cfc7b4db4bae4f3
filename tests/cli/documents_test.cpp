// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The commands of README and docs, typed as they stand there, one after the other, page by page.
// Without a GPU: on the emulated one, with sizes that take seconds. Notes of the laboratory
// (docs/lab) record what somebody measured on a GPU; nobody types their commands.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {
namespace {

std::string page_text(const std::string& page) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/" + page, std::ios::binary);
  EXPECT_TRUE(in) << page;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The shell's lines in code blocks that begin with `kiln`, with settings before it or not, and the
/// `export` of such settings. In a fenced block of a session only what follows `$ ` is typed. A
/// block below `<!-- file: PATH -->` is saved as that file, at its place among the commands.
std::vector<std::string> commands_of(const std::string& page) {
  const std::regex typed(R"(^(export KILN_\w+=.*|(?:KILN_\w+=\S+ )*kiln (?:.*))$)");
  const std::regex saved(R"(^<!-- file: (\S+) -->$)");
  std::vector<std::string> commands;
  std::string file;  // that the next block is saved as
  std::string content;
  bool fenced = false;
  bool code = false;  // in a block of another language
  for (std::string line : lines_of(page_text(page))) {
    std::smatch match;
    if (std::regex_match(line, match, saved)) {
      file = match[1];
      continue;
    }
    if (line.starts_with("```")) {
      fenced = !fenced;
      if (!fenced && !file.empty()) {
        commands.push_back("cat > " + file + " <<'END_OF_FILE'\n" + content + "END_OF_FILE");
        file.clear();
        content.clear();
      }
      code = fenced && line.size() > 3 && line != "```sh";
      continue;
    }
    if (fenced && !file.empty()) content += line + "\n";
    if (code) continue;
    if (fenced) {
      if (line.starts_with("$ ")) line.erase(0, 2);
    } else if (line.starts_with("    ")) {
      line.erase(0, 4);
    } else {
      continue;
    }
    // What the program printed begins with its name and a colon.
    if (std::regex_match(line, match, typed)) commands.push_back(line);
  }
  return commands;
}

/// The command with large sizes made small, and with a budget of one candidate.
std::string made_quick(std::string command) {
  const std::regex large(R"(--([mnk]|rows|cols) [1-9][0-9]{2,4}\b)");
  command = std::regex_replace(command, large, "--$1 64");
  if (command.find("kiln tune ") != std::string::npos) command += " --max-candidates 1";
  return command;
}

/// The pages whose commands work: README and everything below docs but the notes of the laboratory.
std::vector<std::string> pages_with_commands() {
  namespace fs = std::filesystem;
  const fs::path root = KILN_SOURCE_DIR;
  std::vector<std::string> pages{"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs")) {
    const std::string page = entry.path().lexically_relative(root).generic_string();
    if (entry.path().extension() != ".md" || page.starts_with("docs/lab/")) continue;
    if (!commands_of(page).empty()) pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end());
  return pages;
}

/// The file name of a page's piece of CUDA: after its template, or after the operation that it
/// declares. Empty where it is neither.
std::string file_of(const std::string& code) {
  for (const char* key : {"template", "operation"}) {
    const std::regex line(std::string("(?:^|\n)//@ ") + key + " +(\\w+)");
    if (std::smatch match; std::regex_search(code, match, line)) return match[1].str() + ".cu";
  }
  return {};
}

class Documents : public ::testing::TestWithParam<std::string> {};

TEST_P(Documents, CommandsWorkAsWritten) {
  Sandbox sandbox;
  sandbox.set("KILN_DEVICE", "emulated:h200");
  // The page's own files, where the page puts them.
  const std::string text = page_text(GetParam());
  constexpr std::string_view kCuda = "```cuda\n";
  std::filesystem::create_directory(sandbox.folder() / "kernels");
  auto at = text.find(kCuda);
  while (at != std::string::npos) {
    const auto start = at + kCuda.size();
    const auto end = text.find("```", start);
    const std::string code = text.substr(start, end - start);
    if (const auto file = file_of(code); !file.empty()) sandbox.write("kernels/" + file, code);
    at = text.find(kCuda, end);
  }
  constexpr std::string_view kAdopted = "```c++\nextern";  // the kernel that is adopted
  if (const auto begin = text.find(kAdopted); begin != std::string::npos) {
    const auto start = text.find("extern", begin);
    sandbox.write("vector_add.cu", text.substr(start, text.find("```", start) - start));
  }
  std::filesystem::create_directory_symlink(std::string(KILN_SOURCE_DIR) + "/examples",
                                            sandbox.folder() / "examples");
  int ran = 0;
  std::string settings;
  for (const auto& command : commands_of(GetParam())) {
    if (command.starts_with("export ")) {
      settings += command + "; ";
      continue;
    }
    const std::string line = made_quick(command);
    const auto run = sandbox.shell(settings + line);
    EXPECT_EQ(run.exit_code, 0) << GetParam() << ": " << line << "\n" << run.out << run.err;
    ++ran;
    if (line.find("gemm_dot") == std::string::npos) continue;
    EXPECT_NE(run.out.find("gemm_dot"), std::string::npos) << line << "\n" << run.out;
  }
  EXPECT_GT(ran, 0) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(Pages, Documents, ::testing::ValuesIn(pages_with_commands()),
                         [](const auto& page) {
                           return std::regex_replace(page.param, std::regex("\\W"), "_");
                         });

TEST(DocumentPages, PagesOfTheReferenceAreAmongThem) {
  const auto pages = pages_with_commands();
  for (const char* page :
       {"docs/reference/cli.md", "docs/reference/operations.md", "docs/reference/templates.md"}) {
    EXPECT_EQ(std::count(pages.begin(), pages.end(), page), 1) << page;
  }
}

}  // namespace
}  // namespace kiln::cli
