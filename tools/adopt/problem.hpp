// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "templates/front_matter/front_matter_lines.hpp"
#include "tools/adopt/body.hpp"
#include "tools/adopt/source.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {

/// What stands where the source does not tell; reading front matter refuses it.
inline constexpr const char* kFillIn = kFillInWord.data();

/// A kernel that is adopted, and what its body tells.
struct AdoptedKernel {
  const SourceKernel* source = nullptr;
  BodyFacts facts;
};

/// An array of the operation.
struct OperandGuess {
  std::string parameter;      ///< in the kernels, or the array in constant memory
  std::string name;           ///< in the operation
  std::string role;           ///< "in", "out", "inout"
  std::string role_comment;   ///< why it may be wrong, or ""
  bool is_const = false;      ///< a kernel's parameter says so
  std::string cpp_type;       ///< of its elements
  std::string template_type;  ///< the template parameter that this is, or ""
  std::optional<ElementType> element;
  std::string extents;  ///< or kFillIn
  std::string extents_comment;
  bool is_constant = false;   ///< a __constant__ array holds it
  std::string array;          ///< that array, with its namespaces
  bool has_pointers = false;  ///< kernels get pointers to its arrays
  std::string fill;           ///< "integers 0 7", or "" for what Kiln does anyway
  std::string right;          ///< "within 0 1e-4", or ""
};

/// A macro of the file that stands for a size of the problem.
struct SizeMacro {
  std::string name;
  std::optional<std::int64_t> value;  ///< that the file gives it
  bool is_fixed = false;              ///< nothing can give it another value
  int line = 0;                       ///< of its definition, if it is fixed
};

/// A number that kernels are given.
struct NumberGuess {
  std::string parameter;
  std::string name;
  std::string type;  ///< of a size as `args` has it, of a scalar as the operation has it
  std::string comment;
  std::string value = {};               ///< what a T1 file passes, or ""
  std::string usual = {};               ///< of a scalar: its default, or ""
  std::optional<SizeMacro> macro = {};  ///< of a size that is a macro of the file
};

/// An array that one kernel leaves to a later one.
struct BetweenGuess {
  std::size_t writer = 0, reader = 0;  ///< kernels
  std::string written, read;           ///< the parameters
  std::string bytes;                   ///< of an element, or kFillIn
  bool is_by_block = false;            ///< each block writes one element
  std::string elements = {};           ///< how many there are, by sizes, or ""
};

/// What the parameters of the kernels make of the operation.
struct ProblemGuess {
  std::vector<NumberGuess> sizes;
  std::vector<NumberGuess> scalars;
  std::vector<OperandGuess> operands;
  std::vector<BetweenGuess> between;
  std::map<std::string, std::string, std::less<>> names;  ///< parameter -> name in the operation
  /// By dimension, the size that blocks have one value of each; "": they are dealt otherwise.
  std::array<std::string, 3> row_sizes;
  /// Types among the parameters of templates that a scalar has: it cannot change with an operand's,
  /// so each of these is float.
  std::set<std::string, std::less<>> scalar_types;

  /// nullptr if the parameter is none.
  [[nodiscard]] const OperandGuess* operand(const std::string& parameter) const;
  [[nodiscard]] const BetweenGuess* written_between(std::size_t kernel,
                                                    const std::string& parameter) const;
  [[nodiscard]] const BetweenGuess* read_between(std::size_t kernel,
                                                 const std::string& parameter) const;
  [[nodiscard]] std::vector<std::string> size_names() const;
};

[[nodiscard]] ProblemGuess guess_problem(const SourceModel& model,
                                         const std::vector<AdoptedKernel>& kernels,
                                         const std::vector<SizeMacro>& macros = {});

/// `text` with every word that `names` has replaced.
[[nodiscard]] std::string renamed_words(
    const std::string& text, const std::map<std::string, std::string, std::less<>>& names);

/// The sizes that blocks are dealt along, the outermost first; empty if any of them is unknown.
[[nodiscard]] std::vector<std::string> grid_sizes(const AdoptedKernel& kernel,
                                                  const ProblemGuess& problem);

}  // namespace kiln::tools
