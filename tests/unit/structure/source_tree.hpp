// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kiln::test {

/// One file of the checkout, its path relative to the root with forward slashes.
struct SourceFile {
  std::string path;
  std::vector<std::string> lines;

  /// The first folder of the path: "templates", or "" for a file in the root.
  [[nodiscard]] std::string_view top_folder() const;
  [[nodiscard]] bool has_ending(std::string_view ending) const;
  /// C++ or CUDA, host or device.
  [[nodiscard]] bool is_cpp() const;
};

/// All hand-written code in the checkout: C++, CUDA, CMake, SQL, shell. Data that
/// tests expect byte for byte, and build folders, are left out. Read once.
[[nodiscard]] const std::vector<SourceFile>& source_files();

/// The pages for people: README.md, those beside it and in docs/.
[[nodiscard]] const std::vector<SourceFile>& document_files();

}  // namespace kiln::test
