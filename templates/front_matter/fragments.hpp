// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/kernel_template.hpp"

namespace kiln {

/// A marked struct of a fragment. The template's struct of the same kind has it as a base.
struct FragmentStruct {
  std::string name;
  bool is_at_launch = false;        ///< a base of the launch struct, else of the config struct
  std::vector<std::string> fields;  ///< in the order of their declaration
  FrontMatterLine use;              ///< the template's line that names the header
};

/// Replaces each `use` line by the statements of the fragment that it names: `tune`, `let` and
/// `require` lines. Returns the fragments' structs. Throws Error(template_) at a `use` line whose
/// header does not exist, is not included by `source`, or has no statements, and at a statement
/// that a fragment cannot have.
[[nodiscard]] std::vector<FragmentStruct> insert_fragments(
    std::vector<FrontMatterLine>& lines, std::string_view source,
    const KernelTemplate::FragmentSearch& search);

/// Those of `fragments` that `declaration` names as its bases, in that order. Throws
/// Error(template_) at a base that is no such struct, and at the `use` line of a struct that should
/// be one of them.
[[nodiscard]] std::vector<const FragmentStruct*> bases_of(
    const Declaration& declaration, bool is_at_launch,
    const std::vector<FragmentStruct>& fragments);

}  // namespace kiln
