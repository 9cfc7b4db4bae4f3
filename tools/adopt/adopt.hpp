// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/adopt/lines.hpp"

namespace kiln::tools {

/// What to adopt.
struct AdoptOptions {
  std::vector<std::string> kernels;  ///< in the order of their launches; empty: those of the file
  std::string operation;             ///< its name; "": that of the kernel
  /// A T1 file of Kernel Tuner or KTT, which says what the source does not: its name and its text.
  std::string space_file = {}, space = {};
};

/// A file to write.
struct AdoptedFile {
  std::string name;  ///< "vector_add.cu"
  std::string text;
  std::vector<AdoptionMark> marks;  ///< what a person has to look at
};

/// A kernel's file as a template of Kiln, and the operation that it computes.
struct Adoption {
  std::string operation_name, template_name;
  std::vector<std::string> kernels;  ///< with their namespaces, in the order of the launches
  std::string reference;             ///< the kernel of the file that says what is right, or ""
  AdoptedFile operation;             ///< with a reference kernel, of which the body may be missing
  AdoptedFile adopted;               ///< front matter, and below it the file as it was
  std::vector<std::string> notes;    ///< on what front matter cannot help
};

/// Reads a file of CUDA C++ and writes the front matter that it lacks, as far as it can be told.
/// FILL_IN stands for the rest, which is refused where front matter is read; a comment that begins
/// with "CHECK" is a guess. Throws Error(usage) where it is not clear what to adopt: no kernel,
/// several that have nothing to do with each other, front matter that is there already, a T1 file
/// with mistakes; and
/// Error(template_) for brackets that do not match.
[[nodiscard]] Adoption adopt(const std::string& file, std::string_view source,
                             const AdoptOptions& options);

/// What is left to do, a line for each mark and note; `folder` is where the files are, or "".
[[nodiscard]] std::string adoption_summary(const Adoption& adoption, const std::string& folder);

}  // namespace kiln::tools
