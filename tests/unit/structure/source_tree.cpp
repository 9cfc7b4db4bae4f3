// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/structure/source_tree.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 10> kFolders{
    ".ci", "cache", "cmake", "examples", "docs", "tests", "tools", "templates", "runtime", "tuner"};

// Scripts have no ending; they are recognised by their first line.
bool is_script(const std::vector<std::string>& lines) {
  return !lines.empty() && lines.front().starts_with("#!");
}

bool is_data(std::string_view path) {
  return path.find("/data/") != path.npos || path.find("/golden/") != path.npos ||
         path.find("/__pycache__/") != path.npos;
}

bool is_code(const SourceFile& file) {
  static constexpr std::array<std::string_view, 7> kEndings{
      ".cmake", "CMakeLists.txt", ".sql", ".sh", ".py", ".in", ".hints"};
  return file.is_cpp() || is_script(file.lines) ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return file.has_ending(ending); });
}

SourceFile read(const fs::path& root, const fs::path& path) {
  SourceFile file{fs::relative(path, root).generic_string(), {}};
  std::ifstream in(path, std::ios::binary);
  for (std::string line; std::getline(in, line);) file.lines.push_back(line);
  return file;
}

std::vector<SourceFile> read_all() {
  const fs::path root = KILN_SOURCE_DIR;
  std::vector<SourceFile> files{read(root, root / "CMakeLists.txt")};
  for (const std::string_view folder : kFolders) {
    if (!fs::exists(root / folder)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      SourceFile file = read(root, entry.path());
      if (is_code(file) && !is_data("/" + file.path)) files.push_back(std::move(file));
    }
  }
  if (files.size() < 20) throw std::runtime_error("no checkout at " KILN_SOURCE_DIR);
  std::sort(files.begin(), files.end(),
            [](const SourceFile& left, const SourceFile& right) { return left.path < right.path; });
  return files;
}

std::vector<SourceFile> read_documents() {
  const fs::path root = KILN_SOURCE_DIR;
  std::vector<SourceFile> files;
  const auto add = [&](const fs::directory_entry& entry) {
    if (entry.path().extension() == ".md") files.push_back(read(root, entry.path()));
  };
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) add(entry);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "docs")) {
    add(entry);
  }
  return files;
}

}  // namespace

std::string_view SourceFile::top_folder() const {
  const std::size_t slash = path.find('/');
  return slash == path.npos ? std::string_view() : std::string_view(path).substr(0, slash);
}

bool SourceFile::has_ending(std::string_view ending) const {
  return path.ends_with(ending);
}

bool SourceFile::is_cpp() const {
  static constexpr std::array<std::string_view, 5> kEndings{".hpp", ".cpp", ".h", ".cuh", ".cu"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return has_ending(ending); });
}

const std::vector<SourceFile>& source_files() {
  static const std::vector<SourceFile> files = read_all();
  return files;
}

const std::vector<SourceFile>& document_files() {
  static const std::vector<SourceFile> files = read_documents();
  return files;
}

}  // namespace kiln::test
