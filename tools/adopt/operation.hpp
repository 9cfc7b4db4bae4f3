// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/adopt/adopt.hpp"
#include "tools/adopt/launch.hpp"
#include "tools/adopt/problem.hpp"

namespace kiln::tools {

/// All that a file tells, from which its texts are written.
struct AdoptionGuess {
  std::string operation, template_name;
  std::string file;  ///< without its folders
  std::string_view source;
  const SourceModel* model = nullptr;
  std::vector<AdoptedKernel> kernels;
  std::optional<AdoptedKernel> twin;  ///< a kernel of the file that says what is right
  ProblemGuess problem;
  TemplateGuess made;
  std::vector<TunableGuess> macros;  ///< tunables that are no template arguments
};

/// The declaration with its reference kernel.
[[nodiscard]] AdoptedFile operation_file(const AdoptionGuess& guess);
/// The front matter with the source below it.
[[nodiscard]] AdoptedFile template_file(const AdoptionGuess& guess);

}  // namespace kiln::tools
